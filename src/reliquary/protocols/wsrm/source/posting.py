"""Sends requests: each has a ticket, and those of one connection share an epoch."""

from __future__ import annotations

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.values import (
    CloseSequence,
    CreateSequence,
    Envelope,
    Payload,
    TerminateSequence,
    Version,
)
from reliquary.protocols.wsrm.effects import HangUp, Post
from reliquary.protocols.wsrm.numbering import new_identifier
from reliquary.protocols.wsrm.source.silence import outstanding
from reliquary.protocols.wsrm.source.state import Posted, Purpose, Sequence, Session
from reliquary.protocols.wsrm.source.ways import own_reference, way_of
from reliquary.protocols.wsrm.state import State


def post(state: State, session: Session, envelope: Envelope, posted: Posted) -> int:
    """Post an envelope, and return the ticket of the request.

    Acknowledgements that are due to this peer go along.  It waits for the disk, because it may contain
    facts of any earlier turn.
    """
    due = state.acknowledgements_due(session.way.url)
    if due:
        envelope = replace(envelope, acknowledgements=due)
    source = state.source
    if not session.epoch:
        source.last_epoch += 1
        session.epoch = source.last_epoch
    source.last_ticket += 1
    session.posted[source.last_ticket] = posted
    encoded = encode(envelope)
    state.draft.ask(
        Post(
            session.queue,
            session.epoch,
            source.last_ticket,
            session.way.url,
            encoded.content_type,
            encoded.action,
            encoded.data,
            "" if envelope.properties is None else envelope.properties.trace_context,
        )
    )
    state.draft.wait()
    return source.last_ticket


def hang_up(state: State, session: Session) -> None:
    """End the connection; requests without a response count as not sent."""
    if session.epoch:
        state.draft.ask(HangUp(session.queue, session.epoch))
    session.epoch = 0
    purposes = {posted.purpose for posted in session.posted.values()}
    session.posted.clear()
    sequence = state.source.of_queue(session.queue)
    if sequence is None:
        return
    sequence.flow.connect()
    sequence.dropped.clear()
    for flight in sequence.flights.values():
        flight.ticket = 0
    sequence.due.update(flight.number for flight in outstanding(session, sequence))
    if Purpose.CLOSE in purposes and not sequence.is_orphaned:
        sequence.tries -= 1  # a peer that cannot be reached has not failed to answer


def is_posted(session: Session, sequence: Sequence, purpose: Purpose) -> bool:
    """Return whether a request of this purpose has no response yet."""
    wanted = Posted(purpose, sequence.number)
    return any(posted == wanted for posted in session.posted.values())


def can_post(state: State, session: Session) -> bool:
    """Return whether a request may be sent for this queue now."""
    return state.source.online and not session.paused


def session_of(state: State, sequence: Sequence) -> Session:
    """Return the session of a sequence; one that an earlier process began may not have any yet."""
    row, sessions = sequence.row, state.source.sessions
    session = sessions.get(row.queue)
    if session is None:
        session = Session(row.queue, row.destination, way_of(row, state.settings))
        if row.queue:
            sessions[row.queue] = session
    return session


def lifecycle(
    state: State,
    session: Session,
    sequence: Sequence,
    body: CreateSequence | CloseSequence | TerminateSequence,
    now: Instant,
) -> Envelope:
    """Return the envelope of a request about the sequence itself.

    It has MessageID and ReplyTo, as WCF requires, if there is a response.
    """
    row = sequence.row
    answered = isinstance(body, CreateSequence) or row.dialect.version is Version.RM11
    message_id = row.create_id if isinstance(body, CreateSequence) else new_identifier(state, now)
    return Envelope(
        dialect=row.dialect,
        to=row.target,
        message_id=message_id,
        reply_to=own_reference(session.way, row.dialect, state.address.origin) if answered else None,
        body=body,
    )


def ack_request(sequence: Sequence) -> Envelope:
    """Return an envelope with only AckRequested, the plain block of WS-RM (FC-006)."""
    row = sequence.row
    return Envelope(dialect=row.dialect, to=row.target, ack_requests=(row.identifier,), body=Payload())
