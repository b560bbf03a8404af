"""Processes receipts for outgoing streams, [MC-MQSRM] 3.1.5.1.8 and 3.1.5.1.9.

stream receipt          the receiver has all messages up to a number: those before it are done, or wait
                        for their final receipt
final stream receipt    the outcome of one message: received, or a dead letter
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.lexical import message_id
from reliquary.protocols.srmp.codec.values import Envelope
from reliquary.protocols.srmp.sender.phases import Phase
from reliquary.protocols.srmp.sender.resending import go_again, start_wait, stop_wait
from reliquary.protocols.srmp.sender.streams import final_key, forget, free, let_others_go, make_room
from reliquary.protocols.srmp.state import Session, State
from reliquary.queueing.model.message import MessageClass, ObjectId
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


def on_stream_receipt(state: State, envelope: Envelope, now: Instant) -> None:
    """Confirm messages up to a number (SR-219, SR-220); a receipt for an unknown stream is ignored."""
    receipt = envelope.stream_receipt
    assert receipt is not None, "no stream receipt"
    queue = state.queue_of.get(receipt.identifier.strip().casefold())
    if queue is not None:
        _acknowledge(state, queue, receipt.last, now)


def on_final_receipt(state: State, envelope: Envelope, now: Instant) -> None:
    """End a message that left its destination queue (SR-227); an unknown one is ignored (SR-228)."""
    receipt, decision = envelope.stream_receipt, envelope.commitment_receipt
    assert receipt is not None, "no stream receipt"
    assert decision is not None, "no decision"
    queue = state.queue_of.get(receipt.identifier.strip().casefold())
    if queue is not None:
        _acknowledge(state, queue, receipt.last, now)  # the message was in its queue, so all before it were
        lookup_id = state.sent[queue].at(receipt.last) if queue in state.sent else 0
    else:
        queue, lookup_id = _numbered_anew(state, envelope, decision.id)
    sent = state.sent.get(queue)
    if sent is None or not lookup_id:
        return
    session = state.sender.sessions.get(queue)
    if session is not None:
        forget(session, (lookup_id,))
        session.progress.unread = max(session.progress.unread - 1, 0)  # SR-230
        state.draft.signal(progressed(session.queue, sent, session.progress, session.wait))
    outcome = Outcome.DELIVERED if decision.positive else Outcome.REFUSED  # SR-231
    reason = MessageClass.ACK_RECEIVE if decision.positive else _reason(envelope)
    state.draft.signal(TransferEnded(queue, (lookup_id,), outcome, reason, by_receipt=True))
    free(state, queue, (lookup_id,), reason)


def _numbered_anew(state: State, envelope: Envelope, text: str) -> tuple[int, int]:
    """Return queue and message of a receipt for a stream that was given up, now under another number.

    Copies of one message to several queues share an identifier; the source of the receipt identifies
    the copy.
    """
    identifier = _identifier(text)
    found = [
        (queue, lookup_id)
        for queue, sent in state.sent.items()
        if identifier is not None
        for lookup_id, key in sent.finals.items()
        if key == final_key(identifier, sent.stream.sender)
    ]
    if len(found) > 1:
        found = [each for each in found if _leads_to(state, each[0], envelope.via)]
    return found[0] if len(found) == 1 else (0, 0)


def _identifier(text: str) -> ObjectId | None:
    try:
        return message_id(text)
    except SrmpFault:
        return None


def _leads_to(state: State, queue: int, url: str) -> bool:
    session = state.sender.sessions.get(queue)
    return session is not None and session.address.url.casefold() == url.casefold()


def _reason(envelope: Envelope) -> MessageClass:
    """Return the reason why a message was not received, by the class of the receipt."""
    assert envelope.msmq is not None, "a final receipt has a class"
    return MessageClass(envelope.msmq.message_class)


def _acknowledge(state: State, queue: int, last: int, now: Instant) -> None:
    """Confirm all messages up to a number; a repeated or late receipt changes nothing."""
    sent, session = state.sent[queue], state.sender.sessions.get(queue)
    if last > sent.stream.last:
        _warn_of_unsent(state, sent.stream, last)
        last = sent.stream.last
        # a peer that has seen higher numbers would take new messages for repeated ones
        if not sent.stream.closed:
            apply(state, StreamClosed(queue))
    if session is not None:
        session.progress.receipt(now)
    confirmed = acknowledge(state, queue, last)
    if confirmed is not None:
        if session is not None:
            _note_arrived(state, session, sent, confirmed.arrived, now)
        if confirmed.reached:
            state.draft.signal(DestinationReached(queue, confirmed.reached))
        if confirmed.done:  # SR-225, SR-226
            state.draft.signal(TransferEnded(queue, confirmed.done, Outcome.DELIVERED, by_receipt=True))
            free(state, queue, confirmed.done, MessageClass.ACK_REACH_QUEUE)
        else:
            let_others_go(state, session, sent)
    if session is not None:
        state.draft.signal(progressed(session.queue, sent, session.progress, session.wait))
        # after the lines above, so that no message is sent again that has arrived
        if session.phase is Phase.DRAINING:
            go_again(state, session)


def _warn_of_unsent(state: State, stream: OutgoingStream, last: int) -> None:
    why = f"a receipt says {last}, and {stream.last} is the last number that was given"
    about = f"stream {state.name_of(stream)}"
    state.draft.ask(Warn(about, "a receipt for what was not sent", why))


def _note_arrived(state: State, session: Session, sent: Sent, arrived: tuple[int, ...], now: Instant) -> None:
    """Record that messages have their stream receipt, some before the answer to their POST."""
    for lookup_id in arrived:
        reported = session.posted.pop(lookup_id, None) is None and lookup_id not in session.withheld
        session.withheld.pop(lookup_id, None)
        if not reported and lookup_id in sent.finals:
            state.draft.signal(TransferAccepted(session.queue, (lookup_id,)))
    session.taken.difference_update(arrived)
    session.progress.unread += len(arrived)  # SR-222
    session.wait.progress()
    make_room(state, session, sent)
    if session.wait.running:
        if sent.awaiting:
            start_wait(state, session, now, again=True)
        else:
            stop_wait(state, session)
