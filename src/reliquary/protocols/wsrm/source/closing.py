"""Ends a sequence: it finds the outcome of all messages, and lets the peer forget the sequence.

            WS-RM 1.1                                   WS-RM 1.0
all is      CloseSequence ... Final acknowledgement     LastMessage ... its acknowledgement
there       TerminateSequence ... its response          TerminateSequence
something   CloseSequence ... Final acknowledgement     AckRequested ... the acknowledgement in its response,
is missing                                              or LastMessage, where it comes by itself
            TerminateSequence ... its response          TerminateSequence ... in its response, at the latest

Messages without the last acknowledgement never arrived: they continue in the next sequence, in order.  So no
message has a second number while it may have arrived under the first.  A message that was sent too often is
given up.  After the close nothing is sent again except the close itself, a limited number of times.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.wsrm.codec.values import (
    CloseSequence,
    Envelope,
    Incomplete,
    Payload,
    SequenceHeader,
    TerminateSequence,
    Version,
)
from reliquary.protocols.wsrm.source.apply import apply
from reliquary.protocols.wsrm.source.facts import SequenceClosing, SequenceDecided, SequenceEnded
from reliquary.protocols.wsrm.source.flow import FlowEvent
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.polling import flow_happens
from reliquary.protocols.wsrm.source.posting import (
    ack_request,
    can_post,
    is_posted,
    lifecycle,
    post,
    session_of,
)
from reliquary.protocols.wsrm.source.posts_due import schedule_posts
from reliquary.protocols.wsrm.source.sessions import clean_up, fail
from reliquary.protocols.wsrm.source.silence import is_silent
from reliquary.protocols.wsrm.source.state import Flight, Posted, Purpose, Sequence, Session
from reliquary.protocols.wsrm.source.waits import start_wait, stop_wait
from reliquary.protocols.wsrm.source.ways import SendingMode
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.message import Message, MessageClass
from reliquary.queueing.model.travel.link import ConnectionStatus
from reliquary.queueing.model.travel.transfer import Outcome, TransferEnded
from reliquary.queueing.rules.era import NOT_KNOWN

LAST_MESSAGE: Final = "http://schemas.xmlsoap.org/ws/2005/02/rm/LastMessage"
"""The action of the empty message that ends a sequence of WS-RM 1.0."""
LAST_MESSAGES: Final = 8
"""How often LastMessage is sent again to a peer that acknowledges without it, because of a gap."""
GIVEN_UP: Final = MessageClass.NACK_REACH_QUEUE_TIMEOUT
"""The reason for a message that was sent as often as is allowed."""
CLIENT_GONE: Final = MessageClass.NACK_BAD_DEST_QUEUE
"""The reason for a message to a client whose sequence has ended."""


# -- close


def close(state: State, sequence: Sequence, now: Instant) -> None:
    """Send no more messages, and request the last acknowledgement."""
    flow_happens(state, sequence, FlowEvent.TERMINATED)  # FC-044
    # an acknowledgement of LastMessage is newer than all messages; AckRequested is answered in its
    # response
    separate = session_of(state, sequence).peer.addressable
    last_message = sequence.row.dialect.version is Version.RM10 and (separate or not sequence.flights)
    last_message = last_message and not sequence.row.restored  # its number may be that of a message
    apply(state, SequenceClosing(sequence.number, last_message))
    sequence.due.clear()
    sequence.tries = sequence.timeouts = 0
    sequence.heard_last = sequence.terminates_for_last_ack = False
    _ask_close(state, sequence, now)


def close_again(state: State, sequence: Sequence, now: Instant) -> None:
    """Request the last acknowledgement again after a time-out, or give up the missing messages."""
    session = session_of(state, sequence)
    if is_posted(session, sequence, Purpose.CLOSE):
        start_wait(state, sequence, now)
        return
    most = min(state.settings.retries, LAST_MESSAGES) if sequence.heard_last else state.settings.retries
    if sequence.tries <= most:
        sequence.timeouts += 1
        _ask_close(state, sequence, now)
    else:
        ask_at_the_end(state, sequence, now)


def ask_at_the_end(state: State, sequence: Sequence, now: Instant) -> None:
    """Request the last acknowledgement with the response to TerminateSequence, which WS-RM 1.0 allows.

    gSOAP writes it only there if acknowledgements are sent on responses.
    """
    row, session = sequence.row, session_of(state, sequence)
    asks = (
        row.dialect.version is Version.RM10 and not row.last_message and not sequence.terminates_for_last_ack
    )
    if asks and not sequence.heard_last and can_post(state, session):
        sequence.terminates_for_last_ack = True
        _ask_close(state, sequence, now)
    else:
        decide(state, sequence, now, give_up=not sequence.heard_last)


def _ask_close(state: State, sequence: Sequence, now: Instant) -> None:
    row, session = sequence.row, session_of(state, sequence)
    if not can_post(state, session):
        return
    if row.dialect.version is Version.RM11:
        body = CloseSequence(row.identifier, _last_number(sequence))
        envelope = lifecycle(state, session, sequence, body, now)
    elif row.last_message:
        envelope = _last_message(sequence)
    elif sequence.terminates_for_last_ack:
        envelope = lifecycle(state, session, sequence, TerminateSequence(row.identifier), now)
    else:
        envelope = ack_request(sequence)
    sequence.tries += 1
    post(state, session, envelope, Posted(Purpose.CLOSE, row.number))
    start_wait(state, sequence, now)


def _last_number(sequence: Sequence) -> int:
    """Return the value of LastMsgNumber; 0 omits it, because the peer may know a higher number."""
    return 0 if sequence.row.restored else sequence.row.last


def _last_message(sequence: Sequence) -> Envelope:
    row = sequence.row
    return Envelope(
        dialect=row.dialect,
        action=LAST_MESSAGE,
        to=row.target,
        sequence=SequenceHeader(row.identifier, row.last, last=True),
        ack_requests=(row.identifier,),
        body=Payload(),
    )


# -- terminate


def decide(state: State, sequence: Sequence, now: Instant, *, give_up: bool = False) -> None:
    """Decide that unacknowledged messages did not arrive, and let the peer forget the sequence.

    With `give_up` it is unknown whether they arrived: they become dead letters, because they could
    arrive twice.
    """
    session = session_of(state, sequence)
    if sequence.phase is Phase.OPEN:
        flow_happens(state, sequence, FlowEvent.TERMINATED)  # FC-044
    flights = list(sequence.flights.values())
    _warn_of_discards(state, sequence)
    apply(state, SequenceDecided(sequence.number))
    stop_wait(state, sequence)
    sequence.tries = sequence.timeouts = 0
    _count_fruitless(session, sequence, flights)
    _release(state, session, flights, sequence, give_up=give_up)
    terminate(state, sequence, now)
    schedule_posts(state, session.queue)


def _count_fruitless(session: Session, sequence: Sequence, flights: list[Flight]) -> None:
    """Count the attempts of messages that a silent peer takes and never acknowledges."""
    session.unacknowledged_sequences = (
        0 if sequence.row.acknowledged or not is_silent(session) else session.unacknowledged_sequences + 1
    )
    if flights:
        flights[0].retries = max(flights[0].retries, session.unacknowledged_sequences)


def _warn_of_discards(state: State, sequence: Sequence) -> None:
    """Warn if the peer discards messages that it acknowledged, because they follow a gap."""
    first = next(iter(sequence.flights), 0)
    discards = sequence.row.incomplete in (Incomplete.FOLLOWING, Incomplete.ENTIRE)
    lost = sum(high - low + 1 for low, high in sequence.acknowledged if high > first) if first else 0
    if discards and lost:
        why = f"{lost} acknowledged messages are behind message {first}, which did not arrive"
        state.draft.ask(Warn(sequence.row.destination, "the peer discards what is behind a gap", why))


def terminate(state: State, sequence: Sequence, now: Instant) -> None:
    """Send TerminateSequence, first or again; after the last attempt the sequence is forgotten."""
    row, session = sequence.row, session_of(state, sequence)
    if (
        session.way.kind is not SendingMode.DIAL
        or sequence.terminates_for_last_ack
        or sequence.tries > state.settings.retries
    ):
        gone(state, sequence)
    elif is_posted(session, sequence, Purpose.TERMINATE):
        start_wait(state, sequence, now)
    elif can_post(state, session):
        last = _last_number(sequence) if row.dialect.version is Version.RM11 else 0  # as in CloseSequence
        body = TerminateSequence(row.identifier, last)
        sequence.tries += 1
        sequence.timeouts = sequence.tries - 1
        envelope = lifecycle(state, session, sequence, body, now)
        post(state, session, envelope, Posted(Purpose.TERMINATE, row.number))
        start_wait(state, sequence, now)


def gone(state: State, sequence: Sequence) -> None:
    """Forget a sequence whose messages all have their outcome."""
    session = session_of(state, sequence)
    stop_wait(state, sequence)
    apply(state, SequenceEnded(sequence.number))
    _tidy(state, session)


def _tidy(state: State, session: Session) -> None:
    """Close the session of a queue that has no sequence and nothing to send."""
    sequences = state.source.sequences.values()
    if session.waiting or any(each.row.queue == session.queue for each in sequences):
        schedule_posts(state, session.queue)
    else:
        clean_up(state, session)


# -- lost


def lose(state: State, sequence: Sequence, now: Instant) -> None:
    """End a sequence that the peer does not know or has terminated; its acknowledgements were applied before.

    Unacknowledged messages continue in a new sequence.  A sequence without any acknowledgement is not
    replaced at once: the queue pauses, so that a peer that forgets each new sequence is not asked
    without end.
    """
    session, row = session_of(state, sequence), sequence.row
    if row.offered_by:
        refuse(state, sequence)
        return
    flights = list(sequence.flights.values())
    flow_happens(state, sequence, FlowEvent.TERMINATED)  # FC-044
    stop_wait(state, sequence)
    apply(state, SequenceEnded(row.number))
    if row.phase is Phase.TERMINATING:
        _tidy(state, session)
        return
    why = f"{row.identifier}: {len(flights)} messages that it did not acknowledge are sent in a new sequence"
    state.draft.ask(Warn(row.destination, "the destination has ended a sequence", why))
    _release(state, session, flights, sequence)
    if row.acknowledged:
        _tidy(state, session)
    else:
        fail(state, session, ConnectionStatus.CONNECTION_REFUSED)


def refuse(state: State, sequence: Sequence) -> None:
    """Refuse the remaining messages for a client whose offered sequence has ended."""
    session = state.source.sessions.get(sequence.row.queue)
    left = list(sequence.numbers)
    flow_happens(state, sequence, FlowEvent.TERMINATED)  # FC-044
    stop_wait(state, sequence)
    apply(state, SequenceEnded(sequence.number))
    if session is not None:
        left += session.waiting
        session.waiting.clear()
        session.refusing = session.way.kind is not SendingMode.DIAL
    if left:
        ended = TransferEnded(sequence.row.queue, tuple(left), Outcome.REFUSED, CLIENT_GONE, by_receipt=True)
        state.draft.signal(ended)


def _release(
    state: State, session: Session, flights: list[Flight], sequence: Sequence, *, give_up: bool = False
) -> None:
    """Release messages from their numbers, in their order; messages that were sent too often are given up."""
    if sequence.row.restored:
        _put_aside(state, session, flights)
        return
    lost: list[int] = []
    rest: dict[int, Message] = {}
    for flight in flights:
        if flight.lookup_id and (give_up or flight.retries >= state.settings.retries):
            lost.append(flight.lookup_id)
        elif flight.lookup_id and flight.message is not None:
            rest[flight.lookup_id] = flight.message
    if session.is_open:
        session.waiting = rest | session.waiting
    if lost:
        why = f"it was sent {state.settings.retries + 1} times, and no acknowledgement came"
        ended = TransferEnded(session.queue, tuple(lost), Outcome.REFUSED, GIVEN_UP, why=why, by_receipt=True)
        state.draft.signal(ended)


def _put_aside(state: State, session: Session, flights: list[Flight]) -> None:
    """Move messages aside that the lost manager may have sent in another sequence."""
    lookup_ids = tuple(flight.lookup_id for flight in flights if flight.lookup_id)
    if lookup_ids:
        why = "its sequence ended without it, and the store was restored from a backup"
        ended = TransferEnded(session.queue, lookup_ids, Outcome.REFUSED, NOT_KNOWN, why=why, by_receipt=True)
        state.draft.signal(ended)
