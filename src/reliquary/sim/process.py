"""Simulates one process of the server: turns, syncs and effects in the order of `engine.loop`, on simulated
time.

    events --> turns --> the open batch --> close: applied --> sync, which takes a while --> effects
                 ^                                              |
                 '--- the next batch is built while it runs ----'

The power may go at each of the named points, in the middle of a sync, and at any moment between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from reliquary.base.faults import StoreFailure
from reliquary.base.time import MILLISECOND, seconds
from reliquary.base.turn import (
    CancelTimer,
    Continue,
    ContinueAfterSync,
    ContinueBesideSync,
    Effect,
    Event,
    Reply,
    SetTimer,
    TimerFired,
    TimerName,
    Warn,
)
from reliquary.engine.core import Batch
from reliquary.engine.protocols import assemble, tables_of
from reliquary.engine.timers import Timers
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model.events import StartManager, StopManager
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.travel.loopback import LOOPBACK
from reliquary.sim.chance import SeededChance
from reliquary.sim.clock import ProcessClock
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import History
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.site_faults import SiteFaults
from reliquary.sim.witness import Witness
from reliquary.store.staging import StagedRows

SIZES: Final = Sizes(
    window=3, at_once=3, sequence_block=512, cache_bytes=500, batch=40, placed=3, stage_age=seconds(30)
)
"""Limits so small that a short run reaches all of them; half a block of numbers outlasts the longest sync."""
CHECKPOINT: Final = 0.04
"""The probability that a full comparison of rows, facts and state follows a batch."""

STAYS_OPEN: Final = 0.8
"""The probability that a batch which may stay open stays open; otherwise it is written early, as a large one
is."""
LONGEST_LOOK: Final = 150
"""The longest time in which the loop looks for more requests before it syncs."""
UNASKED_SYNC: Final = 50 * MILLISECOND
"""The longest time that a change stays unsynced if no caller waits for it."""

Answered = Callable[[Any, int], None]
"""A function that takes an answer, and the number of the turn that made it."""
MachineT = TypeVar("MachineT")


@dataclass(frozen=True, slots=True)
class ConnectedProtocol:
    """A protocol of a process, and its connection to the other processes."""

    protocol: Protocol
    first_events: tuple[Event, ...] = ()
    """The events that its machine gets after the start of the manager."""
    perform: Callable[[Process, Effect], None] | None = None
    """A function that performs the effects of its machine; None if the machine has none."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The environment of a process: disk, clock, chance, history."""

    scheduler: Scheduler
    chance: SeededChance
    faults: SiteFaults
    history: History
    witness: Witness
    quota: int | None = None
    """The quota of the manager in kilobytes."""
    computer: str = "SIM"
    """The name of the manager."""
    plugged: tuple[ConnectedProtocol, ...] = (ConnectedProtocol(LOOPBACK),)
    """The protocols of the manager."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Return the tables of the manager and of all protocols."""
        return tables_of(each.protocol for each in self.plugged)


@dataclass(slots=True)
class ProcessTimers:
    """The timers of a process; in a real engine `Alarm` has them.

    `_perform` sets and cancels timers, `_follow_calendar` writes `jumps`.
    """

    jumps: int
    """The jumps of the clock that the timers have followed."""
    timers: Timers = field(default_factory=Timers)
    calendar: dict[TimerName, None] = field(default_factory=dict)
    """Names of timers that wait for a moment of the calendar."""


@dataclass(slots=True)
class ProcessSyncs:
    """The batches of a process between their write and their effects; in a real engine `Syncs` has them.

    The functions of `Process` from `_settle` to `_synced` write it.
    """

    waiting: list[Batch] = field(default_factory=list)
    """Batches whose effects wait for a sync that has not begun."""
    syncing: list[Batch] = field(default_factory=list)
    """Batches whose effects wait for the sync that runs."""
    is_syncing: bool = False
    unsynced: bool = False
    """Something was applied after the last sync began."""
    is_looking: bool = False
    """The loop looks for more requests before it syncs."""
    reminded: bool = False
    """A sync is planned for changes that no caller waits for."""


class PowerCut(Exception):
    """Says that the process ends here, between two steps."""


class Process:
    """A queue manager and its engine, until they stop or fail."""

    def __init__(
        self,
        process_number: int,
        disk: SimulatedDisk,
        clock: ProcessClock,
        around: Surroundings,
        on_end: Callable[[Process], None],
    ) -> None:
        self.process_number = process_number
        self.disk = disk
        self.alive = True
        self.accepting = False
        self._clock = clock
        self._around = around
        self._on_end = on_end
        self._events: deque[Event] = deque()
        self._callers: dict[int, Answered] = {}
        self._last_caller = 0
        self._alarm = ProcessTimers(clock.jumps)
        self._syncs = ProcessSyncs()
        self._scheduled = False
        self._stopping = False
        protocols = [each.protocol for each in around.plugged]
        self._core, self.manager, self.machines = assemble(
            disk, StagedRows(disk), self._around.chance, protocols, sizes=SIZES, history=True
        )
        self._performers = {
            effect: each.perform for each in around.plugged for effect in each.protocol.unplugged
        }

    def machine(self, kind: type[MachineT]) -> MachineT:
        """Return the machine of this class."""
        return next(each for each in self.machines.values() if isinstance(each, kind))

    # -- what the network and the host call

    def start(self) -> None:
        """Start the queue manager; requests are accepted after the start is on disk."""
        self._guarded(self._start)

    def _start(self) -> None:
        for event in self._first_events():
            self._turn(event)
        self._point("before the first sync")
        batch = self._core.close()
        self.disk.sync()
        self._point("after the first sync")
        self.disk.restoration_begun()
        self.accepting = True
        self._perform(self._core.take_at_once() + batch.after_sync)

    def _first_events(self) -> tuple[Event, ...]:
        """Return the events of the start, whose turns run before a request is accepted."""
        around = self._around
        start = StartManager(around.computer, quota=around.quota, restoration=self.disk.restoration)
        return start, *(event for each in self._around.plugged for event in each.first_events)

    @property
    def idle(self) -> bool:
        """Return whether no event and no effect waits."""
        syncs = self._syncs
        return not (self._events or self._core.batch.after_sync or syncs.waiting or syncs.is_syncing)

    def caller(self, answered: Answered) -> int:
        """Return a number for one answer, which `answered` will get."""
        self._last_caller += 1
        self._callers[self._last_caller] = answered
        return self._last_caller

    def forget(self, caller: int) -> None:
        """Drop the answer for this number."""
        self._callers.pop(caller, None)

    def submit(self, event: Event) -> None:
        """Queue an event; its turn comes soon."""
        self._events.append(event)
        if not self._scheduled:
            self._scheduled = True
            self._later(self._around.chance.between(1, 100), self._run)

    def stop(self) -> None:
        """Finish the submitted events, then end the process in order."""
        if self.alive and self.accepting:
            self.accepting = False
            self._stopping = True
            self.submit(StopManager())

    def cut_power(self) -> None:
        """End the process as in a power cut: unsynced writes are lost."""
        if self.alive:
            self._end("power cut")

    # -- the batch

    def _run(self) -> None:
        self._scheduled = False
        for _ in range(min(len(self._events), self._around.chance.between(1, 8))):
            self._turn(self._events.popleft())
            self._point("between turns")
        self._perform(self._core.take_at_once())
        self._break_disk()
        may_stay_open = self._syncs.is_syncing or not self._core.batch.after_sync
        if may_stay_open and self._around.chance.happens(STAYS_OPEN):
            self._sync_some_time()
        else:
            self._close()
        self._end_if_done()
        if self._events and not self._scheduled:
            self._scheduled = True
            self._later(self._around.chance.between(1, 100), self._run)

    def _turn(self, event: Event) -> None:
        now = self._clock.now()
        if self._clock.jumps != self._alarm.jumps:
            self._follow_calendar()
        turn = self._core.turn(event, now)
        turned = self._around.witness.turned(self.process_number, self.disk.applied + 1, event, turn, now)
        self._around.history.note(
            self._around.scheduler.now, f"turn {turned.number} {type(event).__name__} {len(turn.facts)}"
        )

    def _close(self) -> None:
        """Write the open batch, and sync it if effects wait for a sync."""
        batch = self._core.close()
        self._around.witness.batch_applied(self.manager, self._clock.now())
        if self._around.chance.happens(CHECKPOINT):
            self._compare()
        self._point("after the batch was applied")
        self._settle(batch)

    def _settle(self, batch: Batch) -> None:
        """Sync a batch; its effects wait for the first sync that began after it was applied."""
        syncs = self._syncs
        syncs.unsynced = syncs.unsynced or batch.applied
        if not batch.after_sync:
            self._sync_some_time()
        elif not syncs.unsynced and not syncs.is_syncing:
            self._perform(batch.after_sync)
        else:
            syncs.waiting.append(batch)
            if not syncs.is_syncing and not syncs.is_looking:
                syncs.is_looking = True
                self._later(self._around.chance.between(0, LONGEST_LOOK), self._sync_soon)

    def _sync_soon(self) -> None:
        self._syncs.is_looking = False
        if not self._syncs.is_syncing:
            self._begin_sync()

    def _sync_some_time(self) -> None:
        """Plan a sync after a short while for what was changed, in case no other sync covers it."""
        if (self._syncs.unsynced or self._core.batch.turns) and not self._syncs.reminded:
            self._syncs.reminded = True
            self._later(UNASKED_SYNC, self._sync_unasked)

    def _sync_unasked(self) -> None:
        self._syncs.reminded = False
        if self._syncs.is_syncing:
            return
        if self._core.batch.turns:
            self._close()
        if self._syncs.unsynced:
            self._begin_sync()
        self._end_if_done()

    def _begin_sync(self) -> None:
        syncs = self._syncs
        syncs.unsynced = False
        syncs.is_syncing = True
        syncs.syncing, syncs.waiting = syncs.waiting, []
        covered = self.disk.begin_sync()
        span = self._around.chance.between(50, self._around.faults.slowest_sync)
        self._later(span, partial(self._synced, covered))

    def _synced(self, covered: int) -> None:
        syncs = self._syncs
        self._point("during a sync")
        self.disk.end_sync(covered)
        self._point("after a sync")
        syncs.is_syncing = False
        done, syncs.syncing = syncs.syncing, []
        for batch in done:
            self._perform(batch.after_sync)
        if self._core.batch.turns:
            self._close()
        if syncs.waiting or (syncs.unsynced and not syncs.reminded):
            self._begin_sync()
        self._end_if_done()

    def _end_if_done(self) -> None:
        if self._stopping and self.idle:
            self.disk.close()
            self._end("stopped in good order")

    def checkpoint(self) -> None:
        """Write the open batch, and compare the state, the facts and the rows with each other."""
        if self._core.batch.turns:
            self._close()
        self._compare()

    def _compare(self) -> None:
        """Compare the state, the facts and the rows; called only between two batches."""
        rebuilt = QueueManager(StagedRows(self.disk.copied()), SeededChance(0), sizes=SIZES, history=True)
        self._around.witness.checkpoint(self.manager, rebuilt, self.disk)
        for each in self._around.plugged:
            name, again = each.protocol.name, each.protocol.machine(StagedRows(self.disk.copied()))
            self._around.witness.compare_machines(name, self.machines[name], again)

    # -- effects

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Reply):
                self._answer(effect)
            elif isinstance(effect, SetTimer):
                if effect.calendar:
                    self._alarm.calendar[effect.name] = None
                self._alarm.timers.set(effect.name, self._around.scheduler.now + effect.after)
                self._around.scheduler.after(effect.after, partial(self._guarded, self._ring))
            elif isinstance(effect, CancelTimer):
                self._alarm.timers.cancel(effect.name)
            elif isinstance(effect, Continue | ContinueAfterSync | ContinueBesideSync):
                self.submit(effect.event)
            elif isinstance(effect, Warn):
                self._around.history.note(
                    self._around.scheduler.now, f"warning: {effect.about}: {effect.what}"
                )
            else:
                self._go_out(effect)

    def _go_out(self, effect: Effect) -> None:
        """Pass an effect to the network of its protocol."""
        self._around.witness.leaves(effect, self.disk)
        perform = self._performers.get(type(effect))
        assert perform is not None, f"no network performs {effect}"
        perform(self, effect)
        self._point("between effects")

    def _answer(self, reply: Reply) -> None:
        if not reply.to:
            return
        turn = self._around.witness.answered(self.process_number, reply, self.disk)
        answered = self._callers.pop(reply.to, None)
        if answered is not None:
            answered(reply.answer, turn)
        self._point("between answers")

    def _follow_calendar(self) -> None:
        """Fire the timers that wait for a moment of the calendar now, as the engine does."""
        self._alarm.jumps = self._clock.jumps
        for name in filter(self._alarm.timers.__contains__, self._alarm.calendar):
            self._alarm.timers.set(name, self._around.scheduler.now)
        self._later(0, self._ring)

    def _ring(self) -> None:
        for name in self._alarm.timers.take_due(self._around.scheduler.now):
            self.submit(TimerFired(name))

    # -- trouble

    def _later(self, delay: int, action: Callable[[], None]) -> None:
        self._around.scheduler.after(delay, partial(self._guarded, action))

    def _guarded(self, action: Callable[[], None]) -> None:
        """Run a step of this process if it still runs; a failed write or a power cut ends the process."""
        if not self.alive:
            return
        try:
            action()
        except PowerCut as cut:
            self._end(f"power cut {cut}")
        except StoreFailure as failure:
            self._around.history.failures += 1
            self._end(str(failure))

    def _point(self, name: str) -> None:
        if self._around.chance.happens(self._around.faults.power_at_a_point):
            raise PowerCut(name)

    def _break_disk(self) -> None:
        chance = self._around.chance
        if chance.happens(self._around.faults.disk_fails):
            kind = chance.pick(("io", "full"))
            if chance.happens(0.5):
                self.disk.fail_next_sync(kind)
            else:
                self.disk.fail_apply_after(0, kind)

    def _end(self, why: str) -> None:
        self.alive = self.accepting = False
        self._around.history.note(self._around.scheduler.now, f"process {self.process_number} ends: {why}")
        self._on_end(self)
