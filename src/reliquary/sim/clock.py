"""Two clocks, as a real machine has them: one that only counts, and a calendar that people set.

The calendar jumps, forwards and back.  A process never sees it go back, because the real clock
stands still instead (`net.clock`); the next process may well begin before the last one ended.
"""

from __future__ import annotations

from reliquary.base.time import SECOND, Instant
from reliquary.sim.scheduler import Scheduler

BEGINNING = 1_700_000_000 * SECOND


class Calendar:
    """The time of day, which somebody may set."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._offset = BEGINNING

    def read(self) -> int:
        """Microseconds since 1970, as of now."""
        return self._scheduler.now + self._offset

    def jump(self, span: int) -> None:
        """Set it forwards, or back."""
        self._offset += span


class ProcessClock:
    """The calendar as one process sees it: it never goes back."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._last = 0

    def now(self) -> Instant:
        """The moment of the calendar, or the last one that was told, if that is later."""
        self._last = max(self._last, self._calendar.read())
        return Instant(self._last)
