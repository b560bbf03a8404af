"""A queue manager and a protocol's machine on one bench, in common turns; a test is the network."""

from __future__ import annotations

from types import ModuleType
from typing import Any, ClassVar, TypeVar

from reliquary.base.turn import Effect, Event, Turn
from reliquary.engine.core import Core
from reliquary.queueing.manager import SIGNALS, TAKES, TIMERS
from reliquary.queueing.model.protocol import Protocol
from tests.queueing.manager_harness import Bench

M = TypeVar("M")


def effects_of(module: ModuleType) -> set[type[Effect]]:
    """Return the effects that a module defines."""
    return {
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Effect) and each.__module__ == module.__name__
    }


class ProtocolBench(Bench):
    """A manager that uses a protocol; each has a bench of its own that says which."""

    ADDRESSED: ClassVar[Event]
    """The event that announces the addresses at which the server listens."""
    GOES_OUT: ClassVar[tuple[type[Effect], ...]]
    """What is kept for the test."""

    def __init__(self, *queues: str, addressed: bool = True, **options: Any) -> None:
        self.addressed = addressed
        self.out: list[Effect] = []
        """What the network was asked to do, oldest first."""
        spoken = self.speaks()
        assert spoken.carrier is not None
        super().__init__(*queues, subscribed=spoken.signals, carriers=(spoken.carrier,), **options)

    def speaks(self) -> Protocol:
        """Return the protocol beside the manager."""
        raise AssertionError(f"{type(self).__name__} does not say which protocol it has")

    def _build(self) -> None:
        super()._build()
        spoken = self.speaks()
        machine = spoken.machine(self.rows)
        self.machines = {spoken.name: machine}
        self.core = Core(self.disk, self.rows)
        self.core.add(self.manager, signals=SIGNALS, takes=TAKES, timers=TIMERS)
        self.core.add(
            machine, name=spoken.name, signals=spoken.signals, takes=spoken.takes, timers=spoken.timers
        )

    def machine(self, kind: type[M]) -> M:
        """Return the machine of the protocol."""
        (machine,) = self.machines.values()
        assert isinstance(machine, kind)
        return machine

    def start(self) -> Turn:
        """Start the manager, and listen."""
        turn = super().start()
        if self.addressed:
            self.handle(self.ADDRESSED)
        return turn

    def run(self, event: Event) -> Turn:
        """Run one turn of both machines; what goes out is kept for the test."""
        turn = self.core.turn(event, self.now)
        return Turn(turn.facts, turn.signals, self.keep(turn), turn.waits)

    def keep(self, turn: Turn) -> tuple[Effect, ...]:
        """Keep what goes out; the answer is the rest."""
        self.out += [effect for effect in turn.effects if isinstance(effect, self.GOES_OUT)]
        return tuple(effect for effect in turn.effects if not isinstance(effect, self.GOES_OUT))
