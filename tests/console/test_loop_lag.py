"""The lag of the loop is how late its timer is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from reliquary.base.time import MILLISECOND, Instant
from reliquary.console.loop_lag import PERIOD, LoopLag


class HandClock:
    """A clock that a test sets."""

    jumps = 0
    time = 0

    def now(self) -> Instant:
        return Instant(self.time)

    def monotonic(self) -> int:
        return self.time


class Timers:
    """A loop and a timer that keeps what is set."""

    def __init__(self) -> None:
        self.set: list[tuple[float, Callable[[], None]]] = []
        self.cancelled = 0

    def call_later(self, delay: float, callback: Callable[[], None]) -> Self:
        self.set.append((delay, callback))
        return self

    def cancel(self) -> None:
        self.cancelled += 1


def test_a_timer_that_is_late_is_counted_and_set_again() -> None:
    clock, loop = HandClock(), Timers()
    lag = LoopLag(clock)
    lag.start(loop)
    for late in (0, 3 * MILLISECOND, -1):
        clock.time += PERIOD + late
        delay, fire = loop.set[-1]
        assert delay == 0.1
        fire()
    assert (lag.late.count, lag.late.sum) == (3, 0.003)
    assert lag.late.counts[:3] == [2, 0, 1]
    lag.stop()
    assert (len(loop.set), loop.cancelled) == (4, 1)
