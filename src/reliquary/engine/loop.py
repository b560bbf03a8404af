"""Runs the engine in a real process: asyncio around `Core`, and one thread that syncs.

    events -->[queue]--> turns --> the open batch --> close: applied --.
                 ^                                                     |
                 '---------- the next batch is built while             v
                                                                 sync --> effects

    Engine    events become turns, turns join the open batch; effects are performed
    Syncs     when the batch is closed and synced, inline or in the store's thread (`syncs`)
    Alarm     timers that are due become events (`alarm`)

A sync that fails ends all work: no request is confirmed after it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from reliquary.base.time import MINUTE, SECOND
from reliquary.base.turn import (
    CancelTimer,
    Continue,
    ContinueAfterSync,
    ContinueBesideSync,
    Effect,
    Event,
    Reply,
    SetTimer,
    Warn,
)
from reliquary.engine.alarm import Alarm
from reliquary.engine.clock import Clock
from reliquary.engine.core import Core
from reliquary.engine.syncs import SYNC_BYTES, Syncs
from reliquary.engine.warnings import Warnings
from reliquary.store.disk import Disk

TURNS_AT_ONCE: Final = 512
"""The number of turns after which the loop serves its sockets again."""
MOST_UNDER_WAY: Final = 20_000
"""Events that are queued or wait for a sync; past this, the sources are asked to pause."""

Answered = Callable[[object], None]


class EngineStopped(Exception):
    """The engine has stopped and takes no more events."""


class Engine:
    """Runs a core inside the asyncio loop in which it was started."""

    def __init__(self, core: Core, disk: Disk, clock: Clock) -> None:
        self._core = core
        self._clock = clock
        self._events: deque[Event] = deque()
        self._callers: dict[int, Answered] = {}
        self._last_caller = 0
        self._alarm = Alarm(clock, self.enqueue)
        self._scheduled = False
        self._accepting = False
        self._paused = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: asyncio.Future[None] | None = None
        """Done when no event and no effect waits; None while no task waits for that."""
        self._reminder: asyncio.TimerHandle | None = None
        self.syncs = Syncs(self, core, disk, self._events)
        self.warnings = Warnings()
        self.turns = 0
        self.failure: BaseException | None = None
        self.on_failure: Callable[[BaseException], None] = _raise
        self.on_pressure: Callable[[bool], None] = _ignore
        """Called with True when sources have to pause, with False when they may go on."""
        self.performers: dict[type[Effect], Callable[[Any], None]] = {}
        """Functions that perform the effects of the protocols."""
        self.observer: Callable[[Event], Event] | None = None
        """Gets each event from outside before its turn, and may return another event; see `intercept`."""

    # -- what the other rooms call

    def start(self) -> None:
        """Start to work in the asyncio loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._accepting = True
        self._alarm.start(self._loop)
        self.syncs.start(self._loop)

    def caller(self, answered: Answered) -> int:
        """Return a number under which one answer will come."""
        self._last_caller += 1
        self._callers[self._last_caller] = answered
        return self._last_caller

    def forget(self, caller: int) -> None:
        """Drop the answer that comes under this number."""
        self._callers.pop(caller, None)

    def intercept(self, caller: int, wrap: Callable[[Answered], Answered]) -> None:
        """Let another function take the answer under this number; `wrap` gets the one that took it before."""
        answered = self._callers.get(caller)
        if answered is not None:
            self._callers[caller] = wrap(answered)

    def submit(self, event: Event) -> None:
        """Queue an event; its turn comes with the next batch."""
        if not self._accepting:
            raise EngineStopped("the engine has stopped")
        if self.observer is not None:
            event = self.observer(event)
        self._events.append(event)
        if not self._scheduled:
            self._schedule()

    async def ask(self, make: Callable[[int], Event]) -> object:
        """Submit the event that `make` builds for a caller's number, and wait for the answer."""
        assert self._loop is not None, "the engine has not been started"
        future: asyncio.Future[object] = self._loop.create_future()
        caller = self.caller(lambda answer: None if future.done() else future.set_result(answer))
        self.submit(make(caller))
        try:
            return await future
        finally:
            self.forget(caller)

    def warn(self, warning: Warn) -> None:
        """Log a warning, for each cause at most once a minute."""
        self.warnings.report(warning, self._clock.monotonic())
        self._remind_later()

    def _remind_later(self) -> None:
        """Set a timer that logs repeated warnings, in case no later warning does."""
        if self.warnings.waiting and self._reminder is None and self._loop is not None:
            self._reminder = self._loop.call_later(MINUTE / SECOND, self._remind)

    def _remind(self) -> None:
        self._reminder = None
        self.warnings.remind(self._clock.monotonic())
        self._remind_later()

    async def stop(self, last: Event | None = None) -> None:
        """Finish all submitted events, then the event `last`, then close the disk."""
        if last is not None and self.failure is None:
            self.enqueue(last)
        self._accepting = False
        await self._drain()
        self._alarm.stop()
        if self._reminder is not None:
            self._reminder.cancel()
        self.warnings.report_all(self._clock.monotonic())
        self.syncs.close()

    async def _drain(self) -> None:
        assert self._loop is not None
        while self.failure is None and (self._events or not self.syncs.is_idle):
            self._idle = self._loop.create_future()
            await self._idle

    @property
    def under_way(self) -> int:
        """Return the number of events that are queued or whose effects wait."""
        return len(self._events) + self.syncs.turns

    # -- the batch

    def enqueue(self, event: Event) -> None:
        """Queue an event from inside the process, also when the engine takes no more from outside."""
        self._events.append(event)
        if not self._scheduled:
            self._schedule()

    def _schedule(self) -> None:
        """Let the turns of the events run in the next pass of the loop."""
        self._scheduled = True
        assert self._loop is not None
        self._loop.call_soon(self._run)

    def _run(self) -> None:
        """Run the turns of the events that came; `Syncs` says when they are written and synced."""
        self._scheduled = False
        if self.failure is not None:
            return
        try:
            self._turn()
            if self._core.at_once:
                self.perform(self._core.take_at_once())
            self.syncs.proceed()
        except BaseException as failure:  # noqa: BLE001 - after any failure no effect may leave
            self.fail(failure)
            return
        if self._events and not self._scheduled:
            self._schedule()
        if self._idle is not None:
            self.notify_idle()
        if self._paused or self.syncs.turns + len(self._events) > MOST_UNDER_WAY:
            self.watch_pressure()

    def _turn(self) -> None:
        now = self._clock.now()
        if self._clock.jumps != self._alarm.jumps:
            self._alarm.follow_calendar()
        events, turn, rows = self._events, self._core.turn, self._core.rows
        count = min(len(events), TURNS_AT_ONCE)
        for done in range(1, count + 1):
            turn(events.popleft(), now)
            if rows.size >= SYNC_BYTES and self.syncs.is_due:  # the other turns run beside the sync
                count = done
                break
        self.turns += count
        self.syncs.turns += count

    # -- effects

    def perform(self, effects: list[Effect]) -> None:
        """Perform effects: answers, timers, later turns, warnings, and what a protocol sends."""
        for effect in effects:
            if type(effect) is Reply:
                answered = self._callers.pop(effect.to, None)
                if answered is not None:
                    answered(effect.answer)
            elif type(effect) is SetTimer:
                if effect.calendar:
                    self._alarm.calendar[effect.name] = None
                self._alarm.set(effect.name, effect.after)
            elif type(effect) is CancelTimer:
                self._alarm.timers.cancel(effect.name)
            elif type(effect) is Continue or type(effect) is ContinueAfterSync:
                self.enqueue(effect.event)
            elif type(effect) is ContinueBesideSync:
                self.syncs.beside.append(effect.event)
            elif type(effect) is Warn:
                self.warn(effect)
            else:
                self.performers[type(effect)](effect)

    # -- pressure, failure and the end

    def watch_pressure(self) -> None:
        """Let the sources pause or go on, by the number of events under way."""
        under_way = self.under_way
        if not self._paused and under_way > MOST_UNDER_WAY:
            self._paused = True
            self.on_pressure(True)
        elif self._paused and under_way < MOST_UNDER_WAY // 2:
            self._paused = False
            self.on_pressure(False)

    def fail(self, failure: BaseException) -> None:
        """End all work: no effect leaves after this, and no request is confirmed any more."""
        if self.failure is not None:
            return
        self.failure = failure
        self._accepting = False
        self._events.clear()
        self.syncs.drop()
        self.notify_idle()
        self.on_failure(failure)

    def notify_idle(self) -> None:
        """Wake the task that waits until no event and no effect waits."""
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)


def _ignore(_: bool) -> None:
    pass


def _raise(failure: BaseException) -> None:
    raise failure
