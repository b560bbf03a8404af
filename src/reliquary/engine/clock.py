"""Defines the clock that an engine reads: the calendar, and a monotonic time."""

from __future__ import annotations

from typing import Protocol

from reliquary.base.time import Instant


class Clock(Protocol):
    """Returns the time of the calendar and a monotonic time, both in microseconds."""

    jumps: int
    """The number of times that `now` found that the calendar had been set forward."""

    def now(self) -> Instant:
        """Return the present time of the calendar."""

    def monotonic(self) -> int:
        """Return the microseconds since a moment that does not change while the process runs."""
