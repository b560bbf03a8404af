"""The other end of a channel that we drive: a server agent as the specification has it, without a disk.

far = Far()                        it takes all, and has nothing to fetch
far.take(request)                  what it answers to a `SendRequest`: a header and messages
far.stored                         the bodies it has taken, in their order
far.offer(b"a", b"b")              messages to be fetched
bench.talk(far)                    all requests are answered until there are none

It does not know one connection from another: a request that comes late is judged by its id alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reliquary.protocols.httpr.codec.values import (
    FETCHES,
    NOTHING,
    SENDS,
    VERSION,
    Carried,
    Command,
    Error,
    ErrorNumber,
    Fields,
    Outcome,
    RequestHeader,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.queueing.model.travel.link import Link
from tests.protocols.httpr.httpr_harness import DEFAULTS, HttprBench

AGENT = "httpr://far.example/httpr/mq"
ORDERS = "DIRECT=HTTPR://far.example/httpr/mq#orders"
HERE = "httpr://bench.example/httpr/mq"
"""The address of our own client agent."""
TO_US = "target-uri:httpr://bench.example/httpr/mq#orders\r\n"

Answered = tuple[ResponseHeader, tuple[Carried, ...]]


@dataclass
class Far:
    """A server agent on another machine, as the client under test sees it."""

    sessions: bool = True
    capabilities: Fields | None = None
    error: ErrorNumber | None = None
    """What all PUSH and EXCHANGE are refused with."""
    refusal: ErrorNumber = ErrorNumber.USERID_SECURITY
    """The error for the bodies in `refused`."""
    refused: frozenset[bytes] = frozenset()
    """Bodies for which a batch is refused with 518."""
    stored: list[bytes] = field(default_factory=list)
    received: tuple[Outcome, int] = (Outcome.COMMIT, NOTHING)
    last_sent: int = NOTHING
    last_source: int = NOTHING
    waiting: list[bytes] = field(default_factory=list)
    in_doubt: dict[int, list[bytes]] = field(default_factory=dict)
    begun: int = 0
    """The number of sessions so far."""

    def offer(self, *bodies: bytes) -> None:
        """Queue messages that the client can fetch."""
        self.waiting += bodies

    def take(self, request: SendRequest) -> Answered:
        """Return the answer to a request."""
        header = request.header
        if header.command is Command.GET_RESPONDER_INFO:
            return self._greet(), ()
        self._settle(header)
        if header.command is Command.REPORT:
            return self._report(header), ()
        if header.command in SENDS and (refusal := self._push(request)) is not None:
            return refusal, ()
        return self._answer(request)

    def _greet(self) -> ResponseHeader:
        outcome, completed = self.received
        if not self.sessions:
            only = (("session_support", "SESSIONLESS"),)
            return ResponseHeader(
                version=VERSION, responder=AGENT, session=SessionMark.END, capabilities=only,
                outcome=outcome, completed=completed,
            )  # fmt: skip
        self.begun += 1
        return ResponseHeader(
            version=VERSION, responder=AGENT, session_id=str(self.begun), capabilities=self.capabilities,
            outcome=outcome, completed=completed,
        )  # fmt: skip

    def _settle(self, header: RequestHeader) -> None:
        if header.completed is None:
            return
        for batch in [each for each in self.in_doubt if each <= header.completed]:
            bodies = self.in_doubt.pop(batch)
            if batch == header.completed and header.outcome is Outcome.ROLLBACK:
                self.waiting[:0] = bodies
        if header.command is Command.REPORT or header.outcome is Outcome.ROLLBACK:
            for batch in sorted(self.in_doubt, reverse=True):
                self.waiting[:0] = self.in_doubt.pop(batch)

    def _report(self, header: RequestHeader) -> ResponseHeader:
        assert header.last_pushed_id is not None, "REPORT says the last id"
        self.last_sent = max(self.last_sent, header.last_pushed_id)
        if header.forget and header.forget == self.received[1]:
            self.received = (Outcome.COMMIT, NOTHING)
        outcome, completed = self.received
        known = self.last_source if self.in_doubt or header.completed != self.last_source else NOTHING
        return ResponseHeader(
            session=header.session, last_pulled_id=known, outcome=outcome, completed=completed,
            responder="" if header.session_id else AGENT,
        )  # fmt: skip

    def _push(self, request: SendRequest) -> ResponseHeader | None:
        batch = request.header.transaction_id
        assert batch, "a batch has an id"
        bodies = [message.body for message in request.batch]
        error = self.error
        if batch <= max(self.received[1], self.last_sent):
            error = ErrorNumber.OUT_OF_SEQUENCE_TRANSACTION_DISCARDED
            known = batch <= self.received[1]
            return self._refusal(error, None if known else batch)
        if self.refused & set(bodies):
            error = self.refusal
        if error is not None:
            self.received = (Outcome.ROLLBACK, batch)
            return self._refusal(error, batch)
        self.stored += bodies
        self.received = (Outcome.COMMIT, batch)
        return None

    def _refusal(self, error: ErrorNumber, batch: int | None) -> ResponseHeader:
        return ResponseHeader(
            session=SessionMark.END,
            error=Error.of(error),
            outcome=None if batch is None else Outcome.ROLLBACK,
            completed=batch,
        )

    def _answer(self, request: SendRequest) -> Answered:
        outcome, completed = self.received
        named = "" if request.header.session_id else AGENT
        bodies: list[bytes] = []
        if request.header.command in FETCHES:
            assert request.limits is not None, "what fetches says how much it takes"
            most = request.limits.messages
            bodies, self.waiting = self.waiting[:most], self.waiting[most:]
        if bodies:
            self.last_source += 1
            self.in_doubt[self.last_source] = bodies
        header = ResponseHeader(
            responder=named,
            transaction_id=self.last_source if bodies else None,
            outcome=outcome,
            completed=completed,
        )
        return header, tuple(Carried(TO_US, body) for body in bodies)


class ClientBench(HttprBench):
    """A manager with a client agent; `FAR` names its peer."""

    def __init__(self, *queues: str, settings: HttprSettings = DEFAULTS, **options: Any) -> None:
        self.heard_of = 0
        super().__init__(*queues, settings=settings, **options)

    def _build(self) -> None:
        super()._build()
        self.heard_of = len(self.requests) if hasattr(self, "out") else 0

    @property
    def unanswered(self) -> list[SendRequest]:
        """Requests of the newest connection that were not taken yet, oldest first."""
        return self.requests[self.heard_of :]

    def next_request(self) -> SendRequest:
        """Return the oldest request that was not taken yet."""
        request = self.unanswered[0]
        self.heard_of += 1
        return request

    def commands(self) -> list[Command]:
        """Return what was asked so far."""
        return [request.header.command for request in self.requests]

    def answer(self, far: Far) -> SendRequest:
        """Answer one request as the far server, and return it."""
        request = self.next_request()
        header, batch = far.take(request)
        self.respond(request, header, *batch)
        return request

    def talk(self, far: Far, most: int = 100) -> list[SendRequest]:
        """Answer until nothing is asked; where requests never end, this number of times."""
        reported = []
        while self.unanswered and most:
            most -= 1
            reported.append(self.answer(far))
        return reported

    def channel(self) -> Any:
        """Return the only channel of the client under test."""
        (channel,) = self.httpr.state.channels.values()
        return channel

    def client_channel(self) -> Any:
        """Return the client agent's row of the channel."""
        (channel,) = self.httpr.state.client.channels.values()
        return channel

    def link(self) -> Link:
        """Return the link of the only outgoing queue."""
        (queue,) = self.state.names.outgoing.values()
        assert queue.link is not None, "an outgoing queue has a link"
        return queue.link
