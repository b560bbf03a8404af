"""Chance from the operating system, for `base.chance`: nobody can guess the next id."""

from __future__ import annotations

from secrets import randbits


class SystemChance:
    """Random bits fit for secrets."""

    __slots__ = ()

    def bits(self, count: int) -> int:
        """A number of so many random bits."""
        return randbits(count)
