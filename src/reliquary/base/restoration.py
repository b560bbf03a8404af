"""The record that a store keeps about its restoration from a backup or from an older copy."""

from __future__ import annotations

from uuid import UUID

import msgspec


class Restoration(msgspec.Struct, frozen=True, gc=False):
    """The files of a store are older than what its manager did last."""

    identifier: UUID
    """Each restoration has its own, so that one restoration begins one era, also after a crash."""
    alive_until: int = 0
    """The time after which no process changed a newer state, in microseconds since 1970; 0 when it is not
    known.
    """
