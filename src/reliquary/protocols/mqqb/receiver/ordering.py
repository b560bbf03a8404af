r"""Sends order acknowledgements for streams, and final acknowledgements for single messages.

[MS-MQQB] 3.1.1.6.2, 3.1.5.8.6, 3.1.6.9 and 3.1.7.2.2.

    order    all messages of a stream up to a number were taken or refused; express, cumulative, made anew
             from the stream whenever it is sent, so no crash loses it (G-40)
    final    how one message left its queue; its sender asks only once, so it is a recoverable message in the
             outgoing queue PRIVATE=<sender>\4, written with the removal that it reports
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.time import SECOND, Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer, Warn
from reliquary.protocols.mqqb.codec.acks import LABEL, ORDER_QUEUE_NUMBER
from reliquary.protocols.mqqb.sender.transmitting import pump
from reliquary.protocols.mqqb.sessions.opening import address_of_sender, dial, session_of_sender, session_to
from reliquary.protocols.mqqb.state import Count, Entry, Session, State, Weight
from reliquary.protocols.mqqb.tables import NAME
from reliquary.queueing.model.message import FOREVER, Delivery, Message, MessageClass, ObjectId, SequenceId
from reliquary.queueing.model.names.formats import PrivateName
from reliquary.queueing.model.travel.transfer import ArrivalJudged, MessageArrived, Outcome, ReceiptDue
from reliquary.streams.incoming import Incoming
from reliquary.wire.packet.ordering import FinalBody

ORDER_ACK: Final = "mqqb-order-ack"
"""The Order Ack Send Timer, one for each incoming stream."""
DIAL_AGAIN: Final = Duration(30 * SECOND)
"""The pause before a sender is dialled again for an order acknowledgement."""
MOST_DIALS: Final = 3
"""The most attempts to dial a sender for an order acknowledgement; then its next session gets it."""
MOST_PEERS: Final = 10_000
"""The most senders whose messages another peer brings and that are recorded."""
LONGEST_DELAY: Final = 10 * SECOND
"""The longest wait of an order acknowledgement for those of refused messages that go over its session."""
ELSEWHERE: Final = Duration(2 * SECOND)
"""The pause before it is tried again, if those go over another session, which may be broken."""
MARK: Final = "MQQB:"
"""The beginning of TransactionStatusQueue in a message that this protocol brought in a stream."""
REPORTED: Final[frozenset[MessageClass]] = frozenset(
    {
        MessageClass.ACK_RECEIVE,
        MessageClass.NACK_PURGED,
        MessageClass.NACK_QUEUE_DELETED,
        MessageClass.NACK_QUEUE_PURGED,
        MessageClass.NACK_RECEIVE_TIMEOUT,
        MessageClass.NACK_RECEIVE_REJECTED,
        MessageClass.NACK_SOURCE_COMPUTER_GUID_CHANGED,
    }
)
"""The reasons why a message left its queue that are reported to its sender (3.1.7.2.2)."""


def mark_of(address: str) -> str:
    """Return TransactionStatusQueue of a message that came from this address in a stream."""
    return MARK + address


def brought(message: Message) -> bool:
    """Return whether this protocol brought a message in a stream."""
    return message.sequence is not None and message.transaction_status_queue.startswith(MARK)


def note_peer(state: State, sender: UUID, peer: UUID) -> None:
    """Record which peer brought a message of a sender, because acknowledgements may take the way back."""
    peers = state.receiver.peers
    if sender != peer and peers.get(sender) != peer:
        peers[sender] = peer
        if len(peers) > MOST_PEERS:
            del peers[next(iter(peers))]


# -- a stream got further


def expect(state: State, incoming: Incoming, now: Instant) -> None:
    """Acknowledge an accepted message of a stream, now or after more messages (QB-130, QB-131)."""
    if incoming.is_receipt_due(state.receiver.coalescing, now):
        if incoming.waiting:
            state.draft.ask(CancelTimer((ORDER_ACK, incoming.place)))
        send_order_ack(state, incoming, now)
    elif not incoming.waiting:
        _wait(state, incoming, now)


def repeat(state: State, incoming: Incoming, now: Instant) -> None:
    """Acknowledge a repeated message of a stream soon, because the first acknowledgement may be lost."""
    if not incoming.waiting:
        _wait(state, incoming, now)


def _wait(state: State, incoming: Incoming, now: Instant) -> None:
    span = incoming.wait(
        state.receiver.coalescing, now
    )  # QB-162: the time of the last one is that of a start
    state.draft.ask(SetTimer((ORDER_ACK, incoming.place), span))


def on_order_ack_timer(state: State, place: int, now: Instant) -> None:
    """Acknowledge when Order Ack Send Timer fires (QB-142, QB-303).

    A recent message extends the wait (QB-161).
    """
    incoming = state.places[place]
    coalescing = state.receiver.coalescing
    quiet = now - incoming.stream.accessed
    if 0 <= quiet < coalescing.delay and not incoming.is_receipt_due(coalescing, now):
        left = min(coalescing.delay - quiet, incoming.unreceipted_since + coalescing.longest - now)
        state.draft.ask(SetTimer((ORDER_ACK, place), Duration(max(left, 1))))
        return
    send_order_ack(state, incoming, now)


def send_order_ack(state: State, incoming: Incoming, now: Instant) -> None:
    """Put the order acknowledgement of a stream into the outbox of a session with its sender.

    Without a session it waits: the sender is dialled a few times, and its next session gets it (T-70).
    """
    sender, place = incoming.key[0], incoming.place
    session = session_of_sender(state, sender, incoming.stream.receipts_to)
    delay = Duration(0) if session is None else _delay(state, incoming, session, now)
    if delay:
        incoming.waiting = True
        state.draft.ask(SetTimer((ORDER_ACK, place), delay))
        return
    incoming.receipted()
    if session is not None:
        state.receiver.owed.pop(place, None)
        _put(session, incoming)
        pump(state, session, now)
        return
    # DEPARTS from 3.1.6.9 (QB-303): without a session the acknowledgement is sent later, because
    # the sender would keep its messages and send them again (G-40).
    dials = state.receiver.owed.get(place, 0)
    state.receiver.owed[place] = dials + 1
    if dials < MOST_DIALS and state.online and state.addressed:
        address = address_of_sender(state, sender)
        if address and session_to(state, address) is None:
            dial(state, address, now)
        incoming.waiting = True
        state.draft.ask(SetTimer((ORDER_ACK, place), DIAL_AGAIN))


def _delay(state: State, incoming: Incoming, session: Session, now: Instant) -> Duration:
    """Return how long an order acknowledgement waits until it is tried again; 0 if it can leave.

    It confirms refused messages too (QB-131), so a sender that got it first would take them for delivered.
    After a restart it waits for all final acknowledgements that are left from before, because only their
    outgoing queue knows which of them report refusals.  The wait is limited while they go over the session
    of the order acknowledgement, which cannot overtake them there.
    """
    receiver, place, sender = state.receiver, incoming.place, incoming.key[0]
    if not receiver.has_refused(sender):
        receiver.delayed_since.pop(place, None)
        return Duration(0)
    number, since = receiver.delayed_since.get(place, (0, now))
    is_here = _are_finals_on(state, session, sender)
    if number != session.number or not is_here:
        since = now
    receiver.delayed_since[place] = (session.number, since)
    if not is_here:
        return max(receiver.coalescing.delay, ELSEWHERE)
    return receiver.coalescing.delay if 0 <= now - since < LONGEST_DELAY else Duration(0)


def _are_finals_on(state: State, session: Session, sender: UUID) -> bool:
    """Return whether the final acknowledgements for a sender go over this session.

    Their own session may be broken without notice.  When its peer has been silent for too long, it is closed,
    and they are sent on another one.
    """
    queue = state.sender.queue_to.get(str(PrivateName(sender, ORDER_QUEUE_NUMBER)))
    outgoing = None if queue is None else state.sender.queues.get(queue)
    return outgoing is None or (outgoing.session == session.number and not outgoing.parked)


def _put(session: Session, incoming: Incoming) -> None:
    """Put an order acknowledgement into the outbox of a session, once."""
    if incoming.place not in session.order_acks:
        session.outbox.append(Entry(Weight.ORDER_ACK, place=incoming.place))
    session.order_acks[incoming.place] = (incoming.stream.number, incoming.stream.last)


def on_session_open(state: State, session: Session, now: Instant) -> None:
    """Send the order acknowledgements that waited for a session with this peer."""
    for place in list(state.receiver.owed):
        incoming = state.places[place]
        if session_of_sender(state, incoming.key[0], incoming.stream.receipts_to) is session:
            if incoming.waiting:
                state.draft.ask(CancelTimer((ORDER_ACK, place)))
            send_order_ack(state, incoming, now)


def on_addressed(state: State, now: Instant) -> None:
    """Acknowledge messages that were taken before a restart and are not acknowledged (T-69)."""
    for incoming in state.places:
        if incoming.stream.last > incoming.stream.acknowledged and not incoming.waiting:
            _wait(state, incoming, now)


# -- a message left its queue


def on_receipt_due(state: State, signal: ReceiptDue, now: Instant) -> None:
    """Send the final acknowledgement of a stream's message that left its queue (QB-306, QB-308).

    A message that never was in a queue was answered before (`messages.judged`).
    """
    del now
    # DEPARTS from 3.1.7.2.2 (QB-308): only messages of streams are reported, because others have no number
    # that a final acknowledgement could name (G-47).
    if signal.queue and signal.reason in REPORTED:
        conclude(state, signal.message, signal.reason)


def conclude(state: State, message: Message, reason: MessageClass) -> None:
    """Write a final acknowledgement (QB-319, QB-321) in the turn of the event that it reports."""
    sequence = message.sequence or SequenceId(0, 0)
    sender = message.source_machine
    body = FinalBody(
        sequence.timestamp << 32 | sequence.ordinal,
        message.sequence_number,
        message.previous_sequence_number,
        sender,
        message.identifier.uniquifier,
    )
    is_direct = message.destination_queue.upper().startswith("DIRECT=")
    ack = Message.of(
        message_class=reason,
        delivery=Delivery.RECOVERABLE,
        priority=0,
        label=LABEL,
        body=body.encode(),
        time_to_reach_queue=FOREVER,
        correlation=ObjectId(sender, message.identifier.uniquifier),
        # if it is set, the order queue gets a direct name in the packet (QB-322)
        carrier_header=message.transaction_status_queue.removeprefix(MARK) if is_direct else "",
    )
    receiver = state.receiver
    receiver.last_ticket += 1
    destination = f"PRIVATE={sender}\\{ORDER_QUEUE_NUMBER:08x}"
    never_arrived = MessageClass.NACK_BAD_DEST_QUEUE <= reason < MessageClass.NACK_QUEUE_DELETED
    receiver.finals[receiver.last_ticket] = (destination, sender, never_arrived)
    if never_arrived:
        receiver.refusals.add(sender)
    state.draft.signal(MessageArrived(NAME, (receiver.last_ticket, 0), destination, ack))


def on_final_judged(state: State, signal: ArrivalJudged) -> bool:
    """Count a final acknowledgement that the manager took, or warn; return False for anything else."""
    final = state.receiver.finals.pop(signal.ticket[0], None)
    if final is None:
        return False
    destination, sender, never_arrived = final
    taken = signal.outcome is Outcome.DELIVERED
    if never_arrived and not taken:
        state.receiver.refusals.remove(sender)
    state.counts[Count.FINAL_ACKS_SENT if taken else Count.FINAL_ACKS_LOST] += 1
    if not taken:
        what = "a final acknowledgement was not sent"
        state.draft.ask(Warn(destination, what, signal.reason.name.lower().replace("_", "-")))
    return True
