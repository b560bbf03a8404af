"""Measures how late the event loop is with its timers, by a timer that fires ten times a second.

A loop that is busy with one task runs nothing else; each timer that is due then is late by the
remaining time of that task.  Clients wait at least as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from reliquary.base.time import MILLISECOND, SECOND
from reliquary.engine.clock import Clock
from reliquary.engine.histogram import Histogram

PERIOD: Final = 100 * MILLISECOND
SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""The upper bounds of the histogram's buckets, in seconds."""


class Timer(Protocol):
    """A timer that was set."""

    def cancel(self) -> None:
        """Cancel the timer, so that it does not fire."""


class Loop(Protocol):
    """The part of an event loop that is used here."""

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Call a function after a number of seconds."""


class LoopLag:
    """Measures how late one loop is."""

    def __init__(self, clock: Clock) -> None:
        self.late = Histogram(SECONDS)
        """The seconds by which the timer was late."""
        self._clock = clock
        self._loop: Loop | None = None
        self._timer: Timer | None = None
        self._due = 0

    def start(self, loop: Loop) -> None:
        """Begin to measure this loop."""
        self._loop = loop
        self._set()

    def stop(self) -> None:
        """Stop measuring; the histogram keeps its values."""
        if self._timer is not None:
            self._timer.cancel()

    def _set(self) -> None:
        assert self._loop is not None
        self._due = self._clock.monotonic() + PERIOD
        self._timer = self._loop.call_later(PERIOD / SECOND, self._fire)

    def _fire(self) -> None:
        self.late.add(max(self._clock.monotonic() - self._due, 0) / SECOND)
        self._set()
