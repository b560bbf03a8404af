"""What a manager that takes part in a directory is told at its start."""

from __future__ import annotations

from uuid import UUID

import msgspec


class Integration(msgspec.Struct, frozen=True):
    """The settings of DirectoryIntegrated; the keys and names were found outside the machine."""

    site: UUID | None = None
    """The site that the administrator put this computer into (DM-085)."""
    servers: tuple[str, ...] = ()
    """Directory servers, from the settings or from DNS (DM-086)."""
    encryption_keys: tuple[bytes, ...] = ()
    """An MQDSPUBLICKEY for each provider (DM-088)."""
    signing_keys: tuple[bytes, ...] = ()
    """The same (DM-089)."""
    machine_sid: str = ""
    """objectSid of the computer, where it has one (DM-146)."""
