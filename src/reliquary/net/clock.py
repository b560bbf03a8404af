"""The real clock.

The calendar may jump: an administrator sets it, a time server corrects it.  Machines are promised
a `now` that never runs backwards, so a jump back is answered by standing still until the calendar
has caught up.  Spans are measured on the other clock, which no one can set.
"""

from __future__ import annotations

import time

from reliquary.base.time import Instant


class RealClock:
    """The time of day, standing still rather than going back, and a clock that only counts."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = 0

    def now(self) -> Instant:
        """Microseconds since 1970 UTC, never before what was answered last."""
        self._last = max(self._last, time.time_ns() // 1_000)
        return Instant(self._last)

    def monotonic(self) -> int:
        """Microseconds since some moment; only differences mean anything."""
        return time.monotonic_ns() // 1_000
