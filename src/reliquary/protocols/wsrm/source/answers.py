"""Reacts to the status of the response to an own request; its envelope is processed before.

no response; 429, 502, 503, 504   UNREACHABLE   the connection ends, the queue pauses, all is sent again
2xx                               TAKEN         an acknowledgement is in the envelope, or comes later
any other                         NOT_TAKEN     it counts as an answer without an acknowledgement
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.wsrm.codec.values import Envelope
from reliquary.protocols.wsrm.events import PostEnded
from reliquary.protocols.wsrm.source.ending import on_answered
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.posts_due import schedule_posts
from reliquary.protocols.wsrm.source.sessions import fail
from reliquary.protocols.wsrm.source.silence import is_silent, note_taken
from reliquary.protocols.wsrm.source.state import Posted, Purpose, Sequence, Session
from reliquary.protocols.wsrm.source.waits import keep_waiting
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.travel.link import ConnectionStatus
from reliquary.queueing.travel.failures import FAILED_WITH


class Reaction(Enum):
    """The reaction to a status."""

    UNREACHABLE = "unreachable"
    TAKEN = "taken"
    NOT_TAKEN = "not-taken"


BY_HUNDRED: Final[Mapping[int, Reaction]] = {
    0: Reaction.UNREACHABLE,  # no response came
    1: Reaction.NOT_TAKEN,
    2: Reaction.TAKEN,
    3: Reaction.NOT_TAKEN,
    4: Reaction.NOT_TAKEN,
    5: Reaction.NOT_TAKEN,
}
GATEWAYS: Final = frozenset({429, 502, 503, 504})
"""Statuses without an envelope by which an intermediary reports that the peer cannot be reached now."""


def reaction_to(status: int, *, has_envelope: bool) -> Reaction:
    """Return the reaction to a status; 0 stands for no response.

    >>> reaction_to(503, has_envelope=False)
    <Reaction.UNREACHABLE: 'unreachable'>
    """
    if status in GATEWAYS and not has_envelope:
        return Reaction.UNREACHABLE
    return BY_HUNDRED.get(status // 100, Reaction.NOT_TAKEN)


def on_post_ended(state: State, event: PostEnded, envelope: Envelope | None, now: Instant) -> None:
    """React to the response of a request, or to its failure; its envelope was processed before.

    A response to a request of a connection that has ended is too late, except for its envelope.
    """
    session = state.source.sessions.get(event.connection)
    if session is None or event.ticket not in session.posted:
        return
    reaction = reaction_to(event.status, has_envelope=envelope is not None)
    if reaction is Reaction.UNREACHABLE:
        fail(state, session, FAILED_WITH[event.failure])
        return
    posted = session.posted.pop(event.ticket)
    sequence = state.source.sequences.get(posted.sequence)
    taken = reaction is Reaction.TAKEN
    if not taken and envelope is None:
        why = event.why or f"the status is {event.status}"
        state.draft.ask(Warn(session.destination, "the peer answered without an acknowledgement", why))
    if sequence is None:
        return
    match posted.purpose:
        case Purpose.MESSAGE:
            _message_answered(state, session, sequence, posted, event, envelope, now)
        case Purpose.CREATE:
            _create_answered(state, session, sequence, taken=taken)
        case Purpose.CLOSE | Purpose.TERMINATE:
            on_answered(state, sequence, posted, taken=taken, now=now)
        case Purpose.ACK_REQUEST:
            pass  # the acknowledgement came with it, comes later, or is requested again


def _message_answered(
    state: State,
    session: Session,
    sequence: Sequence,
    posted: Posted,
    event: PostEnded,
    envelope: Envelope | None,
    now: Instant,
) -> None:
    """Record that the peer has seen a message, and start its time-out if it is not acknowledged yet."""
    flight = sequence.flights.get(posted.number)
    if flight is None or flight.ticket != event.ticket:
        return
    flight.ticket, flight.taken = 0, False
    number, identifier = posted.number, sequence.row.identifier
    if envelope is not None and any(each.identifier == identifier for each in envelope.acknowledgements):
        sequence.dropped.add(number)
        sequence.flow.drop(number - next(iter(sequence.flights)))
    elif reaction_to(event.status, has_envelope=envelope is not None) is Reaction.TAKEN:
        note_taken(session, sequence, flight)
    if sequence.phase is Phase.OPEN:
        keep_waiting(state, sequence, now)
        if is_silent(session):
            schedule_posts(state, session.queue)  # the next message was held back because of this one


def _create_answered(state: State, session: Session, sequence: Sequence, *, taken: bool) -> None:
    """React to a failed CreateSequence; an addressable peer may still respond, with any other it fails."""
    if sequence.phase is Phase.CREATING and not (taken and session.peer.addressable):
        fail(state, session, ConnectionStatus.CONNECTION_NOT_READY)
