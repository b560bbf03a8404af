"""Simulates the two clocks of a machine: a monotonic one, and a calendar that administrators set.

The calendar jumps, forwards and back.  A process never sees it go back, because the real clock runs more
slowly instead (`net.clock`); the next process may well begin before the last one ended.
"""

from __future__ import annotations

from reliquary.base.time import SECOND, Instant
from reliquary.sim.scheduler import Scheduler

BEGINNING = 1_700_000_000 * SECOND


class Calendar:
    """The calendar time, which an administrator may set."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._offset = BEGINNING

    def read(self) -> int:
        """Return the present calendar time in microseconds since 1970."""
        return self._scheduler.now + self._offset

    @property
    def counted(self) -> int:
        """Return the microseconds on the monotonic clock."""
        return self._scheduler.now

    def jump(self, span: int) -> None:
        """Set the calendar forward, or back if the span is negative."""
        self._offset += span


class ProcessClock:
    """The calendar from the view of one process: it runs more slowly instead of going back."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self.jumps = 0
        """The number of times that `now` found that the calendar had been set forward."""
        self._last = 0
        self._offset = calendar.read() - calendar.counted
        self._ahead_at = 0
        self._ahead_since: int | None = None

    def now(self) -> Instant:
        """Return the calendar time, or a later one, as `net.clock` does."""
        calendar, counted = self._calendar.read(), self._calendar.counted
        if self._ahead_since is None and calendar < self._last:
            self._ahead_at, self._ahead_since = self._last, counted
        if self._ahead_since is not None:
            slowed = self._ahead_at + (counted - self._ahead_since) * 7 // 8
            if calendar >= slowed:
                self._ahead_since = None
            calendar = max(calendar, slowed)
        gained = calendar - counted - self._offset
        if gained:
            self.jumps += gained > 0
            self._offset += gained
        self._last = calendar
        return Instant(calendar)
