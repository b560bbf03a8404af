"""The clock that an engine reads: the calendar, and a time that never jumps."""

from __future__ import annotations

from typing import Protocol

from reliquary.base.time import Instant


class Clock(Protocol):
    """The time of the calendar, and a time that never jumps, in microseconds."""

    jumps: int
    """How often `now` found that the calendar had been set forward."""

    def now(self) -> Instant:
        """Return the moment of the calendar."""

    def monotonic(self) -> int:
        """Return the microseconds since a moment that stays as it is while the process runs."""
