"""Runs the timers of an engine in the asyncio loop: one handle of the loop wakes the engine for the next
timer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from reliquary.base.time import Duration
from reliquary.base.turn import Event, TimerFired, TimerName
from reliquary.engine.clock import Clock
from reliquary.engine.timers import Timers


class Alarm:
    """Turns timers that are due into events.

    The engine writes `calendar` when it performs SetTimer and `timers` when it performs CancelTimer; all
    else is written here only.
    """

    def __init__(self, clock: Clock, enqueue: Callable[[Event], None]) -> None:
        self.timers = Timers()
        self.calendar: dict[TimerName, None] = {}
        """Names of timers that wait for a moment of the calendar."""
        self.jumps = clock.jumps
        """The number of jumps of the clock that the timers have followed."""
        self._clock = clock
        self._enqueue = enqueue
        self._loop: asyncio.AbstractEventLoop | None = None
        self._handle: asyncio.TimerHandle | None = None
        self._due = 0
        """The time, on the monotonic clock, for which the handle was made."""

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use this asyncio loop from now on."""
        self._loop = loop

    def set(self, name: TimerName, after: Duration) -> None:
        """Set or replace a timer, and wake the engine when it is due."""
        at = self._clock.monotonic() + after
        self.timers.set(name, at)
        if self._handle is None or at < self._due:
            self.renew()

    def renew(self) -> None:
        """Wake the engine when the next timer is due; a call when none is due changes nothing."""
        at = self.timers.next()
        if at is not None and (self._handle is None or at < self._due):
            if self._handle is not None:
                self._handle.cancel()
            assert self._loop is not None
            self._due = at
            self._handle = self._loop.call_later(max(at - self._clock.monotonic(), 0) / 1_000_000, self.ring)

    def ring(self) -> None:
        """Enqueue an event for each timer that is due."""
        self._handle = None
        for name in self.timers.take_due(self._clock.monotonic()):
            self._enqueue(TimerFired(name))
        self.renew()

    def follow_calendar(self) -> None:
        """Let the timers that wait for a moment of the calendar fire now: the calendar was set forward.

        A machine that is woken too early sets its timer again; one that is not woken would do all that is
        due, new delays too, when its old timer has counted to its end.
        """
        self.jumps = self._clock.jumps
        for name in self.calendar:
            if name in self.timers:
                self.timers.set(name, self._clock.monotonic())
        self.renew()

    def stop(self) -> None:
        """Cancel the handle, so that no timer wakes the engine any more."""
        if self._handle is not None:
            self._handle.cancel()
