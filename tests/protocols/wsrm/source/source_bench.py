"""A queue manager and the RM source on one bench: requests go out as values, a test is the peer.

bench = SourceBench()                   a manager whose messages for SHOP go by WS-RM
bench.put("a", "b")                     messages for SHOP
bench.posts, bench.sent()               what was posted since `forget`; as envelopes
bench.open()                            answers CreateSequence
bench.acknowledge((1, 2), buffer=5)     answers all posts, the last with this acknowledgement
bench.numbers                           the message numbers of what was posted
bench.waiting()                         messages in the outgoing queue
bench.restart()                         another process over this disk
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from reliquary.base.rows import Rows
from reliquary.base.ruled import Rule, Ruled, TimerRule
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal
from reliquary.protocols.wsrm import events, numbering
from reliquary.protocols.wsrm.carrier import NAME
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import (
    NO_BUFFER,
    Acknowledgement,
    CloseSequence,
    CloseSequenceResponse,
    CreateSequence,
    CreateSequenceResponse,
    Envelope,
    Fault,
    Payload,
    TerminateSequence,
    TerminateSequenceResponse,
)
from reliquary.protocols.wsrm.effects import HangUp, Post
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.schemes import names_endpoint
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.source import (
    acknowledgements,
    answers,
    creation,
    ending,
    polling,
    posts_due,
    recovery,
    restoring,
    retransmission,
    sending,
    sessions,
    tables,
    waits,
)
from reliquary.protocols.wsrm.source.state import Sequence, Session
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model import tables as manager_tables
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.travel import transfer
from reliquary.queueing.model.travel.carriers import Carrier
from reliquary.queueing.rules.destinations import find
from reliquary.queueing.rules.outgoing import link_of
from reliquary.queueing.travel.failures import Failure
from tests.protocols.protocol_bench import ProtocolBench
from tests.queueing.state_checks import walk

SHOP = "DIRECT=WSRM://shop.example/orders"
URL = "http://shop.example/orders"
ORIGIN = "http://bench.example"
DEFAULTS = WsrmSettings()
FIRST = "urn:uuid:00000000-0000-0000-0000-000000000001"


class Came(Event, frozen=True):
    """Stands for a request of a peer to one of our endpoints."""

    envelope: Envelope


def _take(state: State, exchange: Exchange, now: Instant) -> None:
    """Hand an envelope to the rules of the source, in the order of `arrivals`."""
    for acknowledgement in exchange.envelope.acknowledgements:
        acknowledgements.on_acknowledgement(state, exchange, acknowledgement, now)
    match exchange.envelope.body:
        case CreateSequenceResponse() as body:
            creation.on_create_response(state, exchange, body, now)
        case CloseSequenceResponse() as body:
            ending.on_close_response(state, exchange, body, now)
        case TerminateSequenceResponse() as body:
            ending.on_terminate_response(state, exchange, body, now)
        case Fault() as body:
            ending.on_fault(state, exchange, body, now)
        case _:
            pass


FAULTS: list[FaultCode] = []
"""What was answered with a fault, or would have been."""


def _on_came(state: State, event: Came, now: Instant) -> None:
    try:
        _take(state, Exchange(event.envelope, to=1), now)
    except WsrmFault as fault:
        FAULTS.append(fault.fault.code)


def _on_post_ended(state: State, event: events.PostEnded, now: Instant) -> None:
    envelope = decode(event.content_type, event.body) if event.body else None
    if envelope is not None:
        try:
            _take(state, Exchange(envelope, connection=event.connection, ticket=event.ticket), now)
        except WsrmFault as fault:
            FAULTS.append(fault.fault.code)
    answers.on_post_ended(state, event, envelope, now)


def _on_addressed(state: State, event: events.Addressed, now: Instant) -> None:
    state.address.origin = event.origin
    sessions.on_addressed(state, now)


def _on_close(state: State, event: events.CloseSequence, now: Instant) -> None:
    ending.close(state, event.to, event.sequence, now)


def _on_terminate(state: State, event: events.TerminateSequence, now: Instant) -> None:
    ending.terminate(state, event.to, event.sequence, now)


_RULES: Final[dict[type[Event], Rule[State]]] = {
    Came: _on_came,
    events.PostEnded: _on_post_ended,
    events.Addressed: _on_addressed,
    events.CloseSequence: _on_close,
    events.TerminateSequence: _on_terminate,
}
_SIGNAL_RULES: Final[dict[type[Signal], Rule[State]]] = {
    transfer.ConnectionWanted: sessions.on_connection_wanted,
    transfer.SendUserMessage: sending.on_send,
    posts_due.PostsDue: sending.on_posts_due,
    transfer.MessageWithdrawn: sending.on_withdrawn,
    transfer.QueuePaused: sessions.on_paused,
    transfer.QueueResumed: sessions.on_resumed,
    transfer.ManagerOnline: sessions.on_online,
    transfer.EraBegan: restoring.on_era,
}
_TIMERS: Final[dict[str, TimerRule[State]]] = {
    waits.RETRANSMIT: retransmission.on_time_out,
    polling.POLL: polling.on_poll,
    sessions.IDLE: ending.on_idle,
}


class Source(Ruled[State]):
    """The source alone, as a machine."""

    def __init__(self, rows: Rows, settings: WsrmSettings) -> None:
        super().__init__(State(rows, settings), _RULES, _SIGNAL_RULES, _TIMERS)
        self.state.counters = rows.get(numbering.COUNTERS, numbering.ONLY) or self.state.counters
        recovery.recover(self.state)


class SourceBench(ProtocolBench):
    """A manager that sends by WS-RM; the test is its peer."""

    TABLES = (*manager_tables.TABLES, *tables.TABLES, numbering.COUNTERS.name)
    ADDRESSED = events.Addressed(ORIGIN, frozenset({"bench.example"}))
    GOES_OUT = (Post, HangUp)

    def __init__(self, *queues: str, settings: WsrmSettings = DEFAULTS, **options: Any) -> None:
        self.settings = settings
        self.processes = 0
        FAULTS.clear()
        super().__init__(*queues, **options)

    def speaks(self) -> Protocol:
        """Return a protocol that has the source alone; the seed is another in each process."""
        self.processes += 1
        settings = replace(self.settings, seed=b"process %d" % self.processes)
        return Protocol(
            name=NAME,
            machine=lambda rows: Source(rows, settings),
            signals=tuple(_SIGNAL_RULES),
            takes=tuple(_RULES),
            timers=tuple(_TIMERS),
            carrier=Carrier(name=NAME, claims=names_endpoint, reports_refusals=False),
        )

    # -- what is sent

    def put(self, *words: str, to: str = SHOP, **attributes: Any) -> None:
        """Put messages into the queue whose bodies are one element with a word in it."""
        bodies = [f"<m>{word}</m>".encode() for word in words]
        assert not self.send(to, *bodies, **attributes).status.value

    # -- what went out

    @property
    def posts(self) -> list[Post]:
        """Requests since `forget`, oldest first."""
        return [effect for effect in self.out if isinstance(effect, Post)]

    @property
    def hung_up(self) -> list[HangUp]:
        """Connections that were ended since `forget`."""
        return [effect for effect in self.out if isinstance(effect, HangUp)]

    def read(self, post: Post) -> Envelope:
        """Decode a POST as the peer does."""
        return decode(post.content_type, post.body)

    def sent(self, body: type | None = None) -> list[Envelope]:
        """Return all that was posted since `forget`, or only what has a body of this type."""
        envelopes = [self.read(post) for post in self.posts]
        return [each for each in envelopes if body is None or isinstance(each.body, body)]

    @property
    def numbers(self) -> list[int]:
        """The message numbers of what was posted since `forget`."""
        return [each.sequence.number for each in self.sent() if each.sequence is not None]

    @property
    def words(self) -> list[str]:
        """The bodies of the messages that were posted since `forget`."""
        return [word_of(each) for each in self.sent(Payload) if each.sequence is not None]

    def kinds(self) -> list[str]:
        """Return what was posted since `forget`, by the names of the bodies; messages by their numbers."""
        return [kind_of(each) for each in self.sent()]

    def forget(self) -> None:
        """Look only at what goes out from now on."""
        self.out.clear()

    def take(self) -> list[Post]:
        """Return what was posted since `forget`, and forget it."""
        posts = self.posts
        self.forget()
        return posts

    # -- what comes back

    def answer(self, post: Post, envelope: Envelope | None = None, status: int = 0) -> None:
        """Answer a request of the source."""
        encoded = None if envelope is None else encode(envelope)
        self.handle(
            events.PostEnded(
                post.connection,
                post.epoch,
                post.ticket,
                status or (202 if encoded is None else 200),
                "" if encoded is None else encoded.content_type,
                b"" if encoded is None else encoded.data,
            )
        )

    def fail(self, post: Post, failure: Failure = Failure.LOST) -> None:
        """Report that a request of the source will have no response."""
        self.handle(events.PostEnded(post.connection, post.epoch, post.ticket, failure=failure))

    def open(self, identifier: str = FIRST, **fields: Any) -> None:
        """Answer the CreateSequence that was posted."""
        [post] = [each for each in self.take() if isinstance(self.read(each).body, CreateSequence)]
        asked = self.read(post)
        body = CreateSequenceResponse(identifier, **fields)
        self.answer(post, Envelope(dialect=asked.dialect, relates_to=asked.message_id, body=body))

    def acknowledgement(
        self, *ranges: tuple[int, int], buffer: int = NO_BUFFER, final: bool = False, **fields: Any
    ) -> Envelope:
        """Return an acknowledgement of the current sequence."""
        row = self.sequence.row
        said = Acknowledgement(row.identifier, ranges, buffer=buffer, final=final, **fields)
        return Envelope(dialect=row.dialect, acknowledgements=(said,))

    def acknowledge(self, *ranges: tuple[int, int], buffer: int = NO_BUFFER, **fields: Any) -> None:
        """Answer all that was posted; the last response carries this acknowledgement."""
        *others, last = self.take()
        for post in others:
            self.answer(post)
        self.answer(last, self.acknowledgement(*ranges, buffer=buffer, **fields))

    def hear(self, *ranges: tuple[int, int], buffer: int = NO_BUFFER, **fields: Any) -> None:
        """An acknowledgement comes as a request of its own."""
        self.handle(Came(self.acknowledgement(*ranges, buffer=buffer, **fields)))

    def fault(self, post: Post, code: FaultCode, identifier: str = FIRST, status: int = 400) -> None:
        """Answer a request with a fault."""
        envelope = Envelope(dialect=self.read(post).dialect, body=Fault(code, identifier=identifier))
        self.answer(post, envelope, status)

    # -- how things stand

    @property
    def wsrm(self) -> State:
        """The state of the WS-RM source under test."""
        return self.machine(Source).state

    @property
    def sequence(self) -> Sequence:
        """The sequence that goes to SHOP."""
        found = self.wsrm.source.of_queue(self.outgoing().number)
        assert found is not None, "there is no sequence"
        return found

    @property
    def session(self) -> Session:
        """The source's session to the address SHOP."""
        return self.wsrm.source.sessions[self.outgoing().number]

    def outgoing(self, destination: str = SHOP) -> QueueState:
        """Return the outgoing queue of a destination."""
        found = find(self.state, destination)
        assert found is not None, f"nothing was ever sent to {destination}"
        return found

    def link(self, destination: str = SHOP) -> Any:
        """Return the link of an outgoing queue."""
        return link_of(self.outgoing(destination))

    def waiting(self, destination: str = SHOP) -> int:
        """Return how many messages an outgoing queue has; 0 if the queue was deleted."""
        queue = find(self.state, destination)
        return 0 if queue is None else len(walk(queue)) + len(queue.order.locked)


def durable(state: State) -> dict[str, Any]:
    """Return the state that must be equal in another process."""
    source = state.source
    return {
        "rows": {number: sequence.row for number, sequence in source.sequences.items()},
        "acknowledged": {number: each.acknowledged for number, each in source.sequences.items()},
        "numbers": {
            number: {place: flight.lookup_id for place, flight in each.flights.items()}
            for number, each in source.sequences.items()
        },
        "by lookup id": {number: each.numbers for number, each in source.sequences.items()},
        "identifiers": source.by_identifier,
        "creations": source.by_create_id,
        "current": source.current,
    }


def kind_of(envelope: Envelope) -> str:
    """Name an envelope: a message by its number, the others by their bodies."""
    if envelope.sequence is not None:
        return (
            f"LastMessage {envelope.sequence.number}"
            if envelope.sequence.last
            else str(envelope.sequence.number)
        )
    if isinstance(envelope.body, Payload):
        return "AckRequested" if envelope.ack_requests else "nothing"
    return type(envelope.body).__name__


def word_of(envelope: Envelope) -> str:
    """Return the word in the body of a message."""
    assert isinstance(envelope.body, Payload)
    return envelope.body.content.decode().removeprefix("<m>").removesuffix("</m>")


def closed(post: Post, bench: SourceBench, *ranges: tuple[int, int], final: bool = True) -> Envelope:
    """Return the response to a CloseSequence, with the last acknowledgement."""
    asked = bench.read(post)
    assert isinstance(asked.body, CloseSequence), asked.body
    identifier = asked.body.identifier
    said = Acknowledgement(identifier, ranges, final=final)
    body = CloseSequenceResponse(identifier)
    return Envelope(dialect=asked.dialect, relates_to=asked.message_id, acknowledgements=(said,), body=body)


def terminated(post: Post, bench: SourceBench) -> Envelope:
    """Return the response to a TerminateSequence."""
    asked = bench.read(post)
    assert isinstance(asked.body, TerminateSequence), asked.body
    body = TerminateSequenceResponse(asked.body.identifier)
    return Envelope(dialect=asked.dialect, relates_to=asked.message_id, body=body)
