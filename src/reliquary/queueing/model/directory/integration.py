"""The settings that a manager which takes part in a directory gets at its start."""

from __future__ import annotations

from uuid import UUID

import msgspec


class Integration(msgspec.Struct, frozen=True):
    """The settings of a manager with DirectoryIntegrated; the server finds the keys and names."""

    site: UUID | None = None
    """The site that the administrator chose for this computer (DM-085)."""
    servers: tuple[str, ...] = ()
    """The names of directory servers, from the settings or from DNS (DM-086)."""
    encryption_keys: tuple[bytes, ...] = ()
    """The public keys for encryption, an MQDSPUBLICKEY for each provider (DM-088)."""
    signing_keys: tuple[bytes, ...] = ()
    """The public keys for signatures, an MQDSPUBLICKEY for each provider (DM-089)."""
    machine_sid: str = ""
    """The objectSid of the computer; empty when it has none (DM-146)."""
