"""Writes receipts for senders, [MC-MQSRM] 3.1.1.3, 3.1.6.3 and 3.1.7.3.

    delivery       the message is in its queue                     asked for by deliveryReceiptRequest
    commitment     it was read, or it left the queue unread        asked for by commitmentReceiptRequest
    stream         all messages up to a number were taken          for every stream, several at a time
    final stream   the outcome of one message of a stream          asked for by DeadLetter

A receipt is a message with a special block in the header, and the manager sends it like any other.  It
leaves after the sync of the turn that wrote it, so it never confirms a message that is not on disk.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from reliquary.base.time import Instant, in_whole_seconds
from reliquary.base.turn import CancelTimer, SetTimer, Warn
from reliquary.protocols.srmp.codec.blocks import commitment_block, delivery_block, stream_receipt_block
from reliquary.protocols.srmp.codec.decode import decode_envelope
from reliquary.protocols.srmp.codec.kinds import kind_of
from reliquary.protocols.srmp.codec.messages import format_name, label_of
from reliquary.protocols.srmp.codec.values import (
    CommitmentReceipt,
    DeliveryReceipt,
    Envelope,
    MessageKind,
    StreamReceipt,
)
from reliquary.protocols.srmp.events import Addressed
from reliquary.protocols.srmp.receiver.routing import is_multicast
from reliquary.protocols.srmp.state import Count, State
from reliquary.protocols.srmp.tables import NAME
from reliquary.queueing.model.message import Delivery, Message, MessageClass
from reliquary.queueing.model.travel.transfer import ArrivalJudged, MessageArrived, Outcome, ReceiptDue
from reliquary.streams.apply import apply
from reliquary.streams.facts import StreamAdvanced
from reliquary.streams.incoming import Incoming

COALESCING: Final = "srmp-coalescing"
"""The Stream Receipt Coalescing Timer, one for each incoming stream."""

ORDERING: Final = "QM Ordering Ack"
"""The label of receipts for streams (SR-028)."""
ORDERING_PRIORITY: Final = 0

DECISIONS: Final[dict[MessageClass, bool | None]] = {
    MessageClass.ACK_RECEIVE: True,
    MessageClass.NACK_PURGED: False,
    MessageClass.NACK_QUEUE_DELETED: False,
    MessageClass.NACK_QUEUE_PURGED: False,
    MessageClass.NACK_RECEIVE_TIMEOUT: False,
    MessageClass.NACK_RECEIVE_REJECTED: False,
    MessageClass.NACK_SOURCE_COMPUTER_GUID_CHANGED: False,  # put aside after a restore
    **dict.fromkeys(
        (
            MessageClass.NORMAL,
            MessageClass.REPORT,
            MessageClass.ACK_REACH_QUEUE,
            MessageClass.ORDER_ACK,
            MessageClass.NACK_BAD_DEST_QUEUE,
            MessageClass.NACK_REACH_QUEUE_TIMEOUT,
            MessageClass.NACK_QUEUE_EXCEED_QUOTA,
            MessageClass.NACK_ACCESS_DENIED,
            MessageClass.NACK_HOP_COUNT_EXCEEDED,
            MessageClass.NACK_BAD_SIGNATURE,
            MessageClass.NACK_BAD_ENCRYPTION,
            MessageClass.NACK_COULD_NOT_ENCRYPT,
            MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE,
            MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE,
            MessageClass.NACK_UNSUPPORTED_CRYPTO_PROVIDER,
            MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER,
        )
    ),
}
"""By the reason why a message left its queue: positive, negative or no receipt (SR-297, SR-298, SR-303).

The class of the receipt is the reason itself.
"""


# -- a message is in its queue


def deliver(state: State, envelope: Envelope, now: Instant) -> None:
    """Send the delivery receipt of a message that was just stored, if it asks for one (SR-059, SR-137)."""
    if envelope.delivery_to:
        block = delivery_block(DeliveryReceipt(received_at=in_whole_seconds(now), id=envelope.id))
        _send(state, envelope.delivery_to, block, MessageClass.ACK_REACH_QUEUE, **_about(envelope))


# -- a message left its queue


def on_receipt_due(state: State, signal: ReceiptDue, now: Instant) -> None:
    """Send the commitment receipt or the final stream receipt of a deleted message, or both (3.1.7.3)."""
    if DECISIONS[signal.reason] is None:
        return
    # the requests are read from the envelope: the message has one attribute for two
    # addresses (SR-060, SR-086)
    envelope = decode_envelope(signal.message.soap_envelope)
    if kind_of(envelope) is MessageKind.USER_MESSAGE and not is_multicast(envelope.to):
        conclude(state, envelope, signal.reason, signal.message.transaction_status_queue, now)


def conclude(state: State, envelope: Envelope, reason: MessageClass, receipts_to: str, now: Instant) -> None:
    """Send the receipts that a message requests at its end; those of its stream are sent to `receipts_to`."""
    decision = DECISIONS[reason]
    assert decision is not None, f"no receipt says {reason.name}"
    block = commitment_block(
        CommitmentReceipt(decided_at=in_whole_seconds(now), positive=decision, id=envelope.id)
    )
    request = envelope.commitment
    if request is not None and (request.positive if decision else request.negative):
        _send(state, request.send_to, block, reason, **_about(envelope))
    place, msmq = envelope.stream, envelope.msmq
    if place is not None and msmq is not None and msmq.dead_letter:  # SR-144, SR-300
        position = stream_receipt_block(StreamReceipt(identifier=place.identifier, last=place.current))
        _send(
            state,
            receipts_to,
            position + block,
            reason,
            # DEPARTS from 3.1.7.3.3 (SR-300): a final receipt is durable, because its sender requests
            # it only once: if a crash lost it, the sender would wait and keep its message without end.
            delivery=Delivery.RECOVERABLE,
            label=ORDERING,
            priority=ORDERING_PRIORITY,
            response_queue=format_name(envelope.to),
        )


# -- a stream got further


def on_addressed(state: State, event: Addressed, now: Instant) -> None:
    """Send receipts soon for messages that were accepted before a restart."""
    del event
    for incoming in state.places:
        if incoming.stream.last > incoming.stream.acknowledged and not incoming.waiting:
            _wait(state, incoming, now)


def expect(state: State, incoming: Incoming, now: Instant) -> None:
    """Send the receipt of a stream after a new message, or wait for more messages (SR-142, SR-215)."""
    if incoming.is_receipt_due(state.receiver.coalescing, now):
        if incoming.waiting:
            state.draft.ask(CancelTimer((COALESCING, incoming.place)))
        _receipt(state, incoming)
    elif not incoming.waiting:
        _wait(state, incoming, now)


def repeat(state: State, incoming: Incoming, now: Instant) -> None:
    """Send a receipt soon for a repeated message of a stream, because the first receipt may be lost."""
    # DEPARTS from 3.1.5.1.6.3 (SR-211): a duplicate is not only ignored but leads to a receipt,
    # because a sender that lost the first one would send the message without end.
    if not incoming.waiting:
        _wait(state, incoming, now)


def on_coalescing(state: State, place: int, now: Instant) -> None:
    """Send a receipt when the Stream Receipt Coalescing Timer fires, 3.1.6.3; a recent message delays it."""
    incoming = state.places[place]
    left = incoming.time_left(state.receiver.coalescing, now)
    if left:
        state.draft.ask(SetTimer((COALESCING, place), left))
    else:
        _receipt(state, incoming)


def _wait(state: State, incoming: Incoming, now: Instant) -> None:
    state.draft.ask(SetTimer((COALESCING, incoming.place), incoming.wait(state.receiver.coalescing, now)))


def _receipt(state: State, incoming: Incoming) -> None:
    """Send the receipt for all accepted messages of a stream, in order (SR-139, SR-141)."""
    incoming.receipted()
    stream = incoming.stream
    # DEPARTS from 3.1.6.3 (SR-250): the receipt names the last message that was taken, not the end of a
    # run without gaps, because numbers that a sender skipped would end that run permanently.
    if stream.acknowledged != stream.last:
        apply(state, StreamAdvanced(*incoming.key, replace(stream, acknowledged=stream.last)))
    _send(
        state,
        stream.receipts_to,
        stream_receipt_block(StreamReceipt(identifier=stream.identifier, last=stream.last)),
        MessageClass.ORDER_ACK,
        label=ORDERING,
        priority=ORDERING_PRIORITY,
        response_queue=stream.format_name,
    )


# -- the message


def _about(envelope: Envelope) -> dict[str, Any]:
    """Return the attributes that a receipt copies from its message (SR-027)."""
    return {
        "label": label_of(envelope),
        "response_queue": format_name(envelope.to),
        "correlation": envelope.identifier,
    }


def _send(state: State, url: str, block: str, message_class: MessageClass, **attributes: Any) -> None:
    """Hand a receipt to the manager, for the queue that this URL names."""
    receipt = Message.of(message_class=message_class, soap_header=block, **attributes)
    receiver = state.receiver
    receiver.last_ticket += 1
    receiver.receipts[receiver.last_ticket] = url
    state.draft.signal(MessageArrived(NAME, (receiver.last_ticket, 0), format_name(url), receipt))


def on_judged(state: State, signal: ArrivalJudged) -> None:
    """Record that the manager accepted a receipt, or warn about its refusal."""
    url = state.receiver.receipts.pop(signal.ticket[0], None)
    if url is None:
        return
    sent = signal.outcome is Outcome.DELIVERED
    state.counts[Count.RECEIPTS_SENT if sent else Count.RECEIPTS_LOST] += 1
    if not sent:
        state.draft.ask(Warn(url, "a receipt was not sent", _WHY.get(signal.reason, signal.reason.name)))


_WHY: Final = {
    MessageClass.NORMAL: "the manager's quota is used up, or it is not ready",
    MessageClass.NACK_BAD_DEST_QUEUE: "it is a queue of this manager, and is not there",
    MessageClass.NACK_ACCESS_DENIED: "it is a queue of this manager that takes nothing from everyone",
    MessageClass.NACK_QUEUE_EXCEED_QUOTA: "the queue on its way is full",
    MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE: "it is a queue of this manager for transactions only",
}
"""The reason why a receipt was not sent, by the class with which the manager refused it."""
