"""Builds a queue manager with its protocols: tables, carriers, machines, effects without a network.

The server, the in-process client and the simulator build their managers with these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from reliquary.base.chance import Chance
from reliquary.base.turn import Effect, Event, Machine, Signal
from reliquary.engine.core import Core
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.queueing.manager import SIGNALS, TAKES, TIMERS, QueueManager
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import TABLES
from reliquary.queueing.model.travel.carriers import Carriers
from reliquary.store.disk import Disk
from reliquary.store.staging import StagedRows


def tables_of(protocols: Iterable[Protocol]) -> tuple[str, ...]:
    """Return the tables of a store: those of the manager and of these protocols."""
    names = [*TABLES, *(table for each in protocols for table in each.tables)]
    assert len(set(names)) == len(names), f"two machines claim one table: {sorted(names)}"
    return tuple(names)


class Assembled(NamedTuple):
    """A queue manager and the protocols beside it, ready to take turns."""

    core: Core
    manager: QueueManager
    machines: dict[str, Machine]
    """The machines of the protocols, by the names of the protocols."""


def assemble(
    disk: Disk,
    rows: StagedRows,
    chance: Chance,
    protocols: Sequence[Protocol],
    *,
    also_subscribed: Iterable[type[Signal]] = (),
    sizes: Sizes = Sizes(),  # noqa: B008 - it is frozen
    history: bool = False,
) -> Assembled:
    """Build a queue manager that knows the carriers and readers of these protocols, and their machines.

    `also_subscribed` are the signals to a machine that the caller adds to the core.
    """
    carriers = Carriers(
        (each.carrier for each in protocols if each.carrier is not None),
        (each.reader for each in protocols if each.reader is not None),
    )
    subscribed = frozenset((*also_subscribed, *(signal for each in protocols for signal in each.signals)))
    manager = QueueManager(
        rows, chance, subscribed=subscribed, carriers=carriers, sizes=sizes, history=history
    )
    core = Core(disk, rows)
    core.add(manager, signals=SIGNALS, takes=TAKES, timers=TIMERS)
    machines: dict[str, Machine] = {}
    for each in protocols:
        assert each.name not in machines, f"two protocols are called {each.name}"
        machine = machines[each.name] = each.machine(rows)
        core.add(machine, name=each.name, signals=each.signals, takes=each.takes, timers=each.timers)
    return Assembled(core, manager, machines)


def unplugged(engine: Engine, protocols: Iterable[Protocol]) -> dict[type[Effect], Callable[[Any], None]]:
    """Return the functions that perform the effects of protocols while no network is attached.

    The machines work as with a network: they write receipts that are owed, and note which messages left a
    stream.  Messages wait in outgoing queues until a process with a network opens the folder.
    """

    def performer(answer: Callable[[Any], Event | None]) -> Callable[[Any], None]:
        def perform(effect: Any) -> None:
            event = answer(effect)
            if event is not None:
                with suppress(EngineStopped):
                    engine.submit(event)

        return perform

    performers: dict[type[Effect], Callable[[Any], None]] = {}
    for each in protocols:
        for kind, answer in each.unplugged.items():
            assert kind not in performers, f"{each.name} and another protocol both claim the effect {kind}"
            performers[kind] = performer(answer)
    return performers
