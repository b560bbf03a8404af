"""The real clock.

The calendar may jump: an administrator sets it, a time server corrects it.  Machines are promised
a `now` that never runs backwards, so after a jump back it goes on at seven eighths of its pace until the
calendar has caught up: a span takes a seventh longer at most, and not as long as the jump.
Spans are measured on the other clock, which no one can set.  A jump forward is counted, so that what waits
for a moment of the calendar is looked at again.
"""

from __future__ import annotations

import time
from typing import Final

from reliquary.base.time import MILLISECOND, Instant

PACE: Final = (7, 8)
"""The part of a span that `now` advances while it waits for the calendar."""
LEAST_JUMP: Final = 50 * MILLISECOND
"""A calendar that gained less than this on the other clock was not set: it was corrected a little."""


class RealClock:
    """The time of day, slower rather than going back, and a clock that only counts."""

    __slots__ = ("_ahead_at", "_ahead_since", "_last", "_offset", "jumps")

    def __init__(self) -> None:
        self.jumps = 0
        """How often `now` found that the calendar had been set forward."""
        self._last = 0
        self._offset = time.time_ns() // 1_000 - self.monotonic()
        """The smallest difference of `now` and the other clock since the last jump."""
        self._ahead_at = 0
        """The last answer before the calendar went back, and its time on the other clock."""
        self._ahead_since: int | None = None

    def now(self) -> Instant:
        """Return microseconds since 1970 UTC, never less than the last answer."""
        calendar, counted = time.time_ns() // 1_000, time.monotonic_ns() // 1_000
        if self._ahead_since is None and calendar < self._last:
            self._ahead_at, self._ahead_since = self._last, counted
        if self._ahead_since is not None:
            slowed = self._ahead_at + (counted - self._ahead_since) * PACE[0] // PACE[1]
            if calendar >= slowed:
                self._ahead_since = None
            calendar = max(calendar, slowed)
        gained = calendar - counted - self._offset
        if gained > LEAST_JUMP or gained < 0:
            self.jumps += gained > 0
            self._offset += gained
        self._last = calendar
        return Instant(calendar)

    def monotonic(self) -> int:
        """Return microseconds since an arbitrary start; only differences have a meaning."""
        return time.monotonic_ns() // 1_000
