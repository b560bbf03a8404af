"""Defines the record that a store keeps about its restoration from a backup or from an older copy."""

from __future__ import annotations

from uuid import UUID

import msgspec


class Restoration(msgspec.Struct, frozen=True, gc=False):
    """Records that the files of a store are older than the last change of its manager."""

    identifier: UUID
    """An identifier, different for each restoration, so that one restoration begins one era, also after a
    crash."""
    alive_until: int = 0
    """The latest time at which the lost state can have changed, in microseconds since 1970; 0 if it is not
    known."""
