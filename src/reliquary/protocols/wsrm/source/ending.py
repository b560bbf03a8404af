"""Ends an outgoing sequence, after responses and faults of its peer, for an administrator, or when idle.

CloseSequenceResponse, TerminateSequenceResponse   the next step of `closing`
UnknownSequence, SequenceTerminated                the sequence is lost: the rest continues in a new one
SequenceClosed, MessageNumberRollover              it accepts no more: it is closed, then a new one begins
CreateSequenceRefused                              the queue pauses, and another CreateSequence is sent
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import Reply, SetTimer, Warn
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import (
    CloseSequenceResponse,
    Envelope,
    Fault,
    TerminateSequenceResponse,
    Version,
)
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.source.closing import ask_at_the_end, decide, gone, lose
from reliquary.protocols.wsrm.source.closing import close as begin_close
from reliquary.protocols.wsrm.source.creation import refused
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.posting import session_of
from reliquary.protocols.wsrm.source.sessions import IDLE
from reliquary.protocols.wsrm.source.silence import is_silent
from reliquary.protocols.wsrm.source.state import Posted, Purpose, Sequence
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.administration import Done


class Reaction(Enum):
    """The reaction to a fault."""

    LOST = "lost"
    """The peer does not have this sequence any more."""
    CLOSED = "closed"
    """The sequence takes no new messages."""
    REFUSED = "refused"
    """There is no sequence of this name."""
    NOTHING = "nothing"
    """The fault counts as an answer without an acknowledgement."""


REACTIONS: Final[Mapping[FaultCode, Reaction]] = {
    FaultCode.SEQUENCE_TERMINATED: Reaction.LOST,
    FaultCode.UNKNOWN_SEQUENCE: Reaction.LOST,
    FaultCode.MESSAGE_NUMBER_ROLLOVER: Reaction.CLOSED,
    FaultCode.LAST_NUMBER_EXCEEDED: Reaction.CLOSED,
    FaultCode.SEQUENCE_CLOSED: Reaction.CLOSED,
    FaultCode.CREATE_SEQUENCE_REFUSED: Reaction.REFUSED,
    FaultCode.INVALID_ACKNOWLEDGEMENT: Reaction.NOTHING,
    FaultCode.WSRM_REQUIRED: Reaction.NOTHING,
    FaultCode.UNSUPPORTED_SELECTION: Reaction.NOTHING,
    FaultCode.MISSING_SELECTION: Reaction.NOTHING,
    FaultCode.INVALID_HEADER: Reaction.NOTHING,
    FaultCode.HEADER_REQUIRED: Reaction.NOTHING,
    FaultCode.UNREACHABLE: Reaction.NOTHING,
    FaultCode.ACTION_NOT_SUPPORTED: Reaction.NOTHING,
    FaultCode.ENDPOINT_UNAVAILABLE: Reaction.NOTHING,
    FaultCode.VERSION_MISMATCH: Reaction.NOTHING,
    FaultCode.MUST_UNDERSTAND: Reaction.NOTHING,
    FaultCode.SENDER: Reaction.NOTHING,
    FaultCode.RECEIVER: Reaction.NOTHING,
}


# -- the peer


def on_close_response(state: State, exchange: Exchange, body: CloseSequenceResponse, now: Instant) -> None:
    """Continue the end of a sequence that the peer has closed; its acknowledgement was applied before."""
    sequence = _sequence(state, body.identifier)
    if sequence is None or sequence.phase is not Phase.CLOSING:
        return
    if not sequence.flights or _acknowledges(exchange.envelope, sequence):
        decide(state, sequence, now)


def on_terminate_response(
    state: State, exchange: Exchange, body: TerminateSequenceResponse, now: Instant
) -> None:
    """Forget a sequence that the peer has ended."""
    del exchange, now
    sequence = _sequence(state, body.identifier)
    if sequence is not None and sequence.phase is Phase.TERMINATING:
        gone(state, sequence)


def on_fault(state: State, exchange: Exchange, fault: Fault, now: Instant) -> None:
    """React to a fault of a peer; acknowledgements that came with the fault were applied before."""
    sequence = _meant(state, exchange, fault)
    if sequence is None:
        return
    reaction = REACTIONS[fault.code]
    about = sequence.row.destination
    state.draft.ask(Warn(about, f"the peer answered with {fault.code.value}", fault.reason))
    if sequence.phase is Phase.CREATING:
        refused(state, session_of(state, sequence), sequence)  # nothing else can be meant
    elif reaction is Reaction.LOST:
        lose(state, sequence, now)
    elif reaction is Reaction.CLOSED and sequence.phase is Phase.OPEN and not sequence.row.offered_by:
        begin_close(state, sequence, now)


def _meant(state: State, exchange: Exchange, fault: Fault) -> Sequence | None:
    """Return the sequence of a fault, by its identifier or by the request that it answers."""
    source = state.source
    if fault.identifier:
        return _sequence(state, fault.identifier)
    session = source.sessions.get(exchange.connection)
    posted = None if session is None else session.posted.get(exchange.ticket)
    number = source.by_create_id.get(exchange.envelope.relates_to) if posted is None else posted.sequence
    return None if number is None else source.sequences.get(number)


def _sequence(state: State, identifier: str) -> Sequence | None:
    number = state.source.by_identifier.get(identifier)
    return None if number is None else state.source.sequences[number]


def _acknowledges(envelope: Envelope | None, sequence: Sequence) -> bool:
    """Return whether an envelope carries an acknowledgement of this sequence."""
    identifier = sequence.row.identifier
    return envelope is not None and any(each.identifier == identifier for each in envelope.acknowledgements)


def on_answered(state: State, sequence: Sequence, posted: Posted, *, taken: bool, now: Instant) -> None:
    """Continue after the answer to a request that closes or terminates, if it did not end that phase.

    `taken` means a status of success.  An addressable peer of WS-RM 1.1 still has to send a response.
    """
    session = session_of(state, sequence)
    owes = session.peer.addressable and sequence.row.dialect.version is Version.RM11
    if posted.purpose is Purpose.CLOSE and sequence.phase is Phase.CLOSING:
        if not sequence.flights and not (taken and owes):
            decide(state, sequence, now)  # all messages have arrived, so no answer could change anything
        elif taken and sequence.row.dialect.version is Version.RM10 and is_silent(session):
            ask_at_the_end(state, sequence, now)  # a silent peer does not send more if it is asked again
    elif posted.purpose is Purpose.TERMINATE and sequence.phase is Phase.TERMINATING and taken and not owes:
        gone(state, sequence)


# -- nothing to send


def on_idle(state: State, number: int, now: Instant) -> None:
    """End a sequence that was idle for long; others are checked again later."""
    sequence = state.source.sequences.get(number)
    if sequence is None:
        return
    session = state.source.sessions.get(sequence.row.queue)
    left = Duration(sequence.used + state.settings.idle - now)
    busy = session is not None and session.is_open and bool(session.waiting or sequence.flights)
    paused = session is not None and session.paused
    # messages that were not handed out since the start are lost: a crash loses express messages
    lost = not paused and all(flight.message is None for flight in sequence.flights.values())
    if left > 0 or busy or not ((sequence.is_orphaned or lost) and state.source.online):
        span = min(left, state.settings.idle) if left > 0 else state.settings.idle
        state.draft.ask(SetTimer((IDLE, number), Duration(span)))
    elif paused:
        gone(state, sequence)  # nothing leaves a queue on hold, and an empty one may never be resumed
    elif sequence.phase is Phase.OPEN:
        begin_close(state, sequence, now)
    elif sequence.phase is Phase.CREATING:
        # the messages that it was for have left the queue
        refused(state, session_of(state, sequence), sequence)


# -- an administrator


def close(state: State, to: int, number: int, now: Instant) -> None:
    """Assign no further number; when all messages are acknowledged, the sequence ends and the next begins."""
    sequence = state.source.sequences.get(number)
    why = _objection(sequence, number)
    if sequence is not None and not why and sequence.phase is Phase.OPEN:
        sequence.is_draining = True
        if not sequence.flights:
            begin_close(state, sequence, now)
    state.draft.ask(Reply(to, Done(not why, why)))


def terminate(state: State, to: int, number: int, now: Instant) -> None:
    """End a sequence now; messages that did not arrive continue in the next one.

    An open sequence is closed first, so that the peer can report the messages that arrived.  One whose
    close has no answer is ended without it: then a message may arrive twice, and the administrator
    accepts that.
    """
    sequence = state.source.sequences.get(number)
    why = _objection(sequence, number)
    if sequence is not None and not why:
        if sequence.phase is Phase.OPEN:
            begin_close(state, sequence, now)
        elif sequence.phase is Phase.CLOSING:
            decide(state, sequence, now)
        else:
            gone(state, sequence)
    state.draft.ask(Reply(to, Done(not why, why)))


def _objection(sequence: Sequence | None, number: int) -> str:
    """Return the reason why an administrator cannot end a sequence; empty if that is possible."""
    if sequence is None:
        return f"no sequence {number} goes out"
    if sequence.row.offered_by:
        return f"sequence {number} was offered by a client, and ends with sequence {sequence.row.offered_by}"
    if sequence.phase is Phase.CREATING:
        return f"sequence {number} is not created yet"
    return ""
