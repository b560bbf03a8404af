"""Runs turns and collects their changes in batches, without a clock or a thread.

    turn(event)        run a machine, and those that its signals reach; their changes join the open batch
    take_at_once()     effects that need not wait, of the turns since the last call
    close() -> Batch   stage the counters, apply the changes; the effects wait for the caller's sync

The batch stays open for any number of turns: a row that several of them change is written once.

An effect that leaves the process waits until a sync that began after `close` has returned.  Three kinds of
effects need not wait: timers and work for later turns, which stay in the process; effects that show only what
was on disk before (`Effect.waits_for_disk`); and answers about express messages alone, because express
messages need not survive a crash.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeVar

from reliquary.base.ruled import Ruled
from reliquary.base.time import Instant
from reliquary.base.turn import (
    NOTHING,
    DirectedSignal,
    Effect,
    Event,
    Machine,
    Signal,
    TimerFired,
    Turn,
)
from reliquary.store.disk import Disk
from reliquary.store.staging import StagedRows

SIGNALS_IN_A_TURN: Final = 100_000
"""No turn needs more signals than this; a turn that does has machines that answer each other endlessly."""


Key = TypeVar("Key")


@dataclass(slots=True)
class Batch:
    """The turns whose changes are written together."""

    after_sync: list[Effect] = field(default_factory=list)
    """Effects that leave the process, and therefore wait for a sync."""
    applied: bool = False
    """The batch has changes to sync; without any, `after_sync` waits only for earlier batches."""
    turns: int = 0
    size: int = 0
    """The bytes of its large rows (`Rows.put`)."""


class Core:
    """Runs the machines of one store."""

    def __init__(self, disk: Disk, rows: StagedRows) -> None:
        self._disk = disk
        self.rows = rows
        """The rows that the machines have staged since the last batch was closed."""
        self._machines: list[Machine] = []
        self._settling: list[Machine] = []
        """The machines that stage rows once a batch."""
        self._routes: dict[type[Event], Machine] = {}
        self._timers: dict[str, Machine] = {}
        self._listeners: dict[type[Signal] | tuple[type[Signal], str], list[Machine]] = {}
        """The machines that get a signal, by its type; for a directed signal, also by the machine's name."""
        self._names: set[str] = set()
        self.at_once: list[Effect] = []
        """Effects that need not wait: they stay in the process, or concern only data that a crash
        may lose."""
        self.batch = Batch()
        """The batch that is open; `turn` and `close` write it."""

    def add(
        self,
        machine: Machine,
        *,
        name: str = "",
        signals: tuple[type[Signal], ...] = (),
        takes: tuple[type[Event], ...] = (),
        timers: tuple[str, ...] = (),
    ) -> None:
        """Add a machine, with the signals, events and timers that go to it.

        Events and timers that no machine claims go to the first one.  A directed signal names its machine.
        """
        self._machines.append(machine)
        if not isinstance(machine, Ruled) or type(machine).settle is not Ruled.settle:
            self._settling.append(machine)
        self._names.add(name)
        for signal in signals:
            subscribed = (signal, name) if issubclass(signal, DirectedSignal) else signal
            self._listeners.setdefault(subscribed, []).append(machine)
        _claim(self._routes, takes, machine)
        _claim(self._timers, timers, machine)

    def turn(self, event: Event, now: Instant) -> Turn:
        """Run the turn of one event, with the answers of all machines that its signals reach."""
        machine = (
            self._timers.get(event.name[0]) if type(event) is TimerFired else self._routes.get(type(event))
        ) or self._machines[0]
        turn = machine.handle(event, now)
        if turn.signals:
            turn = self._spread(turn, now)
        batch = self.batch
        batch.turns += 1
        volatile = not turn.waits and bool(turn.facts)
        for fact in turn.facts:
            if not fact.volatile:
                volatile = False
                break
        if volatile:  # a crash may lose all facts of this turn
            self.at_once += turn.effects
            return turn
        for effect in turn.effects:
            (batch.after_sync if effect.waits_for_disk else self.at_once).append(effect)
        return turn

    def take_at_once(self) -> list[Effect]:
        """Return the effects that need not wait for a sync, of the turns since the last call."""
        effects, self.at_once = self.at_once, []
        return effects

    def _spread(self, turn: Turn, now: Instant) -> Turn:
        """Pass the signals of a turn to their machines, and then the signals with which these answer."""
        facts, effects, waits = list(turn.facts), list(turn.effects), turn.waits
        pending = list(turn.signals)
        for signal in pending:  # the list grows by the signals of the answers
            if isinstance(signal, DirectedSignal):
                assert signal.to in self._names, (
                    f"no machine is called {signal.to}, which is to hear {signal}"
                )
                machines = self._listeners.get((type(signal), signal.to), ())
            else:
                machines = self._listeners.get(type(signal), ())
            for machine in machines:
                answer = machine.on_signal(signal, now)
                if answer is NOTHING:
                    continue
                facts += answer.facts
                effects += answer.effects
                waits = waits or answer.waits
                pending += answer.signals
            assert len(pending) <= SIGNALS_IN_A_TURN, f"a turn does not end: {signal}"
        return Turn(tuple(facts), turn.signals, tuple(effects), waits)

    def close(self) -> Batch:
        """End the batch: its changes are applied, in order, and may be synced from now on."""
        for machine in self._settling:
            machine.settle()
        batch, self.batch = self.batch, Batch()
        if not self.rows.is_empty:
            batch.size = self.rows.size
            self._disk.apply(self.rows.take())
            batch.applied = True
        return batch


def _claim(claimed: dict[Key, Machine], wanted: tuple[Key, ...], machine: Machine) -> None:
    """Register a machine for these events or timers; two machines that claim one are a programming error."""
    for each in wanted:
        assert each not in claimed, f"{machine} and {claimed[each]} both claim {each}"
        claimed[each] = machine
