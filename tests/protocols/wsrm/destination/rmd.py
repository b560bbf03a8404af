"""A destination on a bench: a test is its peers and the clock, and the queue manager is a few lists.

rmd = Rmd()                        the endpoint "orders", default settings, listening as http://here.example
identifier = rmd.create()          a client creates a sequence; its identifier
rmd.send(identifier, 1, 2)         messages come; the last acknowledgement on a response, or None
rmd.post(envelope)                 any envelope comes; the response as an envelope, or None for 202
rmd.queues["orders"]               the bodies that were delivered
rmd.read("orders")                 a reader takes the oldest message: the room changes
rmd.sent                           (address, envelope) of all that went out by itself
rmd.advance(0.2)                   time passes, and timers fire
rmd.restart()                      another process, on the rows that were written
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from reliquary.base.time import Instant, seconds
from reliquary.base.turn import Effect, Fact, Reply, SetTimer, TimerName, Warn
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    CloseSequence,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Envelope,
    Fault,
    Offer,
    Payload,
    Reference,
    SequenceHeader,
    TerminateSequence,
)
from reliquary.protocols.wsrm.destination import acknowledging, creation, ending, messages, recovery, room
from reliquary.protocols.wsrm.destination.state import DestinationState, Sequence
from reliquary.protocols.wsrm.destination.tables import TABLES
from reliquary.protocols.wsrm.effects import Post
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.numbering import COUNTERS, ONLY
from reliquary.protocols.wsrm.settings import EndpointSettings, WsrmSettings
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.message import Message, MessageClass, size_of
from reliquary.queueing.model.travel.transfer import (
    BatchArrived,
    BatchJudged,
    DuplicatesDropped,
    Outcome,
    RoomKnown,
    RoomWatched,
)
from reliquary.store import MemoryDisk, StagedRows

ANONYMOUS = Reference("http://www.w3.org/2005/08/addressing/anonymous")
ADDRESS = Reference("http://client.example/acks")
POLLED = Reference("http://docs.oasis-open.org/ws-rx/wsmc/200702/anonymous?id=7")
START = Instant(1_700_000_000_000_000)
TIMERS: dict[str, Callable[[State, int, Instant], None]] = {
    acknowledging.ACKNOWLEDGE: acknowledging.on_interval,
    ending.INACTIVITY: ending.on_inactivity,
    ending.FORGET: ending.on_forget,
}
BODIES: dict[type, Callable[[State, Exchange, Any, Instant], object]] = {
    CreateSequence: creation.on_create,
    CloseSequence: ending.on_close,
    TerminateSequence: ending.on_terminate,
    Fault: ending.on_fault,
}
Verdict = tuple[Outcome, MessageClass, int, str]


class Rmd:
    """A destination with its queue manager."""

    def __init__(
        self, *, quota: int | None = None, most: dict[str, Any] | None = None, **endpoint: Any
    ) -> None:
        listed = EndpointSettings(name="orders", **endpoint)
        self.settings = WsrmSettings(endpoints=(listed,), seed=b"bench", **(most or {}))
        self.disk = MemoryDisk((COUNTERS.name, *TABLES))
        self.now = START
        self.queues: defaultdict[str, list[Message]] = defaultdict(list)
        self.batches: list[BatchArrived] = []
        """The batches of messages that were delivered."""
        self.quota = quota
        """Bytes that a queue takes."""
        self.verdict: Verdict | None = None
        """What the queue manager says to every batch, instead of its own judgement."""
        self.reports_first = False
        """Whether the queue manager reports the new room before its verdict, not after it."""
        self.watched: frozenset[str] = frozenset()
        self.duplicates: list[DuplicatesDropped] = []
        self.facts: list[Fact] = []
        self.effects: list[Effect] = []
        self.waits = False
        """Whether the answers of the last turn wait for the disk."""
        self.timers: dict[TimerName, int] = {}
        self.last_caller = 0
        self._build()

    def _build(self) -> None:
        self.rows = StagedRows(self.disk)
        self.state = State(self.rows, self.settings)
        self.state.address.origin = "http://here.example"
        self.state.counters = self.rows.get(COUNTERS, ONLY) or self.state.counters
        recovery.recover(self.state)

    def restart(self) -> None:
        """Begin another process on the rows."""
        self.timers = {}
        self._build()
        self.turn(lambda: room.on_start(self.state, self.now))

    @property
    def here(self) -> DestinationState:
        """The state of the destination."""
        return self.state.destination

    def sequence(self, identifier: str) -> Sequence:
        """Return a sequence by its identifier."""
        return self.here.sequences[self.here.by_identifier[identifier]]

    # -- turns

    def turn(self, rule: Callable[[], object]) -> None:
        """Run a rule with all signals that follow, and write the rows."""
        self.waits = False
        rule()
        self._pump()
        self.disk.apply(self.rows.take())

    def _pump(self) -> None:
        turn = self.state.draft.take()
        self.facts += turn.facts
        self.waits |= turn.waits or bool(turn.facts)
        for effect in turn.effects:
            if isinstance(effect, SetTimer):
                self.timers[effect.name] = self.now + effect.after
            else:
                self.effects.append(effect)
        for signal in turn.signals:
            if isinstance(signal, BatchArrived):
                self._judge(signal)
            elif isinstance(signal, RoomWatched):
                self.watched = signal.destinations
                for name in sorted(signal.destinations):
                    self.tell_room(name)
            elif isinstance(signal, DuplicatesDropped):
                self.duplicates.append(signal)

    def _judge(self, batch: BatchArrived) -> None:
        outcome, reason, place, why = self.verdict or self._verdict(batch)
        taken = outcome is Outcome.DELIVERED
        if taken:
            self.batches.append(batch)
            for name, message in zip(batch.destinations, batch.messages, strict=True):
                self.queues[name].append(message)
        if taken and self.reports_first:
            self._report(batch)
        exchange = self.state.turn.exchanges.pop(batch.ticket)
        exchange.judging = False
        signal = BatchJudged("wsrm", batch.ticket, outcome, reason, place, why)
        try:
            messages.on_judged(self.state, exchange, signal, self.now)
            self._acknowledge(exchange)
        except WsrmFault as refused:
            exchange.response = Envelope(dialect=exchange.envelope.dialect, body=refused.fault)
        self._finish(exchange)
        self._pump()
        if taken and not self.reports_first:
            self._report(batch)

    def _report(self, batch: BatchArrived) -> None:
        for name in sorted({*batch.destinations} & self.watched):
            self.tell_room(name)

    def _verdict(self, batch: BatchArrived) -> Verdict:
        free = self.free(batch.destinations[0])
        for place, message in enumerate(batch.messages):
            if free is not None:
                free -= size_of(message)
                if free < 0:
                    return Outcome.REFUSED, MessageClass.NACK_QUEUE_EXCEED_QUOTA, place, "full"
        return Outcome.DELIVERED, MessageClass.ACK_REACH_QUEUE, -1, ""

    # -- the queue manager

    def free(self, name: str) -> int | None:
        """Return bytes that still fit into a queue."""
        return None if self.quota is None else self.quota - sum(map(size_of, self.queues[name]))

    def tell_room(self, name: str = "orders") -> None:
        """The queue manager reports the room of a queue, inside a turn."""
        free = self.free(name)
        signal = RoomKnown("wsrm", name, len(self.queues[name]), None if free is None else max(free, 0))
        room.on_room_known(self.state, signal, self.now)
        self._pump()

    def read(self, name: str = "orders", count: int = 1) -> None:
        """Let a reader take messages from the queue, which makes room."""
        for _ in range(count):
            self.queues[name].pop(0)
        self.turn(lambda: self.tell_room(name) if name in self.watched else None)

    @property
    def bodies(self) -> list[bytes]:
        """Return the bodies of the messages in the queue of the endpoint."""
        return [message.body for message in self.queues["orders"]]

    # -- a peer

    def post(self, envelope: Envelope, **options: Any) -> Envelope | None:
        """Let an envelope come in a request; the response."""
        self.last_caller += 1
        chosen: dict[str, Any] = {"to": self.last_caller, "endpoint": "orders"} | options
        exchange = Exchange(envelope, **chosen)
        answered: list[Envelope | None] = []
        self._answered = answered
        self.turn(lambda: self._take(exchange))
        self.exchange = exchange
        return answered[0] if answered else None

    def _take(self, exchange: Exchange) -> None:
        envelope = exchange.envelope
        try:
            if envelope.sequence is not None:
                messages.on_message(self.state, exchange, self.now)
            elif type(envelope.body) in BODIES:
                BODIES[type(envelope.body)](self.state, exchange, envelope.body, self.now)
            if not exchange.judging:
                self._acknowledge(exchange)
        except WsrmFault as refused:
            exchange.response = Envelope(dialect=envelope.dialect, body=refused.fault)
        if not exchange.judging:
            self._finish(exchange)

    def _acknowledge(self, exchange: Exchange) -> None:
        for identifier in exchange.envelope.ack_requests:
            acknowledging.on_ack_requested(self.state, exchange, identifier, self.now)

    def _finish(self, exchange: Exchange) -> None:
        if not exchange.to:
            return
        written = []
        for number in dict.fromkeys(exchange.acknowledged):
            written.append(acknowledging.acknowledgement(self.state, number))
            acknowledging.sent(self.state, number)
        response = exchange.response
        if written:
            response = response or Envelope(dialect=exchange.envelope.dialect)
            response = replace(response, acknowledgements=response.acknowledgements + tuple(written))
        self._answered.append(response)

    def create(
        self,
        acks_to: Reference = ANONYMOUS,
        *,
        dialect: Dialect = Dialect(),  # noqa: B008 - it is frozen
        offer: Offer | None = None,
        message_id: str = "",
        expires: float | None = None,
        **options: Any,
    ) -> str:
        """Create a sequence; its identifier."""
        life = None if expires is None else seconds(expires)
        asked = Envelope(dialect=dialect, message_id=message_id, body=CreateSequence(acks_to, life, offer))
        response = self.post(asked, **options)
        assert response is not None
        assert isinstance(response.body, CreateSequenceResponse), response.body
        return response.body.identifier

    def send(self, identifier: str, *numbers: int, **parts: Any) -> Acknowledgement | None:
        """Let messages come, each with its number as body; the acknowledgement on the last response."""
        acknowledged = None
        for number in numbers:
            response = self.post(message(identifier, number, **parts))
            assert response is None or not isinstance(response.body, Fault), response.body
            found = () if response is None else response.acknowledgements
            acknowledged = found[-1] if found else None
        return acknowledged

    def ask(self, identifier: str, **options: Any) -> Acknowledgement | None:
        """Let AckRequested come; the acknowledgement on its response."""
        response = self.post(Envelope(dialect=Dialect(), ack_requests=(identifier,)), **options)
        return response.acknowledgements[0] if response is not None and response.acknowledgements else None

    def fault(self, envelope: Envelope, **options: Any) -> tuple[FaultCode, tuple[Acknowledgement, ...]]:
        """Let an envelope come that is refused; the code of the fault, and what is acknowledged with it."""
        before = self.durable()
        response = self.post(envelope, **options)
        assert response is not None
        assert isinstance(response.body, Fault), response.body
        assert self.durable() == before, "a refusal changed the state"
        return response.body.code, response.acknowledgements

    # -- time, and what went out

    def advance(self, span: float) -> None:
        """Let time pass, and fire the timers in their order."""
        until = self.now + seconds(span)
        while due := [(moment, name) for name, moment in self.timers.items() if moment <= until]:
            moment, name = min(due)
            self.now = Instant(max(self.now, moment))
            del self.timers[name]
            self.turn(lambda name=name: TIMERS[name[0]](self.state, name[1], self.now))  # type: ignore[misc]
        self.now = Instant(until)

    @property
    def sent(self) -> list[tuple[str, Envelope]]:
        """Return the requests that the destination sent by itself, oldest first."""
        posts = [
            (each.url, decode(each.content_type, each.body))
            for each in self.effects
            if isinstance(each, Post)
        ]
        kept = [(address, each) for address, box in self.state.backchannel.mailboxes.items() for each in box]
        return posts + kept

    @property
    def acknowledgements_sent(self) -> list[Acknowledgement]:
        """Acknowledgements that went out by themselves, oldest first."""
        return [each for _, envelope in self.sent for each in envelope.acknowledgements]

    @property
    def warnings(self) -> list[str]:
        """Return the warnings for an administrator, oldest first."""
        return [f"{each.what}: {each.why}" for each in self.effects if isinstance(each, Warn)]

    @property
    def replies(self) -> list[object]:
        """The answers that were given to administrators."""
        return [each.answer for each in self.effects if isinstance(each, Reply)]

    def durable(self) -> dict[str, Any]:
        """Return the state that another process must find again."""
        here = self.here
        return {
            "sequences": {
                number: (
                    each.row,
                    each.received,
                    list(each.ranges),
                    each.next,
                    sorted(each.buffered.items()),
                    sorted(each.requests.items()),
                )
                for number, each in here.sequences.items()
            },
            "identifiers": dict(here.by_identifier),
            "created": dict(here.created),
            "ended": list(here.ended),
            "requests": dict(here.requests),
            "open": {name: count for name, count in here.open_counts.items() if count},
        }


def message(identifier: str, number: int, **parts: Any) -> Envelope:
    """Return a message of a sequence, with its number as body."""
    last = parts.pop("last", False)
    content = parts.pop("content", b"<m>%d</m>" % number)
    chosen: dict[str, Any] = {
        "dialect": Dialect(),
        "action": "urn:test/order",
        "body": Payload(content),
    } | parts
    return Envelope(sequence=SequenceHeader(identifier, number, last), **chosen)


def numbered(*numbers: int) -> list[bytes]:
    """Return the bodies of messages with these numbers."""
    return [b"<m>%d</m>" % number for number in numbers]
