"""Sends replies in sequences that clients offered, mostly on responses.

accept       the sequence of a client came in with an offer
take_reply   the reply to a request whose response waits for it
take_next    the next message for a client that asks with MakeConnection
end          the sequence of the client ended: remaining replies are refused
"""

from __future__ import annotations

from collections.abc import Callable

from reliquary.base.time import Instant
from reliquary.protocols.wsrm.codec.addressing import is_polled
from reliquary.protocols.wsrm.codec.values import Dialect, Envelope, Offer, Reference
from reliquary.protocols.wsrm.numbering import next_sequence
from reliquary.protocols.wsrm.source.apply import apply
from reliquary.protocols.wsrm.source.closing import refuse
from reliquary.protocols.wsrm.source.facts import SequenceBegun
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.posting import ack_request
from reliquary.protocols.wsrm.source.progress import tell_progress
from reliquary.protocols.wsrm.source.sending import again, limit_of, mark_sent, number
from reliquary.protocols.wsrm.source.state import Flight, Sequence, Session
from reliquary.protocols.wsrm.source.tables import Outbound
from reliquary.protocols.wsrm.source.waits import keep_waiting
from reliquary.protocols.wsrm.source.ways import SendingMode
from reliquary.protocols.wsrm.state import Count, State
from reliquary.queueing.model.message import Message, ObjectId


def accept(
    state: State, offer: Offer, inbound: int, dialect: Dialect, target: Reference | None, now: Instant
) -> int:
    """Accept the sequence that a client offered, and return its local number.

    0 if another outgoing sequence has its identifier: then the offer is not accepted.
    """
    del now
    known = state.source.by_identifier.get(offer.identifier)
    if known is not None:
        return known if state.source.sequences[known].row.offered_by == inbound else 0
    row = Outbound(
        number=next_sequence(state),
        dialect=dialect,
        phase=Phase.OPEN,
        identifier=offer.identifier,
        target=target,
        offered_by=inbound,
    )
    apply(state, SequenceBegun(row))
    return row.number


def end(state: State, inbound: int, now: Instant) -> None:
    """Refuse the remaining replies of an offered sequence, because the sequence of its client ended.

    A client that listens at an address still gets its messages there, as in a duplex session of WCF.
    """
    del now
    for sequence in list(state.source.sequences.values()):
        target = sequence.row.target
        if sequence.row.offered_by == inbound and (target is None or is_polled(target.address)):
            refuse(state, sequence)


def take_reply(state: State, outbound: int, request: ObjectId, now: Instant) -> Envelope | None:
    """Return the reply to a request, if the application has sent it; also again, if it is unacknowledged."""
    return _take(state, outbound, lambda message: message.correlation == request, now)


def take_next(state: State, outbound: int, now: Instant) -> Envelope | None:
    """Return the next message of a sequence: a repeated one, a new one, or a request for room."""
    sequence = state.source.sequences.get(outbound)
    if sequence is None:
        return None
    if sequence.poll_due:
        sequence.poll_due = False
        state.counts[Count.POLLS] += 1
        return ack_request(sequence)  # FC-036
    return _take(state, outbound, lambda message: True, now, only_due=True)


def waiting_for(state: State, address: str) -> list[int]:
    """Return the sequences with a message for a client that polls with this MakeConnection address."""
    found = []
    for sequence in state.source.sequences.values():
        session = _polled_session(state, sequence, address)
        if session is not None and (session.waiting or sequence.due or sequence.poll_due):
            found.append(sequence.number)
    return found


def _polled_session(state: State, sequence: Sequence, address: str) -> Session | None:
    row = sequence.row
    session = state.source.sessions.get(row.queue)
    if session is None or session.way.kind is not SendingMode.POLL or row.target is None:
        return None
    return session if row.target.address == address else None


def _take(
    state: State,
    outbound: int,
    wanted: Callable[[Message], bool],
    now: Instant,
    *,
    only_due: bool = False,
) -> Envelope | None:
    """Return the envelope of the first wanted message, with its number or a new one."""
    sequence = state.source.sequences.get(outbound)
    session = None if sequence is None else state.source.sessions.get(sequence.row.queue)
    if sequence is None or session is None:
        return None
    for flight in sequence.flights.values():
        due = not only_due or flight.number in sequence.due
        if due and flight.message is not None and wanted(flight.message):
            return _sent(state, session, sequence, flight, again(state, session, sequence, flight), now)
    found = next(((key, each) for key, each in session.waiting.items() if wanted(each)), None)
    if found is not None:
        for flight, envelope in number(state, session, sequence, [found], limit_of(session, sequence)):
            return _sent(state, session, sequence, flight, envelope, now)
    return None


def _sent(
    state: State,
    session: Session,
    sequence: Sequence,
    flight: Flight,
    envelope: Envelope | None,
    now: Instant,
) -> Envelope | None:
    """Record that a message leaves on a response, which waits for the disk as a request does."""
    if envelope is not None:
        mark_sent(state, sequence, flight)
        sequence.used = now
        keep_waiting(state, sequence, now)
        tell_progress(state, session, sequence)
        state.draft.wait()
    return envelope
