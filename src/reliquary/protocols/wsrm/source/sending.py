"""Numbers messages and sends them, within the window and the room of the peer.

SendUserMessage ... PostsDue    the messages of a turn are numbered and posted together
PostsDue                        repeated messages are sent first, in the order of numbers; then new messages

A message gets its number when it is first sent, once: the number is on disk before the message leaves, and
after a restart the message goes under it again.  Only `closing` takes a number back.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from reliquary.base.faults import PeerFault, UsageError
from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.wsrm.codec.values import LAST_NUMBER, Envelope, SequenceHeader, Version
from reliquary.protocols.wsrm.mapping import envelope_of
from reliquary.protocols.wsrm.source import creation
from reliquary.protocols.wsrm.source.apply import apply
from reliquary.protocols.wsrm.source.closing import CLIENT_GONE, close
from reliquary.protocols.wsrm.source.facts import MessagesNumbered, MessagesWithdrawn
from reliquary.protocols.wsrm.source.flow import Polling
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.posting import can_post, is_posted, post
from reliquary.protocols.wsrm.source.posts_due import PostsDue, schedule_posts
from reliquary.protocols.wsrm.source.progress import tell_progress
from reliquary.protocols.wsrm.source.silence import is_silent, is_under_way, outstanding
from reliquary.protocols.wsrm.source.state import Flight, Posted, Purpose, Sequence, Session
from reliquary.protocols.wsrm.source.waits import keep_waiting
from reliquary.protocols.wsrm.source.ways import SendingMode, reply_reference
from reliquary.protocols.wsrm.state import Count, State
from reliquary.queueing.model.message import NO_OBJECT, Message, MessageClass
from reliquary.queueing.model.travel.transfer import MessageWithdrawn, Outcome, SendUserMessage, TransferEnded
from reliquary.queueing.rules.era import NOT_KNOWN

UNWRITABLE: Final = MessageClass.NACK_COULD_NOT_ENCRYPT
"""The reason for a message that cannot be written as an envelope; it is the nearest of the classes."""


# -- the manager


def on_send(state: State, signal: SendUserMessage, now: Instant) -> None:
    """Keep a message from the manager; one that has a number is sent again under it."""
    del now
    session = state.source.sessions[signal.queue]
    if session.refusing:
        ended = TransferEnded(signal.queue, (signal.lookup_id,), Outcome.REFUSED, CLIENT_GONE)
        state.draft.signal(ended)
        return
    sequence = state.source.of_queue(signal.queue)
    number = None if sequence is None else sequence.numbers.get(signal.lookup_id)
    if sequence is not None and number is not None:
        sequence.flights[number].message = signal.message
    elif signal.of_older_era:
        why = "it may have been sent before the store was restored from a backup"
        ended = TransferEnded(signal.queue, (signal.lookup_id,), Outcome.REFUSED, NOT_KNOWN, why=why)
        state.draft.signal(ended)
        return
    else:
        session.waiting[signal.lookup_id] = signal.message
    schedule_posts(state, signal.queue)


def on_withdrawn(state: State, signal: MessageWithdrawn, now: Instant) -> None:
    """Forget messages that expired or were purged.

    A message with a number is still sent from memory, because those behind it are not delivered before it.
    """
    del now
    session, sequence = state.source.sessions.get(signal.queue), state.source.of_queue(signal.queue)
    if session is not None:
        for lookup_id in signal.lookup_ids:
            session.waiting.pop(lookup_id, None)
    if sequence is not None:
        known = sequence.numbers
        numbers = tuple(known[each] for each in signal.lookup_ids if each in known)
        if numbers:
            apply(state, MessagesWithdrawn(sequence.number, numbers))


def on_posts_due(state: State, signal: PostsDue, now: Instant) -> None:
    """Send the messages that can be sent, for every outgoing queue with changes."""
    del signal
    queues_due, state.source.queues_due = state.source.queues_due, {}
    for queue in queues_due:
        session = state.source.sessions.get(queue)
        if session is not None and session.is_open and can_post(state, session):
            _advance(state, session, now)


def _advance(state: State, session: Session, now: Instant) -> None:
    sequence = state.source.of_queue(session.queue)
    if sequence is None:
        if session.waiting and not _leaves_messages_buffered(state, session):
            creation.begin(state, session, now)
    elif sequence.phase is Phase.CREATING:
        if not sequence.deadline and not is_posted(session, sequence, Purpose.CREATE):
            creation.ask(state, session, sequence, now)
    elif sequence.phase is not Phase.OPEN:
        return  # new messages wait for the next sequence
    elif session.way.kind is not SendingMode.DIAL:
        if session.waiting or sequence.due:
            state.turn.ready.append(sequence.number)
    elif not _winds_up(state, session, sequence, now):
        _send(state, session, sequence, now)


def _leaves_messages_buffered(state: State, session: Session) -> bool:
    """Return whether the peer buffers messages after a gap until TerminateSequence; then new ones wait.

    WS-RM 1.1 has no need of this: the peer has delivered them when CloseSequence came.
    """
    return any(
        each.row.queue == session.queue
        and each.phase is Phase.TERMINATING
        and each.row.dialect.version is Version.RM10
        and [low for low, _ in each.acknowledged] not in ([], [1])
        for each in state.source.sequences.values()
    )


def _winds_up(state: State, session: Session, sequence: Sequence, now: Instant) -> bool:
    """Close a sequence that may take no further number, once all of it is acknowledged.

    A silent peer acknowledges at the close; if an earlier close brought nothing, the time-out closes.
    """
    row = sequence.row
    if row.restored or row.last >= LAST_NUMBER or (row.renewed_at and now >= row.renewed_at):
        sequence.is_draining = True
    asks = bool(session.waiting) and not session.unacknowledged_sequences and _is_full(session, sequence)
    if asks or (sequence.is_draining and not sequence.flights):
        close(state, sequence, now)
        return True
    return False


def _is_full(session: Session, sequence: Sequence) -> bool:
    """Return whether a silent peer has taken as many messages as may be unacknowledged."""
    flights = len(sequence.flights)
    if not flights or not is_silent(session) or is_under_way(sequence):
        return False
    return flights >= limit_of(session, sequence) and not outstanding(session, sequence)


# -- what is sent


def _send(state: State, session: Session, sequence: Sequence, now: Instant) -> None:
    limit = limit_of(session, sequence)
    count = _room_for(session, sequence)
    posted = _send_again(state, session, sequence, limit, count) if sequence.due and count else 0
    if (
        session.waiting
        and not sequence.is_draining
        and count > posted
        and not _is_held_back(session, sequence)
    ):
        for flight, envelope in number(state, session, sequence, _waiting(session, count - posted), limit):
            _post(state, session, sequence, flight, envelope)
            posted += 1
    if sequence.flights:
        # also for messages that cannot be sent now: the timer checks them again
        keep_waiting(state, sequence, now)
    if posted:
        sequence.used = now
        tell_progress(state, session, sequence)


def limit_of(session: Session, sequence: Sequence) -> int:
    """Return how many messages of a sequence may be unacknowledged: the window of `flow`."""
    probing = session.way.kind is SendingMode.DIAL and not is_silent(session)
    return sequence.flow.limit(session.peer.window, probing=probing)


def _room_for(session: Session, sequence: Sequence) -> int:
    """Return how many messages may be sent now within the limit.

    To a silent peer one, if none is under way.
    """
    return int(not is_under_way(sequence)) if is_silent(session) else session.peer.window


def _is_held_back(session: Session, sequence: Sequence) -> bool:
    """Return whether new messages wait for an older one, which a silent peer has not taken."""
    return is_silent(session) and bool(outstanding(session, sequence))


def _waiting(session: Session, count: int) -> list[tuple[int, Message]]:
    return list(islice(session.waiting.items(), count))


def _send_again(state: State, session: Session, sequence: Sequence, limit: int, most: int) -> int:
    """Send repeated messages, oldest first, as far as there is room; return how many were sent.

    Without room only a time-out lets one go: the first may have been lost on the way (T34).
    """
    flights = (flight for flight in sequence.flights.values() if flight.message is not None)
    count = max(limit, 1) if sequence.overdue else limit
    due = [flight for flight in islice(flights, count) if flight.number in sequence.due]
    sequence.overdue = False
    posted = 0
    for flight in due[:most]:
        envelope = None if flight.ticket else again(state, session, sequence, flight)
        if envelope is not None:
            _post(state, session, sequence, flight, envelope)
            posted += 1
    return posted


def again(state: State, session: Session, sequence: Sequence, flight: Flight) -> Envelope | None:
    """Return the envelope of a message that has a number; None if it cannot be written any more.

    A repeated message always requests an acknowledgement.
    """
    assert flight.message is not None, f"message {flight.number} was not handed out"
    envelope = _envelope(state, session, sequence, flight.message, flight.number, asks=True)
    if envelope is None and flight.lookup_id:
        _refuse(state, session, flight.lookup_id)
        apply(state, MessagesWithdrawn(sequence.number, (flight.number,)))
    if envelope is None:
        flight.message = None
    return envelope


def number(
    state: State,
    session: Session,
    sequence: Sequence,
    messages: Iterable[tuple[int, Message]],
    limit: int,
) -> list[tuple[Flight, Envelope]]:
    """Assign the next numbers to waiting messages, as far as there is room, and return their envelopes.

    One that cannot be written as an envelope is refused and gets no number.
    """
    if sequence.flow.polling is not Polling.NOT_POLLING:
        return []  # FC-030
    row, flights = sequence.row, sequence.flights
    first = row.last + 1
    # limited by the first message without an acknowledgement: the peer can buffer all behind it
    end = min(next(iter(flights), first) + limit, first + limit - len(flights), LAST_NUMBER + 1)
    numbered: list[tuple[int, Message, Envelope]] = []
    for lookup_id, message in messages:
        place = first + len(numbered)
        if place >= end:
            break
        del session.waiting[lookup_id]
        asks = place + 1 == end or is_silent(session)
        envelope = _envelope(state, session, sequence, message, place, asks=asks)
        if envelope is None:
            _refuse(state, session, lookup_id)
        else:
            numbered.append((lookup_id, message, envelope))
    if not numbered:
        return []
    apply(state, MessagesNumbered(row.number, first, tuple(lookup_id for lookup_id, _, _ in numbered)))
    sent = []
    for place, (_, message, envelope) in enumerate(numbered, first):
        flight = flights[place]
        flight.message = message
        sent.append((flight, envelope))
    return sent


def _envelope(
    state: State, session: Session, sequence: Sequence, message: Message, place: int, *, asks: bool
) -> Envelope | None:
    """Return the envelope of a message, with AckRequested if it fills the window; None if there is none."""
    row, way = sequence.row, session.way
    related = message.correlation
    try:
        return envelope_of(
            message,
            row.dialect,
            to=row.target or way.to,
            sequence=SequenceHeader(row.identifier, place),
            relates_to=state.message_id_of(related) if related != NO_OBJECT else "",
            reply_to=reply_reference(way, row, message.response_queue, state.address.origin),
            ack_requests=(row.identifier,) if asks or way.kind is not SendingMode.DIAL else (),
        )
    except (UsageError, PeerFault) as wrong:
        why = f"message {message.identifier}: {wrong}"
        state.draft.ask(Warn(session.destination, "a message cannot be sent, and is refused", why))
        return None


def _refuse(state: State, session: Session, lookup_id: int) -> None:
    ended = TransferEnded(session.queue, (lookup_id,), Outcome.REFUSED, UNWRITABLE, by_receipt=True)
    state.draft.signal(ended)


def _post(state: State, session: Session, sequence: Sequence, flight: Flight, envelope: Envelope) -> None:
    mark_sent(state, sequence, flight)
    posted = Posted(Purpose.MESSAGE, sequence.number, flight.number)
    flight.ticket = post(state, session, envelope, posted)


def mark_sent(state: State, sequence: Sequence, flight: Flight) -> None:
    """Record that a message leaves, and count it if it left before."""
    sequence.due.discard(flight.number)
    sequence.dropped.discard(flight.number)
    if flight.sent:
        sequence.retransmissions += 1
        state.counts[Count.RETRANSMISSIONS] += 1
    flight.sent = True
