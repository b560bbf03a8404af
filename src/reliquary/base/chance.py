"""Defines where identifiers and random numbers come from: outside the machines, so that a seed
repeats a run."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID


class Chance(Protocol):
    """A source of random bits: the operating system in production, a seed in the simulator."""

    def bits(self, count: int) -> int:
        """Return a random number with `count` bits."""


def new_guid(chance: Chance) -> UUID:
    """Return a random GUID, version 4."""
    return UUID(int=chance.bits(128), version=4)
