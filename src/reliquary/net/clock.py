"""Provides the real clock.

The calendar may jump: an administrator sets it, a time server corrects it.  Machines need a `now` that
never decreases, so after a jump back it advances at seven eighths of its speed until the calendar has
reached it: a span takes at most a seventh longer, and not as long as the jump. Spans are measured on
the monotonic clock, which cannot be set.  A jump forward is counted, so that timers for a calendar time
are checked again.
"""

from __future__ import annotations

import time
from typing import Final

from reliquary.base.time import MILLISECOND, Instant

PACE: Final = (7, 8)
"""The part of a span that `now` advances while it waits for the calendar."""
LEAST_JUMP: Final = 50 * MILLISECOND
"""The least gain of the calendar on the monotonic clock that counts as a jump, not as a small correction."""


class RealClock:
    """The time of day, which never goes back, and a monotonic clock."""

    __slots__ = ("_ahead_at", "_ahead_since", "_last", "_offset", "jumps")

    def __init__(self) -> None:
        self.jumps = 0
        """How often `now` found that the calendar had been set forward."""
        self._last = 0
        self._offset = time.time_ns() // 1_000 - self.monotonic()
        """The smallest difference of `now` and the monotonic clock since the last jump."""
        self._ahead_at = 0
        """The last answer before the calendar went back, and its time on the monotonic clock."""
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
