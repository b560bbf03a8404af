"""A durable destination far away, and a network between that loses, delays, repeats and reorders.

It delivers exactly once and in order, as the specification of WS-RM has it, and knows nothing of our code but
the values: what it does was written for these tests alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    NO_BUFFER,
    Acknowledgement,
    CloseSequence,
    CloseSequenceResponse,
    CreateSequence,
    CreateSequenceResponse,
    Envelope,
    Fault,
    TerminateSequence,
    TerminateSequenceResponse,
    Version,
)
from reliquary.protocols.wsrm.effects import HangUp, Post
from reliquary.queueing.travel.failures import Failure
from tests.protocols.wsrm.source.source_bench import Came, SourceBench, word_of


@dataclass
class FarSequence:
    """What the destination knows of one sequence; all of it is durable."""

    identifier: str
    received: set[int] = field(default_factory=set)
    buffered: dict[int, str] = field(default_factory=dict)
    following: int = 1
    """The number that is delivered next."""
    closed: bool = False
    terminated: bool = False


class FarDestination:
    """A destination that delivers exactly once and in order, with a window; a bounded one counts unread
    messages.

    A silent one answers messages as gSOAP does: without an acknowledgement and without a fault.  It drops
    what comes before its time.
    """

    def __init__(
        self, *, window: int = 8, bounded: bool = False, flow_control: bool = True, silent: bool = False
    ) -> None:
        self.silent = silent
        self.window = window
        self.bounded = bounded
        self.flow_control = flow_control
        self.sequences: dict[str, FarSequence] = {}
        self.created: dict[str, str] = {}
        """Identifiers by the MessageID of CreateSequence."""
        self.delivered: list[str] = []
        self.read = 0
        """How many of them the application has read."""
        self.past_the_window = 0

    def answer(self, envelope: Envelope) -> Envelope | None:
        """Take a request and return what the response carries."""
        match envelope.body:
            case CreateSequence():
                return self._create(envelope)
            case CloseSequence(identifier):
                return self._close(envelope, identifier)
            case TerminateSequence(identifier):
                return self._terminate(envelope, identifier)
            case _:
                pass
        identifier = envelope.sequence.identifier if envelope.sequence else envelope.ack_requests[0]
        sequence = self.sequences.get(identifier)
        if self.silent:
            early = envelope.sequence and sequence and envelope.sequence.number > sequence.following
            if sequence is not None and not sequence.terminated and envelope.sequence and not early:
                self._receive(sequence, envelope)
            return None
        if sequence is None:
            return self._fault(envelope, FaultCode.UNKNOWN_SEQUENCE, identifier)
        if sequence.terminated:
            return self._fault(envelope, FaultCode.SEQUENCE_TERMINATED, identifier, sequence)
        if envelope.sequence is not None and not self._receive(sequence, envelope):
            return self._fault(envelope, FaultCode.SEQUENCE_CLOSED, identifier, sequence)
        return Envelope(dialect=envelope.dialect, acknowledgements=(self._acknowledge(sequence),))

    def _create(self, envelope: Envelope) -> Envelope:
        identifier = self.created.setdefault(envelope.message_id, f"urn:far:{len(self.created) + 1}")
        self.sequences.setdefault(identifier, FarSequence(identifier))
        body = CreateSequenceResponse(identifier)
        return Envelope(dialect=envelope.dialect, relates_to=envelope.message_id, body=body)

    def _receive(self, sequence: FarSequence, envelope: Envelope) -> bool:
        """Take a message if there is room; False where its sequence is closed."""
        header = envelope.sequence
        assert header is not None
        if header.number in sequence.received:
            return True
        if sequence.closed:
            return False
        ahead = len(sequence.buffered) + header.number - sequence.following
        if ahead >= self.window or self._room(sequence) <= 0:
            self.past_the_window += 1
            return True
        sequence.received.add(header.number)
        sequence.buffered[header.number] = "" if header.last else word_of(envelope)
        while sequence.following in sequence.buffered:
            word = sequence.buffered.pop(sequence.following)
            self.delivered += [word] if word else []
            sequence.following += 1
        return True

    def _deliver_buffered(self, sequence: FarSequence) -> None:
        """Deliver the messages after a gap when the sequence ends (NoDiscard)."""
        self.delivered += [word for _, word in sorted(sequence.buffered.items()) if word]
        sequence.buffered.clear()

    def _room(self, sequence: FarSequence) -> int:
        unread = len(self.delivered) - self.read if self.bounded else 0
        return max(self.window - unread - len(sequence.buffered), 0)

    def _acknowledge(self, sequence: FarSequence) -> Acknowledgement:
        ranges: list[tuple[int, int]] = []
        for number in sorted(sequence.received):
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1] = (ranges[-1][0], number)
            else:
                ranges.append((number, number))
        buffer = self._room(sequence) if self.flow_control else NO_BUFFER
        final = sequence.closed or sequence.terminated
        return Acknowledgement(sequence.identifier, tuple(ranges), final=final, buffer=buffer)

    def _close(self, envelope: Envelope, identifier: str) -> Envelope:
        sequence = self.sequences.get(identifier)
        if sequence is None:
            return self._fault(envelope, FaultCode.UNKNOWN_SEQUENCE, identifier)
        sequence.closed = True
        self._deliver_buffered(sequence)
        return Envelope(
            dialect=envelope.dialect,
            relates_to=envelope.message_id,
            acknowledgements=(self._acknowledge(sequence),),
            body=CloseSequenceResponse(identifier),
        )

    def _terminate(self, envelope: Envelope, identifier: str) -> Envelope | None:
        sequence = self.sequences.get(identifier)
        if sequence is not None:
            sequence.terminated = True
            self._deliver_buffered(sequence)
        if envelope.dialect.version is Version.RM10:
            return None
        body = TerminateSequenceResponse(identifier)
        return Envelope(dialect=envelope.dialect, relates_to=envelope.message_id, body=body)

    def _fault(
        self, envelope: Envelope, code: FaultCode, identifier: str, sequence: FarSequence | None = None
    ) -> Envelope:
        said = () if sequence is None else (self._acknowledge(sequence),)
        return Envelope(
            dialect=envelope.dialect,
            relates_to=envelope.message_id,
            acknowledgements=said,
            body=Fault(code, identifier=identifier),
        )


class Network:
    """Carries requests of one bench to one destination; a test decides what happens to each."""

    def __init__(self, bench: SourceBench, far: FarDestination, *, addressable: bool = False) -> None:
        self.bench = bench
        self.far = far
        self.addressable = addressable
        """Acknowledgements and responses come as requests of their own."""
        self.sent: list[Post] = []
        """POSTs that are under way to the destination, in their order."""
        self.answered: list[tuple[Post, Envelope | None]] = []
        """Responses under way to us, in their order."""
        self.strays: list[Post] = []
        """Requests of lost connections, which may still arrive."""
        self.requests: list[Envelope] = []
        """What comes as a request of its own, in any order."""
        self.heard: list[Envelope] = []
        """What came so, and may come again."""

    def collect(self) -> None:
        """Let what the source asked for leave."""
        self.bench.flush()
        for effect in self.bench.out:
            if isinstance(effect, Post):
                self.sent.append(effect)
            elif isinstance(effect, HangUp):
                self._drop(effect.connection, effect.epoch)
        self.bench.forget()

    def _drop(self, connection: int, epoch: int) -> None:
        gone = [post for post in self.sent if (post.connection, post.epoch) == (connection, epoch)]
        self.strays += gone
        self.sent = [post for post in self.sent if post not in gone]
        self.answered = [
            each for each in self.answered if (each[0].connection, each[0].epoch) != (connection, epoch)
        ]

    def arrive(self) -> bool:
        """Deliver the oldest request to the destination; return False where none is under way."""
        self.collect()
        if not self.sent:
            return False
        post = self.sent.pop(0)
        envelope = self.far.answer(self.bench.read(post))
        if self.addressable and envelope is not None:
            self.requests.append(envelope)
            envelope = None
        self.answered.append((post, envelope))
        return True

    def respond(self) -> bool:
        """Deliver the oldest response to the source; return False where none is under way."""
        self.collect()
        if not self.answered:
            return False
        post, envelope = self.answered.pop(0)
        fault = envelope is not None and isinstance(envelope.body, Fault)
        self.bench.answer(post, envelope, 400 if fault else 0)
        self.collect()
        return True

    def deliver_request(self, place: int, *, keep: bool = False) -> None:
        """Deliver one of the requests to us; with `keep` it will come again."""
        self.collect()
        if self.requests:
            envelope = self.requests[place % len(self.requests)]
            if not keep:
                self.requests.remove(envelope)
            self.bench.handle(Came(envelope))
            self.collect()

    def lose_request(self, place: int) -> None:
        """Lose one of the requests to us."""
        self.collect()
        if self.requests:
            self.requests.pop(place % len(self.requests))

    def repeat(self, place: int) -> None:
        """Deliver a request that was lost or delayed; its response is dropped."""
        self.collect()
        if self.strays:
            self.far.answer(self.bench.read(self.strays[place % len(self.strays)]))

    def break_off(self, failure: Failure) -> None:
        """Break the connection: requests that wait get no response."""
        self.collect()
        outstanding = [post for post, _ in self.answered] + self.sent
        if outstanding:
            self.bench.fail(outstanding[0], failure)
            self.collect()

    def restart(self) -> None:
        """The process of the source ends, and another one starts."""
        self.collect()
        self.strays += self.sent
        self.sent, self.answered = [], []
        self.bench.restart(crash=True)
        self.collect()

    def settle(self, *, patience: int = 400) -> None:
        """Run a network without faults until nothing waits any more."""
        for _ in range(patience):
            while self.arrive() or self.respond() or self.requests:
                self.deliver_request(0)
                self.far.read = len(self.far.delivered)
            if not self.bench.waiting():
                return
            self.bench.advance(15)
        raise AssertionError(f"{self.bench.waiting()} messages are left")
