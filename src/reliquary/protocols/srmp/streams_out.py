"""A stream that goes out, [MC-MQSRM] 3.1.7.2.3, 3.1.7.6, and what its receipts say, 3.1.5.1.8 and 3.1.5.1.9.

    numbered --> awaits a stream receipt --> done
        |                |  |  '-----------> awaits its final receipt, if it asked for dead letters
        |                |  |                    |--> done          (positive)
        '-- goes again --'  |                    '--> dead letter   (negative)
                            '--> refused or expired: dead letter, and the next number bridges the gap

A number is given once, and is on disk before the message leaves.  With the last number the stream
ends; the next message begins another.  A number 1 that nobody got takes its stream with it: later
numbers mean nothing to a receiver that never saw the start, so the rest begins a new stream.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.time import Instant, in_whole_seconds
from reliquary.base.turn import Warn
from reliquary.protocols.srmp import facts
from reliquary.protocols.srmp.apply import apply
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.lexical import message_id
from reliquary.protocols.srmp.codec.values import Envelope
from reliquary.protocols.srmp.progress import tell_progress
from reliquary.protocols.srmp.sessions import go_again, start_wait, stop_wait, tell_accepted
from reliquary.protocols.srmp.state import Sent, Session, State
from reliquary.protocols.srmp.tables import OutgoingStream
from reliquary.queueing.message import MessageClass, ObjectId
from reliquary.queueing.travel.transfer import (
    DestinationReached,
    Outcome,
    TransferAccepted,
    TransferEnded,
)

LONG_AGO: Final = Instant(0)
LAST_NUMBER: Final = 0xFFFFFFFF
"""Numbers have 32 bits; a stream that has given this one is left to end."""


def next_stream(state: State, sender: UUID, now: Instant = LONG_AGO) -> OutgoingStream:
    """The stream that would begin now (SR-072, SR-262), later than all before it whatever the clock says."""
    time = max(in_whole_seconds(now), state.ordinals.timestamp)
    return OutgoingStream(time << 32 | state.ordinals.stream & 0xFFFFFFFF, sender=sender)


def begin(state: State, queue: int, stream: OutgoingStream) -> None:
    """A queue has this stream from now on (SR-126)."""
    apply(state, facts.StreamBegun(queue, stream))
    session = state.sessions.get(queue)
    if session is not None:
        session.receipts = session.unread = session.resent = session.rung = 0  # SR-267


def make_room(state: State, session: Session, sent: Sent) -> None:
    """The manager learns what was taken, as long as few enough wait for a receipt.

    It learns of all where the lowest number has yet to go: a transaction that began early and ended late
    has low LookupIdentifiers and high numbers, and no receipt comes before that number is there.
    """
    room = state.settings.window - (sent.awaiting - len(session.withheld))
    if room < len(session.withheld):
        lowest = sent.at(sent.first_awaiting())
        if lowest not in session.taken and lowest not in session.posted:
            room = len(session.withheld)
    tell_accepted(state, session, room)


# -- receipts


def on_stream_receipt(state: State, envelope: Envelope, now: Instant) -> None:
    """The receiver has all up to a number (SR-219, SR-220); one for no stream of ours says nothing."""
    receipt = envelope.stream_receipt
    assert receipt is not None, "no stream receipt"
    queue = state.queue_of.get(receipt.identifier.strip().casefold())
    if queue is not None:
        _acknowledge(state, queue, receipt.last, now)


def on_final_receipt(state: State, envelope: Envelope, now: Instant) -> None:
    """A message left its queue there (SR-227); one for none of ours is discarded (SR-228)."""
    receipt, decision = envelope.stream_receipt, envelope.commitment_receipt
    assert receipt is not None, "no stream receipt"
    assert decision is not None, "no decision"
    queue = state.queue_of.get(receipt.identifier.strip().casefold())
    if queue is not None:
        _acknowledge(state, queue, receipt.last, now)  # it was there, so all before it were
        lookup_id = state.sent[queue].at(receipt.last) if queue in state.sent else 0
    else:
        queue, lookup_id = _numbered_anew(state, envelope, decision.id)
    sent = state.sent.get(queue)
    if sent is None or not lookup_id:
        return
    session = state.sessions.get(queue)
    if session is not None:
        forget(session, (lookup_id,))
        session.unread = max(session.unread - 1, 0)  # SR-230
        tell_progress(state, session, sent)
    outcome = Outcome.DELIVERED if decision.positive else Outcome.REFUSED  # SR-231
    reason = MessageClass.ACK_RECEIVE if decision.positive else _reason(envelope)
    state.draft.tell(TransferEnded(queue, (lookup_id,), outcome, reason, by_receipt=True))
    free(state, queue, (lookup_id,), reason)


def _numbered_anew(state: State, envelope: Envelope, text: str) -> tuple[int, int]:
    """The queue and the message of a receipt for a stream that was given up: it had another number then.

    Copies of one message to several queues have one identifier; where the receipt comes from tells which.
    """
    identifier = _identifier(text)
    found = [
        (queue, lookup_id)
        for queue, sent in state.sent.items()
        if identifier is not None and sent.stream.sender == identifier.lineage
        for lookup_id, uniquifier in sent.finals.items()
        if uniquifier == identifier.uniquifier
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
    session = state.sessions.get(queue)
    return session is not None and session.route.url.casefold() == url.casefold()


def _reason(envelope: Envelope) -> MessageClass:
    """Why a message was not received, by the class of the receipt."""
    assert envelope.msmq is not None, "a final receipt has a class"
    return MessageClass(envelope.msmq.message_class)


def _acknowledge(state: State, queue: int, last: int, now: Instant) -> None:
    """Receipts are cumulative, and one that comes again or late changes nothing."""
    sent, session = state.sent[queue], state.sessions.get(queue)
    if last > sent.stream.last:
        why = f"a receipt says {last}, and {sent.stream.last} is the last number that was given"
        state.draft.ask(Warn(f"stream {sent.stream.identifier}", "a receipt for what was not sent", why))
        last = sent.stream.last
    if session is not None:
        session.receipts += 1  # SR-221
        session.receipt_time = now
    if last > sent.stream.acknowledged:
        arrived = sent.up_to(last)
        apply(state, facts.StreamAcknowledged(queue, last))
        reached = tuple(each for each in arrived if each in sent.finals)
        if session is not None:
            _progress(state, session, sent, arrived, now)
        if reached:
            state.draft.tell(DestinationReached(queue, reached))
        if len(reached) < len(arrived):  # SR-225, SR-226
            done = tuple(each for each in arrived if each not in sent.finals)
            state.draft.tell(TransferEnded(queue, done, Outcome.DELIVERED, by_receipt=True))
            free(state, queue, done, MessageClass.ACK_REACH_QUEUE)
    if session is not None:
        tell_progress(state, session, sent)
        if session.draining:  # after the above, so that nothing goes again that is there
            go_again(state, session)


def _progress(state: State, session: Session, sent: Sent, arrived: list[int], now: Instant) -> None:
    """Messages have their stream receipt, some perhaps before the answer to their POST."""
    for lookup_id in arrived:
        told = session.posted.pop(lookup_id, None) is None and lookup_id not in session.withheld
        session.withheld.pop(lookup_id, None)
        if not told and lookup_id in sent.finals:
            state.draft.tell(TransferAccepted(session.queue, lookup_id))
    session.taken.difference_update(arrived)
    session.unread += len(arrived)  # SR-222
    session.rung = session.resent = 0
    make_room(state, session, sent)
    if session.waits:
        if sent.awaiting:
            start_wait(state, session, now, again=True)
        else:
            stop_wait(state, session)


# -- messages that leave


def free(state: State, queue: int, lookup_ids: tuple[int, ...], reason: MessageClass) -> None:
    """Stream Element Removed (SR-306): messages of a stream have left the queue."""
    apply(state, facts.NumbersFreed(queue, lookup_ids))
    sent, session = state.sent[queue], state.sessions.get(queue)
    if not sent.numbers:
        _end(state, queue, session)
        if session is not None and session.held:
            go_again(state, session)
    elif not sent.stream.acknowledged and not sent.at(1):
        _lose_start(state, queue, session, sent, reason)


def _end(state: State, queue: int, session: Session | None) -> None:
    """Never is anything sent in this stream again (SR-135)."""
    apply(state, facts.StreamEnded(queue))
    if session is not None:
        stop_wait(state, session)


def _lose_start(state: State, queue: int, session: Session | None, sent: Sent, reason: MessageClass) -> None:
    """Number 1 is gone, and no receipt says that it ever arrived: no receiver would take the others."""
    # DEPARTS from 3.1.7.2.3 (SR-076): the rest begins a new stream, because its numbers would be ignored for
    # ever; what arrived after all is then known by its identifier, to its receiver and to us.
    _end(state, queue, session)
    rest = tuple(sorted(sent.numbers, key=sent.numbers.__getitem__))
    about = session.destination if session is not None else f"outgoing queue {queue}"
    what = "the first message of a stream is lost and no receipt came"
    if state.settings.dead_letter_stream:
        state.draft.ask(Warn(about, what, f"{len(rest)} messages after it are given up"))
        state.draft.tell(TransferEnded(queue, rest, Outcome.REFUSED, reason, by_receipt=True))
        if session is not None:
            forget(session, rest)
        return
    state.draft.ask(Warn(about, what, f"{len(rest)} messages after it begin a new one"))
    begin(state, queue, next_stream(state, sent.stream.sender))
    apply(state, facts.MessagesNumbered(queue, 1, rest, tuple(sent.finals.items())))
    if session is not None:
        go_again(state, session)


def forget(session: Session, lookup_ids: tuple[int, ...]) -> None:
    """Messages are not under way any more; an answer to their POST means nothing."""
    for lookup_id in lookup_ids:
        session.posted.pop(lookup_id, None)
        session.withheld.pop(lookup_id, None)
    session.taken.difference_update(lookup_ids)
