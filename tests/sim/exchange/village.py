"""Two hosts and the web between them, in fair weather unless told; the processes are stand-ins."""

from __future__ import annotations

from typing import Any

from reliquary.base.time import SECOND, Duration
from reliquary.base.turn import Event
from reliquary.protocols.srmp.effects import EndSession, Post
from reliquary.protocols.srmp.events import PostAnswer, PostArrived, PostEnded
from reliquary.sim.between.roads import Roads
from reliquary.sim.chance import SeededChance
from reliquary.sim.exchange.web import Web
from reliquary.sim.scheduler import Scheduler

PATIENCE = Duration(SECOND)


class Stub:
    """A process that notes what reaches it, and answers when it is told to."""

    def __init__(self) -> None:
        self.alive = self.accepting = True
        self.heard: list[Event] = []
        self._callers: dict[int, Any] = {}

    def caller(self, answered: Any) -> int:
        self._callers[len(self._callers) + 1] = answered
        return len(self._callers)

    def submit(self, event: Event) -> None:
        self.heard.append(event)

    def answer(self, event: Event, status: int = 200) -> None:
        assert isinstance(event, PostArrived)
        self._callers[event.to](PostAnswer(status), 0)


class StubHost:
    """A host with one process."""

    def __init__(self) -> None:
        self.process: Any = Stub()
        self.on_end: list[Any] = []

    def end(self) -> None:
        process, self.process = self.process, None
        process.alive = False
        for tell in self.on_end:
            tell(process)


class Village:
    """a.example posts to b.example."""

    def __init__(self, seed: int = 1, **roads: Any) -> None:
        chance = SeededChance(seed)
        self.scheduler = Scheduler(chance)
        self.roads = Roads(**roads)
        self.web = Web(self.scheduler, chance, self.roads, PATIENCE)
        self.here, self.there = StubHost(), StubHost()
        self.client, self.server = self.here.process, self.there.process
        self.web.join("a.example", self.here)  # type: ignore[arg-type]
        self.web.join("b.example", self.there)  # type: ignore[arg-type]

    def post(self, *bodies: bytes, epoch: int = 1, server: str = "http://b.example") -> None:
        for body in bodies:
            post = Post(7, epoch, int(body), server, "b.example", "/msmq/q", "text/xml", body)
            self.web.post(self.client, "a.example", post)

    def close(self, epoch: int = 1) -> None:
        self.web.end_session(self.client, EndSession(7, epoch))

    def passes(self, span: int = SECOND // 2) -> None:
        self.scheduler.pass_time(span)

    @property
    def arrived(self) -> list[bytes]:
        """What reached the server, in its order."""
        return [event.body for event in self.server.heard if isinstance(event, PostArrived)]

    @property
    def ended(self) -> list[tuple[int, object]]:
        """What the client heard: which POST, and its status or why it has none."""
        found = [event for event in self.client.heard if isinstance(event, PostEnded)]
        return [(event.lookup_id, event.status or event.failure) for event in found]
