"""The engine in a real process: asyncio around `Core`, and one thread that syncs.

    events -->[queue]--> turns --> close: applied --.            the loop's thread
                 ^                                  |
                 '-- the next batch is built while  v
                                              sync --> effects   the store's thread, then the loop's

What leaves the process does so in the order of the batches, after the first sync that began when
they were applied.  A sync runs inline when nothing else is under way, because handing it to a
thread costs more than it saves; otherwise the store's thread does it and the loop goes on.  A batch
that tells nobody anything (an acknowledgement whose sender now waits for more) begins no sync of
its own: the next one covers it.

A sync that fails ends all work: nothing that was not confirmed before will be.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, Protocol

from reliquary.base.time import MINUTE, SECOND, Instant
from reliquary.base.turn import (
    CancelTimer,
    Continue,
    Effect,
    Event,
    Reply,
    SetTimer,
    TimerFired,
    TimerName,
    Warn,
)
from reliquary.engine.core import Batch, Core
from reliquary.engine.timers import Timers
from reliquary.engine.warnings import Warnings
from reliquary.store.disk import Disk

TURNS_IN_A_BATCH: Final = 512
INLINE_TURNS: Final = 2
"""A batch of so few turns is synced inline: whoever sent them waits for the answer."""
LINGER: Final = 300
"""Microseconds that a sync waits for those who were answered by the last one."""
UNASKED_SYNC_SECONDS: Final = 0.05
"""How long a change that nobody waits for may stay unsynced."""
MOST_UNDER_WAY: Final = 20_000
"""Events that are queued or wait for a sync; past this, the sources are asked to pause."""

Answered = Callable[[object], None]


class Clock(Protocol):
    """The time of the calendar, and a time that never jumps, in microseconds."""

    jumps: int
    """How often `now` found that the calendar had been set forward."""

    def now(self) -> Instant:
        """The moment of the calendar."""

    def monotonic(self) -> int:
        """Microseconds since some moment."""


class EngineStopped(Exception):
    """The engine takes no more events."""


class Engine:
    """Runs a core inside the asyncio loop it was started in."""

    def __init__(self, core: Core, disk: Disk, clock: Clock) -> None:
        self._core = core
        self._disk = disk
        self._clock = clock
        self._events: deque[Event] = deque()
        self._callers: dict[int, tuple[Answered, int]] = {}
        self._last_caller = 0
        self._timers = Timers()
        self._calendar_timers: dict[TimerName, None] = {}
        """Names of timers that wait for a moment of the calendar."""
        self._jumps = clock.jumps
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0.0
        self._scheduled = False
        self._accepting = False
        self._paused = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: list[Batch] = []
        """Batches whose effects wait for a sync that has not begun."""
        self._syncing: list[Batch] = []
        self._is_syncing = False
        self._unsynced = False
        """Something was applied after the last sync began."""
        self._later: asyncio.TimerHandle | None = None
        self._expected: set[int] = set()
        """Sources that were answered since the last sync began and have not asked again yet."""
        self._expected_before: set[int] = set()
        """The same since the sync before; whoever is silent for longer is not waited for."""
        self._lingering = False
        self._linger_until = 0
        self._jobs: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._sync_forever, name="store-sync", daemon=True)
        self._idle: asyncio.Future[None] | None = None
        self.failure: BaseException | None = None
        self.on_failure: Callable[[BaseException], None] = _raise
        self.on_pressure: Callable[[bool], None] = _ignore
        """Called with True when sources have to pause, with False when they may go on."""
        self.performers: dict[type[Effect], Callable[[Any], None]] = {}
        """Who performs the effects that go out by a protocol."""
        self.warnings = Warnings()
        self._reminder: asyncio.TimerHandle | None = None
        self.syncs = 0
        self.turns = 0

    # -- what the other rooms call

    def start(self) -> None:
        """Begin to work, in the loop that runs now."""
        self._loop = asyncio.get_running_loop()
        self._accepting = True
        self._thread.start()

    def caller(self, answered: Answered, source: int = 0) -> int:
        """A number under which one answer will come.

        `source` is whoever asks one thing after another, such as a connection: a sync waits a moment
        for those that were just answered.
        """
        self._last_caller += 1
        self._callers[self._last_caller] = (answered, source)
        self._expected.discard(source)
        self._expected_before.discard(source)
        return self._last_caller

    def asked_by(self, source: int) -> None:
        """Note that a source asked something that a protocol answers by an effect of its own."""
        self._expected.discard(source)
        self._expected_before.discard(source)

    def answered_to(self, source: int) -> None:
        """Note that a source was answered by an effect of a protocol, and may ask again soon."""
        self._expected.add(source)

    def forget(self, caller: int) -> None:
        """Nobody listens for this answer any more."""
        self._callers.pop(caller, None)

    def submit(self, event: Event) -> None:
        """Take an event; its turn comes with the next batch."""
        if not self._accepting:
            raise EngineStopped("the engine has stopped")
        self._enqueue(event)

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
        """Tell whoever looks after the system; of one cause at most once a minute."""
        self.warnings.tell(warning, self._clock.monotonic())
        self._remind_later()

    def _remind_later(self) -> None:
        """See to it that what happened again is logged even if nothing else happens."""
        if self.warnings.waiting and self._reminder is None and self._loop is not None:
            self._reminder = self._loop.call_later(MINUTE / SECOND, self._remind)

    def _remind(self) -> None:
        self._reminder = None
        self.warnings.remind(self._clock.monotonic())
        self._remind_later()

    async def stop(self, last: Event | None = None) -> None:
        """Finish everything that was submitted, then `last`, then let go of the disk."""
        if last is not None and self.failure is None:
            self._enqueue(last)
        self._accepting = False
        await self._drain()
        for handle in (self._alarm, self._later, self._reminder):
            if handle is not None:
                handle.cancel()
        self.warnings.tell_all(self._clock.monotonic())
        self._jobs.put(False)
        self._thread.join()
        self._disk.close()

    async def _drain(self) -> None:
        assert self._loop is not None
        while self.failure is None and (self._events or self._waiting or self._is_syncing):
            self._idle = self._loop.create_future()
            await self._idle

    @property
    def under_way(self) -> int:
        """Events that are queued or whose effects wait."""
        return len(self._events) + sum(batch.turns for batch in self._waiting + self._syncing)

    # -- the batch

    def _enqueue(self, event: Event) -> None:
        self._events.append(event)
        if not self._scheduled:
            self._scheduled = True
            assert self._loop is not None
            self._loop.call_soon(self._run)

    def _run(self) -> None:
        """Build one batch from what has come, and see that it gets synced."""
        self._scheduled = False
        if self.failure is not None:
            return
        try:
            batch = self._build()
            self._perform(batch.at_once)
            self._settle(batch)
        except BaseException as failure:  # noqa: BLE001 - whatever it is, nothing may leave after it
            self._fail(failure)
            return
        if self._events and not self._scheduled:
            self._scheduled = True
            assert self._loop is not None
            self._loop.call_soon(self._run)
        self._watch_pressure()

    def _build(self) -> Batch:
        now = self._clock.now()
        if self._clock.jumps != self._jumps:
            self._follow_calendar()
        for _ in range(min(len(self._events), TURNS_IN_A_BATCH)):
            self._core.turn(self._events.popleft(), now)
        batch = self._core.close()
        self.turns += batch.turns
        return batch

    def _settle(self, batch: Batch) -> None:
        self._unsynced = self._unsynced or batch.applied
        if not batch.after_sync:
            self._sync_some_time()
        elif not self._unsynced and not self._is_syncing:
            self._perform(batch.after_sync)
        else:
            self._waiting.append(batch)
            if not self._is_syncing:
                self._sync_waiting()
        self._tell_idle()

    def _sync_waiting(self) -> None:
        """See that what waits is synced, and what nobody waits for some time."""
        if not self._waiting:
            self._sync_some_time()
        elif not self._lingering:
            self._linger_until = self._clock.monotonic() + LINGER
            self._sync_soon()

    def _sync_soon(self) -> None:
        """Sync, but not before those who were just answered had a moment to ask again.

        A producer and a consumer that are answered together ask again together; whoever comes first
        waits a tick for the other, and one sync serves both.
        """
        self._lingering = False
        if self.failure is not None or self._is_syncing:
            return
        silent = self._expected or self._expected_before
        if (self._events or silent) and self._clock.monotonic() < self._linger_until:
            self._lingering = True
            assert self._loop is not None
            self._loop.call_soon(self._sync_soon)
        else:
            turns = sum(batch.turns for batch in self._waiting)
            self._sync_now(inline=turns <= INLINE_TURNS and not self._events)

    def _sync_now(self, *, inline: bool) -> None:
        """Begin a sync for all that was applied; one at a time."""
        self._unsynced = False
        self._expected_before, self._expected = self._expected, set()
        batches, self._waiting = self._waiting, []
        if inline:
            try:
                self._disk.sync()
            except BaseException as failure:  # noqa: BLE001 - whatever it is, nothing may leave after it
                self._fail(failure)
                return
            self.syncs += 1
            self._release(batches)
        else:
            self._syncing = batches
            self._is_syncing = True
            self._jobs.put(True)

    def _sync_some_time(self) -> None:
        """Nobody waits for this batch; if nothing else comes, it is synced after a short while."""
        if self._unsynced and self._later is None:
            assert self._loop is not None
            self._later = self._loop.call_later(UNASKED_SYNC_SECONDS, self._sync_unasked)

    def _sync_unasked(self) -> None:
        self._later = None
        if self._unsynced and not self._is_syncing and self.failure is None:
            self._sync_now(inline=False)

    def _sync_forever(self) -> None:
        """The store's thread: one sync at a time, each for all that was applied before it began."""
        while self._jobs.get():
            failure: BaseException | None = None
            try:
                self._disk.sync()
            except BaseException as error:  # noqa: BLE001 - it is the loop that decides
                failure = error
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._synced, failure)
            if failure is not None:
                return

    def _synced(self, failure: BaseException | None) -> None:
        if failure is not None:
            self._fail(failure)
            return
        self.syncs += 1
        self._is_syncing = False
        done, self._syncing = self._syncing, []
        if sum(batch.turns for batch in self._waiting) > INLINE_TURNS:
            self._sync_now(inline=False)
        self._release(done)
        if not self._is_syncing:
            self._sync_waiting()
        self._watch_pressure()

    def _release(self, batches: list[Batch]) -> None:
        try:
            for batch in batches:
                self._perform(batch.after_sync)
        except BaseException as failure:  # noqa: BLE001 - whatever it is, nothing may leave after it
            self._fail(failure)
        self._tell_idle()

    # -- effects

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            if type(effect) is Reply:
                caller = self._callers.pop(effect.to, None)
                if caller is not None:
                    answered, source = caller
                    if source:
                        self._expected.add(source)
                    answered(effect.answer)
            elif type(effect) is SetTimer:
                if effect.calendar:
                    self._calendar_timers[effect.name] = None
                self._timers.set(effect.name, self._clock.monotonic() + effect.after)
                self._set_alarm()
            elif type(effect) is CancelTimer:
                self._timers.cancel(effect.name)
            elif type(effect) is Continue:
                self._enqueue(effect.event)
            elif type(effect) is Warn:
                self.warn(effect)
            else:
                self.performers[type(effect)](effect)

    def _set_alarm(self) -> None:
        """Wake up when the next timer is due; a wake-up that finds nothing does no harm."""
        at = self._timers.next()
        if at is None:
            return
        delay = max(at - self._clock.monotonic(), 0) / 1_000_000
        assert self._loop is not None
        when = self._loop.time() + delay
        if self._alarm is None or when < self._alarm_at:
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm_at = when  # uvloop's handle of a moment that has come does not know it
            self._alarm = self._loop.call_at(when, self._ring)

    def _follow_calendar(self) -> None:
        """Let the timers that wait for a moment of the calendar fire now: the calendar was set forward.

        A machine that is woken too early asks again; one that is not woken would do all that becomes due, new
        delays too, when its old timer has counted to its end.
        """
        self._jumps = self._clock.jumps
        for name in self._calendar_timers:
            if name in self._timers:
                self._timers.set(name, self._clock.monotonic())
        self._set_alarm()

    def _ring(self) -> None:
        self._alarm = None
        for name in self._timers.take_due(self._clock.monotonic()):
            self._enqueue(TimerFired(name))
        self._set_alarm()

    # -- trouble

    def _watch_pressure(self) -> None:
        under_way = self.under_way
        if not self._paused and under_way > MOST_UNDER_WAY:
            self._paused = True
            self.on_pressure(True)
        elif self._paused and under_way < MOST_UNDER_WAY // 2:
            self._paused = False
            self.on_pressure(False)

    def _fail(self, failure: BaseException) -> None:
        """Nothing leaves after this: what was not confirmed will not be."""
        if self.failure is not None:
            return
        self.failure = failure
        self._accepting = False
        self._events.clear()
        self._waiting.clear()
        self._syncing.clear()
        self._tell_idle()
        self.on_failure(failure)

    def _tell_idle(self) -> None:
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)


def _ignore(_: bool) -> None:
    pass


def _raise(failure: BaseException) -> None:
    raise failure
