"""Provides random bits of the operating system for `base.chance`, so that ids cannot be guessed."""

from __future__ import annotations

from secrets import randbits


class SystemChance:
    """Random bits fit for secrets."""

    __slots__ = ()

    def bits(self, count: int) -> int:
        """Return a number with `count` random bits."""
        return randbits(count)
