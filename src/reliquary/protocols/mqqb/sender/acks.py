"""Processes order and final acknowledgements for messages of outgoing streams, [MS-MQQB] 3.1.5.6 and 3.1.5.7.

order ack    the receiver has all messages up to a number: they are done, or wait for their final ack
final ack    how one message left its destination queue: received, or a dead letter
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import SECOND, Instant
from reliquary.base.turn import Warn
from reliquary.protocols.mqqb.codec.acks import FinalAck, OrderAck
from reliquary.protocols.mqqb.sender.resending import start_wait, stop_wait
from reliquary.protocols.mqqb.sender.streams import forget, free, let_others_go, make_room
from reliquary.protocols.mqqb.state import Count, Session, SessionQueue, State
from reliquary.queueing.model.message import NO_GUID, MessageClass
from reliquary.queueing.model.travel.transfer import (
    DestinationReached,
    Outcome,
    TransferAccepted,
    TransferEnded,
)
from reliquary.streams.acknowledging import acknowledge
from reliquary.streams.apply import apply
from reliquary.streams.facts import StreamClosed
from reliquary.streams.outgoing import Sent
from reliquary.streams.progress import progressed
from reliquary.streams.tables import OutgoingStream

STRANGE: Final = "an acknowledgement was ignored"
RECEIVED: Final = 0x4000
"""ACK_RECEIVE, the one positive class of a final acknowledgement (QB-072)."""


def on_order_ack(state: State, session: Session, ack: OrderAck, now: Instant) -> None:
    """Confirm messages up to the acknowledged number (QB-224 to QB-228).

    An unknown stream is ignored (G-37).
    """
    state.counts[Count.ORDER_ACKS_RECEIVED] += 1
    # DEPARTS from 3.1.5.6 (QB-226): only the stream with this number is confirmed, because a late
    # acknowledgement would free messages of the next stream (G-37).
    queue = state.queue_of.get(ack.body.sequence)
    if queue is None:
        state.counts[Count.STRANGE_ACKS] += 1
    elif _may_acknowledge(state, session, queue):
        _acknowledge(state, queue, ack.body.number, now)


def on_final_ack(state: State, session: Session, ack: FinalAck, now: Instant) -> None:
    """End a message that left its destination queue (QB-233, QB-234); unknown messages are ignored."""
    state.counts[Count.FINAL_ACKS_RECEIVED] += 1
    body = ack.body
    queue = state.queue_of.get(body.sequence)
    if queue is None:
        queue, lookup_id = _numbered_anew(state, session, ack)
        if not queue:
            state.counts[Count.STRANGE_ACKS] += 1
            return
    else:
        sent = state.sent[queue]
        if body.source != sent.stream.sender or not _may_acknowledge(state, session, queue):  # G-45
            state.counts[Count.STRANGE_ACKS] += 1
            return
        lookup_id = sent.at(body.number)
        # it counts as an order acknowledgement too; a message that was refused is not confirmed by it
        positive = ack.message_class == RECEIVED
        _acknowledge(state, queue, body.number if positive else body.number - 1, now)
    sent_now = state.sent.get(queue)
    if sent_now is not None and lookup_id in sent_now.numbers:
        _conclude(state, queue, sent_now, lookup_id, ack.message_class)


def _conclude(state: State, queue: int, sent: Sent, lookup_id: int, message_class: int) -> None:
    """End the transfer of a message as its final acknowledgement says (G-46: every one ends its message)."""
    outgoing = state.sender.queues.get(queue)
    if outgoing is not None:
        forget(outgoing, (lookup_id,))
        outgoing.progress.unread = max(outgoing.progress.unread - 1, 0)
    positive = message_class == RECEIVED
    outcome = Outcome.DELIVERED if positive else Outcome.REFUSED
    reason = MessageClass.ACK_RECEIVE if positive else _reason(message_class)
    state.draft.signal(TransferEnded(queue, (lookup_id,), outcome, reason, by_receipt=True))
    free(state, queue, (lookup_id,), reason)
    if outgoing is not None and state.sent.get(queue) is sent:
        state.draft.signal(progressed(queue, sent, outgoing.progress, outgoing.wait))
        if not sent.awaiting:
            stop_wait(state, outgoing)


def _reason(message_class: int) -> MessageClass:
    """Return the class of a negative acknowledgement; an unknown one says that the message never arrived."""
    try:
        return MessageClass(message_class)
    except ValueError:
        return MessageClass.NACK_BAD_DEST_QUEUE


def _may_acknowledge(state: State, session: Session, queue: int) -> bool:
    """Return whether this peer is the receiver of a queue's stream; any other peer is ignored (G-65)."""
    if _is_receiver(state, session, state.sent[queue].stream):
        return True
    receiver = state.sent[queue].stream.receiver
    state.counts[Count.STRANGE_ACKS] += 1
    why = f"it comes from {session.peer}, and the stream of queue {queue} goes to {receiver}"
    state.draft.ask(Warn(session.address, STRANGE, why))
    return False


def _is_receiver(state: State, session: Session, stream: OutgoingStream) -> bool:
    """Return whether the peer of a session may acknowledge messages of a stream."""
    return state.settings.acks_from_anyone or stream.receiver in (NO_GUID, session.peer)


def _numbered_anew(state: State, session: Session, ack: FinalAck) -> tuple[int, int]:
    """Return queue and message of an acknowledgement for a stream that was given up (G-45).

    The message has another number now and is known by its MessageID; (0, 0) if that is not certain.  Only
    streams that this peer receives are searched, because each of them may have many messages.
    """
    found = [
        (queue, lookup_id)
        for queue, sent in state.sent.items()
        if sent.stream.sender == ack.body.source and _is_receiver(state, session, sent.stream)
        for lookup_id, key in sent.finals.items()
        if key == ack.body.message_id
    ]
    return found[0] if len(found) == 1 else (0, 0)


def _acknowledge(state: State, queue: int, last: int, now: Instant) -> None:
    """Confirm all messages up to a number; a repeated or late acknowledgement changes nothing."""
    sent, outgoing = state.sent[queue], state.sender.queues.get(queue)
    if last > sent.stream.last:
        if not _is_restored(state, sent.stream):
            _warn_of_unsent(state, queue, sent.stream, last)
            return
        last = sent.stream.last  # numbers after the backup were assigned by the lost manager
    if outgoing is not None:
        outgoing.progress.receipt(now)  # QB-224
    # DEPARTS from 3.1.5.6 (QB-228): no session acknowledgement is needed, because the order acknowledgement
    # may come before it, and the message would stay permanently (G-38).
    # A message that has both acknowledgements is gone (QB-207).
    confirmed = acknowledge(state, queue, last)
    if confirmed is not None:
        if outgoing is not None:
            _note_arrived(state, outgoing, sent, confirmed.arrived, now)
        if confirmed.reached:  # QB-134, QB-229
            state.draft.signal(DestinationReached(queue, confirmed.reached))
        if confirmed.done:
            # QB-132
            state.draft.signal(TransferEnded(queue, confirmed.done, Outcome.DELIVERED, by_receipt=True))
            free(state, queue, confirmed.done, MessageClass.ACK_REACH_QUEUE)
        else:
            let_others_go(state, outgoing, sent)
    if outgoing is not None:
        state.draft.signal(progressed(queue, sent, outgoing.progress, outgoing.wait))  # QB-231


def _is_restored(state: State, stream: OutgoingStream) -> bool:
    """Return whether a stream is older than the last restore of the store, so that later numbers are lost."""
    return stream.closed and stream.number >> 32 <= state.ordinals.restored // SECOND


def _warn_of_unsent(state: State, queue: int, stream: OutgoingStream, last: int) -> None:
    """Warn about an acknowledgement of unassigned numbers, and ignore it, because it would lose messages."""
    why = f"it says {last}, and {stream.last} is the last number of stream {stream.number}"
    state.draft.ask(Warn(f"outgoing queue {queue}", STRANGE, why))
    state.counts[Count.STRANGE_ACKS] += 1
    if not stream.closed:  # the receiver would take new messages for repeated ones (G-32)
        apply(state, StreamClosed(queue))


def _note_arrived(
    state: State, outgoing: SessionQueue, sent: Sent, arrived: tuple[int, ...], now: Instant
) -> None:
    """Record that messages have their order acknowledgement, some before the session acknowledgement."""
    accepted = []
    for lookup_id in arrived:
        entry = outgoing.under_way.pop(lookup_id, None)
        if entry is not None:
            entry.live = False
        reported = entry is None and lookup_id not in outgoing.withheld
        outgoing.withheld.pop(lookup_id, None)
        if not reported and lookup_id in sent.finals:
            accepted.append(lookup_id)
    if accepted:
        state.draft.signal(TransferAccepted(outgoing.queue, tuple(accepted)))
    outgoing.taken.difference_update(arrived)
    outgoing.progress.unread += len(arrived)
    outgoing.wait.progress()  # QB-225, QB-227; G-36
    make_room(state, outgoing, sent)
    if outgoing.wait.running:
        if sent.awaiting:
            start_wait(state, outgoing, now, again=True)
        else:
            stop_wait(state, outgoing)
