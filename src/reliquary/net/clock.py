"""The real clock.

The calendar may jump: an administrator sets it, a time server corrects it.  Machines are promised
a `now` that never runs backwards, so after a jump back it goes on at half its pace until the calendar
has caught up: what waits for a moment waits twice as long at most, and not as long as the jump.
Spans are measured on the other clock, which no one can set.
"""

from __future__ import annotations

import time

from reliquary.base.time import Instant


class RealClock:
    """The time of day, slower rather than going back, and a clock that only counts."""

    __slots__ = ("_ahead_at", "_ahead_since", "_last")

    def __init__(self) -> None:
        self._last = 0
        self._ahead_at = 0
        """What was answered last before the calendar went back, and when, on the other clock."""
        self._ahead_since: int | None = None

    def now(self) -> Instant:
        """Microseconds since 1970 UTC, never before what was answered last."""
        calendar = time.time_ns() // 1_000
        if self._ahead_since is None:
            if calendar >= self._last:
                self._last = calendar
                return Instant(calendar)
            self._ahead_at, self._ahead_since = self._last, self.monotonic()
        slowed = self._ahead_at + (self.monotonic() - self._ahead_since) // 2
        if calendar >= slowed:
            self._ahead_since = None
        self._last = max(calendar, slowed)
        return Instant(self._last)

    def monotonic(self) -> int:
        """Microseconds since some moment; only differences mean anything."""
        return time.monotonic_ns() // 1_000
