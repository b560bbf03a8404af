"""Two hosts with stand-ins for processes, and a network of requests between them; no faults by default."""

from __future__ import annotations

from functools import partial
from typing import Any

from reliquary.base.time import SECOND, Duration
from reliquary.base.turn import Effect, Event
from reliquary.sim.chance import SeededChance
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.network_faults import NetworkFaults
from reliquary.sim.world.requests import Close, Ending, Request, RequestNetwork

PATIENCE = Duration(SECOND)


class Ask(Effect, frozen=True):
    """Send a number to a site."""

    number: int
    epoch: int = 1
    server: str = "b.example"


class HangUp(Effect, frozen=True):
    """Close the connection of an epoch."""

    epoch: int


class DoNothing(Effect, frozen=True):
    """An effect that is not for the network."""


class Asked(Event, frozen=True):
    """A number has arrived from the other site."""

    to: int
    number: int


class AskerLeft(Event, frozen=True):
    """The client is gone, and has no answer."""

    to: int


class AskEnded(Event, frozen=True):
    """What became of a number."""

    number: int
    ending: Ending


def request_of(effect: Effect) -> Request | Close | None:
    """Return the request or the end of a connection that an effect asks for."""
    match effect:
        case Ask(number=number, epoch=epoch, server=server):
            return Request(server, lambda to: Asked(to, number), partial(AskEnded, number), epoch, AskerLeft)
        case HangUp(epoch=epoch):
            return Close(epoch)
        case _:
            return None


class StubProcess:
    """A process that notes what reaches it, and answers on request."""

    def __init__(self) -> None:
        self.alive = self.accepting = True
        self.events: list[Any] = []
        self._callers: dict[int, Any] = {}

    def caller(self, answered: Any) -> int:
        self._callers[len(self._callers) + 1] = answered
        return len(self._callers)

    def submit(self, event: Event) -> None:
        self.events.append(event)

    def answer(self, event: Asked, answer: object = "done") -> None:
        self._callers[event.to](answer, 0)


class StubHost:
    """A host with one process."""

    def __init__(self, process: StubProcess | None = None) -> None:
        self.process: Any = process or StubProcess()
        self.on_end: list[Any] = []

    def end(self) -> None:
        process, self.process = self.process, None
        process.alive = False
        for notify in self.on_end:
            notify(process)


class TwoSites:
    """A simulated network in which a.example asks b.example."""

    def __init__(self, seed: int = 1, **faults: Any) -> None:
        chance = SeededChance(seed)
        self.scheduler = Scheduler(chance)
        self.faults = NetworkFaults(**faults)
        self.network = RequestNetwork(self.scheduler, chance, self.faults, PATIENCE, request_of)
        self.here, self.there = StubHost(), StubHost()
        self.client, self.server = self.here.process, self.there.process
        self.network.join("a.example", self.here)  # type: ignore[arg-type]
        self.network.join("b.example", self.there)  # type: ignore[arg-type]

    def ask(self, *numbers: int, **details: Any) -> None:
        for number in numbers:
            self.perform(Ask(number, **details))

    def perform(self, effect: Effect) -> None:
        self.network.perform("a.example", self.client, effect)

    def passes(self, span: int = SECOND // 2) -> None:
        self.scheduler.pass_time(span)

    @property
    def arrived(self) -> list[int]:
        """Return the requests that reached the server, in order."""
        return [event.number for event in self.server.events if isinstance(event, Asked)]

    @property
    def ended(self) -> list[tuple[int, object]]:
        """Return the number and the answer, status or failure of each request that ended."""
        found = [(event.number, event.ending) for event in self.client.events]
        return [(number, each.answer or each.status or each.failure) for number, each in found]
