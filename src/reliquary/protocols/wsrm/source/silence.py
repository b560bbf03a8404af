"""Detects silent peers, which acknowledge messages only at the end of their sequence.

gSOAP's services do so if acknowledgements are sent on responses: they answer one-way messages only with
202, also repeated and early ones.  So nothing is known until the sequence ends.

    a message is taken, and its repetition too, and nothing is acknowledged --> the peer is silent
    silent: one message after the other, in order; those that were taken are not sent again
            the window is full, or nothing more is to be sent  --> the sequence is closed (`closing`)
    an acknowledgement comes while the sequence is open        --> the peer is not silent
"""

from __future__ import annotations

from typing import Final

from reliquary.protocols.wsrm.source.state import Flight, Sequence, Session
from reliquary.protocols.wsrm.source.ways import SendingMode

SILENT_AFTER: Final = 2
"""The number of messages in a row that a peer takes, each with AckRequested, before it counts as silent."""


def is_silent(session: Session) -> bool:
    """Return whether the peer acknowledges messages only at the end of a sequence."""
    return session.unconfirmed >= SILENT_AFTER


def note_taken(session: Session, sequence: Sequence, flight: Flight) -> None:
    """Record that a message was answered with success and without an acknowledgement.

    It counts for a peer that acknowledges on responses and has not done so since the connection began.
    """
    flight.taken = True
    on_responses = session.way.kind is SendingMode.DIAL and not session.way.peer.addressable
    if on_responses and not sequence.row.offered_by and not sequence.flow.heard:
        session.unconfirmed += 1


def outstanding(session: Session, sequence: Sequence) -> list[Flight]:
    """Return the messages that are to be sent again, oldest first: no request of theirs is under way."""
    silent = is_silent(session)
    return [each for each in sequence.flights.values() if not each.ticket and not (silent and each.taken)]


def is_under_way(sequence: Sequence) -> bool:
    """Return whether a message of the sequence waits for its response."""
    return any(flight.ticket for flight in sequence.flights.values())
