"""Begins and ends the stream of an outgoing queue, [MC-MQSRM] 3.1.7.2.3 and 3.1.7.6.

    numbered --> awaits a stream receipt --> done
        |                |  |  '-----------> awaits its final receipt, if it asked for dead letters
        |                |  |                    |--> done          (positive)
        '-- goes again --'  |                    '--> dead letter   (negative)
                            '--> refused or expired: dead letter, and the next number bridges the gap

A number is assigned once, and is on disk before the message leaves.  With the last number the stream
ends; the next message begins another.  A number 1 that did not arrive ends its stream: later numbers
mean nothing to a receiver that never saw the start, so the rest begins a new stream.  A number 1 that
was answered with 200 has arrived, and the stream continues without it, even if no receipt comes.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.turn import Warn
from reliquary.protocols.srmp.sender.resending import go_again, report_taken, stop_wait
from reliquary.protocols.srmp.state import Session, State
from reliquary.queueing.model.message import MessageClass, ObjectId
from reliquary.queueing.model.travel.transfer import Outcome, TransferEnded
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.apply import apply
from reliquary.streams.facts import NumbersFreed, StreamBegun, StreamEnded
from reliquary.streams.numbering import in_order, renumber
from reliquary.streams.outgoing import Sent
from reliquary.streams.progress import progressed
from reliquary.streams.tables import OutgoingStream

_ORIGIN: Final = 0x7FFFFFFF
"""The mask for the part of another manager's GUID that is kept in a key; a row has no longer numbers."""


def final_key(identifier: ObjectId, sender: UUID) -> int:
    """Return the number that identifies a message that waits for its final receipt.

    Of a message of this manager it is the number in its identifier; of one that another protocol brought, its
    origin counts too, because two managers may assign one number.
    """
    if identifier.lineage == sender:
        return identifier.uniquifier
    return (identifier.lineage.int & _ORIGIN) << 32 | identifier.uniquifier


def begin(state: State, queue: int, stream: OutgoingStream) -> None:
    """Assign this stream to a queue (SR-126)."""
    apply(state, StreamBegun(queue, stream))
    session = state.sender.sessions.get(queue)
    if session is not None:
        session.start_counting()


def make_room(state: State, session: Session, sent: Sent) -> None:
    """Report accepted messages to the manager, as long as few enough wait for a receipt.

    All are reported if the lowest number has yet to be posted: a transaction that began early and ended
    late has low LookupIdentifiers and high numbers, and no receipt comes before that number has arrived.
    """
    room = state.settings.window - (sent.awaiting - len(session.withheld))
    if room < len(session.withheld):
        lowest = sent.at(sent.first_awaiting())
        if lowest not in session.taken and lowest not in session.posted:
            room = len(session.withheld)
    report_taken(state, session, room)


def free(state: State, queue: int, lookup_ids: tuple[int, ...], reason: MessageClass) -> None:
    """Forget messages of a stream that have left the queue (Stream Element Removed, SR-306)."""
    apply(state, NumbersFreed(queue, lookup_ids))
    sent, session = state.sent[queue], state.sender.sessions.get(queue)
    if not sent.numbers:
        end(state, queue, session)
        if session is not None and session.has_unposted:
            go_again(state, session)
    elif sent.start_is_lost:
        _lose_start(state, queue, session, sent, reason)
    else:
        let_others_go(state, session, sent)
    if session is not None and reason.is_failure:  # a receipt shows this by itself
        now_sent = state.sent.get(queue) or Sent(sent.stream)
        state.draft.signal(progressed(queue, now_sent, session.progress, session.wait))


def let_others_go(state: State, session: Session | None, sent: Sent) -> None:
    """Release the messages that waited behind a closed stream, once all of it is confirmed."""
    if sent.stream.closed and not sent.awaiting and session is not None and session.has_unposted:
        go_again(state, session)


def end(state: State, queue: int, session: Session | None) -> None:
    """End the stream, in which no further message is sent (SR-135)."""
    apply(state, StreamEnded(queue))
    if session is not None:
        stop_wait(state, session)


def _lose_start(state: State, queue: int, session: Session | None, sent: Sent, reason: MessageClass) -> None:
    """End a stream whose number 1 is lost without a receipt, because no receiver would take the others."""
    # DEPARTS from 3.1.7.2.3 (SR-076): the rest begins a new stream, because its numbers would be
    # ignored permanently; its identifier then shows a message that did arrive, to the receiver and
    # here.
    end(state, queue, session)
    about = session.destination if session is not None else f"outgoing queue {queue}"
    what = "the first message of a stream is lost and no receipt came"
    rest = in_order(sent)
    if sent.stream.closed or state.settings.dead_letter_stream:
        reason = NOT_KNOWN if sent.stream.closed else reason
        state.draft.ask(Warn(about, what, f"{len(rest)} messages after it are given up"))
        state.draft.signal(TransferEnded(queue, rest, Outcome.REFUSED, reason, by_receipt=True))
        if session is not None:
            forget(session, rest)
        return
    state.draft.ask(Warn(about, what, f"{len(rest)} messages after it begin a new one"))
    renumber(state, queue, sent, rest)
    if session is not None:
        session.start_counting()
        go_again(state, session)


def forget(session: Session, lookup_ids: tuple[int, ...]) -> None:
    """Forget that these messages are under way; an answer to their POST has no effect any more."""
    for lookup_id in lookup_ids:
        session.posted.pop(lookup_id, None)
        session.withheld.pop(lookup_id, None)
    session.taken.difference_update(lookup_ids)
