"""A queue manager and HTTPR on one bench: requests come in and go out, a test is the network.

bench = HttprBench()                        started, addressed as httpr://bench.example, with "orders"
bench.request(header, *carried)             a client sends a whole request; the answer, an `Answer`
bench.request_later(header, *carried)       a request where the answer comes later: the caller's number
bench.answer_to(caller)                     the answer to a caller; None while it waits
bench.requests                              what went out (`SendRequest`), oldest first
bench.respond(request, header, *carried)    its response comes
bench.fail(request)                         it has none
bench.restart()                             as in `Bench`; HTTPR is rebuilt too
"""

from __future__ import annotations

from typing import Any

from reliquary.protocols.httpr import tables
from reliquary.protocols.httpr.codec.values import (
    SENDS,
    Carried,
    Disposition,
    RequestHeader,
    ResponseHeader,
)
from reliquary.protocols.httpr.effects import CutConnection, HangUp, SendRequest
from reliquary.protocols.httpr.events import (
    Addressed,
    Answer,
    Failure,
    RequestArrived,
    RequestFailed,
    ResponseArrived,
)
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.protocol import httpr
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.queueing.model import tables as manager_tables
from reliquary.queueing.model.protocol import Protocol
from tests.protocols.protocol_bench import ProtocolBench

ORIGIN = "httpr://bench.example"
ADDRESSED = Addressed(ORIGIN, frozenset({"bench.example", "bench", "localhost"}))
DEFAULTS = HttprSettings()
GOES_OUT = (SendRequest, HangUp, CutConnection)


class HttprBench(ProtocolBench):
    """A manager that uses HTTPR."""

    TABLES = manager_tables.TABLES + tables.TABLES
    ADDRESSED = ADDRESSED
    GOES_OUT = GOES_OUT

    def __init__(self, *queues: str, settings: HttprSettings = DEFAULTS, **options: Any) -> None:
        self.settings = settings
        super().__init__(*queues, **options)

    def speaks(self) -> Protocol:
        """Return HTTPR with the settings of the bench."""
        return httpr(self.settings)

    @property
    def httpr(self) -> Httpr:
        """The machine of both agents."""
        return self.machine(Httpr)

    @property
    def requests(self) -> list[SendRequest]:
        """Requests that went out, oldest first."""
        return [effect for effect in self.out if isinstance(effect, SendRequest)]

    @property
    def cuts(self) -> list[int]:
        """The connections of the server that were closed, in their order."""
        return [effect.connection for effect in self.out if isinstance(effect, CutConnection)]

    # -- a client sends requests

    def request_later(
        self,
        header: RequestHeader,
        *batch: Carried,
        disposition: Disposition = Disposition.LAST,
        connection: int = 1,
        service: str = "orders",
        **more: Any,
    ) -> int:
        """Let a whole request come; return the number of its caller."""
        caller = self.new_caller()
        ending = disposition if header.command in SENDS else None
        self.handle(RequestArrived(caller, connection, service, header, batch, ending, **more))
        return caller

    def request(self, header: RequestHeader, *batch: Carried, **more: Any) -> Answer:
        """Let a whole request come, and return its answer."""
        answer = self.answer_to(self.request_later(header, *batch, **more))
        assert isinstance(answer, Answer), f"no answer: {answer!r}"
        return answer

    # -- the manager sends requests

    def respond(
        self,
        request: SendRequest,
        header: ResponseHeader,
        *batch: Carried,
        disposition: Disposition = Disposition.LAST,
    ) -> None:
        """Deliver a response to a request of the client agent."""
        ending = disposition if header.transaction_id is not None else None
        self.handle(ResponseArrived(request.channel, request.epoch, request.number, header, batch, ending))

    def fail(self, request: SendRequest, failure: Failure = Failure.LOST) -> None:
        """Report that a request has no usable response."""
        self.handle(RequestFailed(request.channel, request.epoch, request.number, failure))
