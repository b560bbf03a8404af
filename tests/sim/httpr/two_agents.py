"""Two hosts and the network of HTTPR between them, without faults by default; the processes are stand-ins."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from reliquary.base.time import SECOND, Duration
from reliquary.base.turn import Event
from reliquary.protocols.httpr.codec.values import (
    BatchLimits,
    Command,
    Outcome,
    RequestHeader,
    ResponseHeader,
)
from reliquary.protocols.httpr.effects import HangUp, SendRequest
from reliquary.protocols.httpr.events import (
    Answer,
    ConnectionGone,
    RequestArrived,
    RequestBegun,
    RequestFailed,
    ResponseArrived,
)
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.queueing.model.message import Message
from reliquary.sim.chance import SeededChance
from reliquary.sim.httpr.channels import Channels
from reliquary.sim.httpr.faults import HttprFaults
from reliquary.sim.httpr.network import HttprNetwork
from reliquary.sim.scheduler import Scheduler
from tests.sim.world import two_sites
from tests.sim.world.two_sites import StubHost

PATIENCE = Duration(SECOND)
CHANNEL = ("httpr://a.example/httpr/mq", "inbox", "httpr://b.example/httpr/mq")


class StubProcess(two_sites.StubProcess):
    """A process that records the events that reach it, and answers on request."""

    def __init__(self) -> None:
        super().__init__()
        self._httpr = SimpleNamespace(state=SimpleNamespace(settings=HttprSettings(), sessions={}))

    def machine(self, kind: type) -> Any:
        assert kind is Httpr
        return self._httpr

    def respond(self, event: RequestArrived, *bodies: bytes) -> None:
        header = ResponseHeader(outcome=Outcome.COMMIT, completed=1, transaction_id=1 if bodies else None)
        self._callers[event.to](Answer(header, tuple(Message(body=body) for body in bodies)), 0)

    @property
    def requests(self) -> list[RequestArrived]:
        return [event for event in self.events if isinstance(event, RequestArrived)]

    def events_of(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


class TwoAgents:
    """A simulated network in which a.example sends requests to b.example."""

    def __init__(self, seed: int = 1, **faults: Any) -> None:
        chance = SeededChance(seed)
        self.scheduler = Scheduler(chance)
        self.faults = HttprFaults(**faults)
        self.channels = Channels()
        self.unreachable: set[tuple[str, str]] = set()
        self.network = HttprNetwork(
            self.scheduler, chance, self.faults, PATIENCE, self.channels, self.unreachable
        )
        self.here, self.there = StubHost(StubProcess()), StubHost(StubProcess())
        self.client, self.server = self.here.process, self.there.process
        self.network.join("a.example", self.here)  # type: ignore[arg-type]
        self.network.join("b.example", self.there)  # type: ignore[arg-type]
        self._numbers = 0

    def push(self, *batches: int, epoch: int = 1, session: str = "") -> None:
        for batch in batches:
            self.ask(Command.PUSH, Message(body=b"%d" % batch), epoch=epoch, batch=batch, session=session)

    def ask(
        self,
        command: Command,
        *messages: Message,
        epoch: int = 1,
        batch: int | None = None,
        session: str = "",
    ) -> None:
        requester, channel, responder = CHANNEL
        header = RequestHeader(
            command=command,
            requester="" if session else requester,
            channel="" if session else channel,
            responder="" if session else responder,
            session_id=session,
            transaction_id=batch,
            last_pushed_id=5 if command is Command.REPORT else None,
        )
        self._numbers += 1
        request = SendRequest(
            7, epoch, self._numbers, "http://b.example/httpr/mq", header, messages, BatchLimits(1000, 10)
        )
        self.network.perform("a.example", self.client, request)

    def hang_up(self, epoch: int = 1) -> None:
        self.network.perform("a.example", self.client, HangUp(7, epoch))

    def passes(self, span: int = SECOND // 2) -> None:
        self.scheduler.pass_time(span)

    @property
    def arrived(self) -> list[tuple[int, bytes]]:
        """Return the connection and the batch of each request that reached the server, in order."""
        found = self.server.requests
        return [(each.connection, b"".join(carried.body for carried in each.batch)) for each in found]

    @property
    def begun(self) -> int:
        return len(self.server.events_of(RequestBegun))

    @property
    def gone(self) -> list[int]:
        return [event.connection for event in self.server.events_of(ConnectionGone)]

    @property
    def outcomes(self) -> list[object]:
        """Return the numbers of the responses that the client got, or the failures."""
        return [
            event.number if isinstance(event, ResponseArrived) else event.failure
            for event in self.client.events
            if isinstance(event, (ResponseArrived, RequestFailed))
        ]
