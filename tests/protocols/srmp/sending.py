"""The sending side on a bench: what goes out is read back with the codec, receipts come as their envelopes.

bench = Sender()                     a manager whose messages for SHOP go by SRMP
bench.plain(b"a", b"b")              messages outside any stream
bench.stream(b"a", b"b")             messages of a stream, in one transaction
bench.posts, bench.places            what was posted; its `stream` elements
bench.answer_all(200)                all POSTs without an answer get one
bench.receipt(2)                     the stream receipt for the last stream, up to number 2
bench.final(1, MessageClass...)      the final receipt of its message 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from reliquary.base.time import Instant, in_whole_seconds
from reliquary.base.turn import Event, Signal, Turn
from reliquary.protocols.srmp.codec.decode import decode
from reliquary.protocols.srmp.codec.values import (
    Arrived,
    CommitmentReceipt,
    Envelope,
    Msmq,
    StreamPosition,
    StreamReceipt,
)
from reliquary.protocols.srmp.effects import EndSession, Post
from reliquary.protocols.srmp.sender.receipts import on_final_receipt, on_stream_receipt
from reliquary.protocols.srmp.state import Session, State
from reliquary.queueing.model.events import CommitTransaction, PauseQueue, ResumeQueue
from reliquary.queueing.model.message import NO_GUID, NO_OBJECT, Delivery, Message, MessageClass, ObjectId
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.travel.transfer import MessageArrived
from reliquary.queueing.rules.destinations import find
from reliquary.queueing.rules.outgoing import link_of
from reliquary.streams.outgoing import Sent
from tests.protocols.srmp.srmp_harness import SrmpBench
from tests.queueing.state_checks import check

SHOP = "DIRECT=HTTP://shop.example/msmq/private$/orders"
LARGEST = 10_000_000


class ReceiptCame(Event, frozen=True):
    """Stands for the POST that brings a receipt."""

    rule: Callable[[State, Envelope, Instant], None]
    envelope: Envelope


class Said(Event, frozen=True):
    """Stands for a turn in which another machine says something."""

    signal: Signal


class Sender(SrmpBench):
    """A manager that sends by SRMP; the test is its peer."""

    def run(self, event: Event) -> Turn:
        """Run one turn of both machines."""
        if isinstance(event, ReceiptCame):
            event.rule(self.srmp.state, event.envelope, self.now)
            return self.spread(self.srmp.state.draft.take())
        if isinstance(event, Said):
            return self.spread(Turn(signals=(event.signal,)))
        return super().run(event)

    def spread(self, turn: Turn) -> Turn:
        """Let the machines handle the signals."""
        turn = self.core._spread(turn, self.now)
        return Turn(turn.facts, turn.signals, self.keep(turn), turn.waits)

    def tell(self, signal: Signal) -> None:
        """Say something to the machines."""
        self.handle(Said(signal))

    # -- what is sent

    def plain(self, *bodies: bytes, to: str = SHOP, **attributes: Any) -> None:
        """Send messages that belong to no stream."""
        assert not self.send(to, *bodies, **attributes).status.value

    def stream(self, *bodies: bytes, to: str = SHOP, **attributes: Any) -> None:
        """Return messages of a stream, each in a transaction of its own."""
        for body in bodies:
            self.transaction(body, to=to, **attributes)

    def transaction(self, *bodies: bytes, to: str = SHOP, **attributes: Any) -> None:
        """Return messages of a stream, in one transaction."""
        transaction = self.begin()
        assert not self.send(to, *bodies, transaction=transaction, **attributes).status.value
        self.ask(CommitTransaction(0, transaction))

    def put(self, destination: str, body: bytes, **attributes: Any) -> None:
        """Put a message that came for another host, or from an earlier version, without the
        checks of a send.
        """
        number = len(self.turns)
        stamped = Message.of(
            body=body,
            identifier=ObjectId(UUID(int=5), number),
            delivery=Delivery.RECOVERABLE,
            sent_time=in_whole_seconds(self.now),
            **attributes,
        )
        self.tell(MessageArrived("srmp", (0, 0), destination, stamped))

    # -- what went out

    def arrived(self, post: Post) -> Arrived:
        """Decode a POST as the peer does."""
        return decode(post.content_type, post.body, largest=LARGEST)

    def place(self, post: Post) -> StreamPosition:
        """Return the place of a message in its stream."""
        place = self.arrived(post).envelope.stream
        assert place is not None, "no message of a stream"
        return place

    @property
    def places(self) -> list[StreamPosition]:
        """The places of all that was posted."""
        return [self.place(post) for post in self.posts]

    @property
    def numbers(self) -> list[int]:
        """The numbers of all that was posted."""
        return [place.current for place in self.places]

    def sent_bodies(self) -> list[bytes]:
        """Return the bodies of all that was posted."""
        return [self.arrived(post).body for post in self.posts]

    @property
    def ended(self) -> list[EndSession]:
        """The effects that ended a session."""
        return [effect for effect in self.out if isinstance(effect, EndSession)]

    def forget(self) -> None:
        """Look only at what goes out from now on."""
        self.out.clear()

    # -- what comes back

    def answer_all(self, status: int = 200) -> None:
        """Answer all that was posted and is still looked at, also what the answers let go."""
        self.answer_all_with(status, MessageClass.NORMAL)

    def answer_all_with(self, status: int, reason: MessageClass | None) -> None:
        """Answer all POSTs as `answer_all` does, with the reason of a refusal."""
        done = 0
        while done < len(self.posts):
            self.answer(self.posts[done], status, reason)
            done += 1
        self.forget()

    def receipt(self, last: int, stream: str = "") -> None:
        """Deliver a stream receipt to the sender."""
        receipt = StreamReceipt(identifier=stream or self.stream_id, last=last)
        self.handle(ReceiptCame(on_stream_receipt, _envelope(MessageClass.ORDER_ACK, stream_receipt=receipt)))

    def final(
        self,
        number: int,
        reason: MessageClass = MessageClass.ACK_RECEIVE,
        stream: str = "",
        *,
        about: str = "uuid:1@x",
        via: str = "",
    ) -> None:
        """Deliver a final stream receipt."""
        receipt = StreamReceipt(identifier=stream or self.stream_id, last=number)
        decision = CommitmentReceipt(decided_at=0, positive=not reason.is_failure, id=about)
        envelope = _envelope(reason, stream_receipt=receipt, commitment_receipt=decision, via=via)
        self.handle(ReceiptCame(on_final_receipt, envelope))

    # -- how things stand

    @property
    def stream_id(self) -> str:
        """Return the name of the stream that goes to SHOP."""
        return self.srmp.state.name_of(self.sent.stream)

    @property
    def sent(self) -> Sent:
        """The stream that goes to SHOP."""
        return self.srmp.state.sent[self.outgoing().number]

    @property
    def session(self) -> Session:
        """The sender's session to the address SHOP."""
        return self.srmp.state.sender.sessions[self.outgoing().number]

    def outgoing(self, destination: str = SHOP) -> QueueState:
        """Return the outgoing queue of a destination."""
        found = find(self.state, destination)
        assert found is not None, f"nothing was ever sent to {destination}"
        return found

    def waiting(self, destination: str = SHOP) -> int:
        """Return how many messages an outgoing queue has; 0 if the queue was deleted."""
        queue = find(self.state, destination)
        return len(queue.order) + len(queue.order.locked) if queue is not None else 0

    def link(self, destination: str = SHOP) -> Any:
        """Return the link of an outgoing queue."""
        return link_of(self.outgoing(destination))

    def pause(self, destination: str = SHOP) -> None:
        """Pause the outgoing queue of this destination."""
        self.ask(PauseQueue(0, destination))

    def resume(self, destination: str = SHOP) -> None:
        """Resume the outgoing queue of this destination."""
        self.ask(ResumeQueue(0, destination))

    def check(self) -> None:
        """Check that the manager and this bench agree."""
        check(self.state)
        state = self.srmp.state
        for queue, sent in state.sent.items():
            assert sent.numbers, "a stream without messages"
            assert all(sent.at(number) == lookup_id for lookup_id, number in sent.numbers.items())
            assert sent.awaiting == sum(n > sent.stream.acknowledged for n in sent.numbers.values())
            order = self.state.queues[queue].order
            gone = [lookup_id for lookup_id in sent.numbers if order.get(lookup_id) is None]
            assert not gone, f"numbers of messages that are gone: {gone}"
            acknowledged = [i for i, n in sent.numbers.items() if n <= sent.stream.acknowledged]
            assert set(acknowledged) <= set(sent.finals), (
                "acknowledged, not waiting for more, and still there"
            )


def _envelope(message_class: int, **blocks: Any) -> Envelope:
    msmq = Msmq(message_class=message_class, priority=0, source=NO_GUID, reach_by=0)
    return Envelope(
        action="MSMQ:QM Ordering Ack", to="", id="", identifier=NO_OBJECT, expires_at=0, msmq=msmq, **blocks
    )
