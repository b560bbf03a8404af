"""Defines the phases of an incoming sequence in one table, for peers, timers and administrators.

             CLOSE                   TERMINATE, TIME_OUT
    OPEN -----------> CLOSED ---------------------------> ENDED -----> forgotten
     |                                                      ^
     '------------------------------------------------------'

A closed sequence takes no new message, and its acknowledgements are final.  An ended sequence is remembered
for a while, so that a late message is recognized and gets the final acknowledgement once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.base.words import Word
from reliquary.protocols.wsrm.codec.faults import FaultCode


class Phase(Word):
    """The phase of a sequence."""

    OPEN = "open"
    CLOSED = "closed"
    """No new message is accepted."""
    ENDED = "ended"


class Move(Word):
    """The events of a sequence."""

    MESSAGE = "message"
    """A message comes that was not received before."""
    DUPLICATE = "duplicate"
    """A message comes that was received before."""
    ASK = "ask"
    """The source asks for an acknowledgement with AckRequested."""
    CLOSE = "close"
    """CloseSequence comes, or an administrator closes the sequence."""
    TERMINATE = "terminate"
    """TerminateSequence comes, or an administrator ends the sequence."""
    TIME_OUT = "time-out"
    """No message came for too long, the sequence expired, or its source has given it up."""


def _table() -> dict[tuple[Phase, Move], Phase | FaultCode]:
    """Return the table, a row for each move: the next phase, or the fault that refuses the move."""
    o, c, e = Phase.OPEN, Phase.CLOSED, Phase.ENDED
    closed, terminated = FaultCode.SEQUENCE_CLOSED, FaultCode.SEQUENCE_TERMINATED
    rows: dict[Move, tuple[Phase | FaultCode, ...]] = {
        #           from: o  c       e
        Move.MESSAGE:    (o, closed, terminated),  # a closed sequence takes no new message
        Move.DUPLICATE:  (o, c,      terminated),  # no fault for a message that came again
        Move.ASK:        (o, c,      terminated),  # 3.3, 3: it must be answered
        Move.CLOSE:      (c, c,      terminated),
        Move.TERMINATE:  (e, e,      e),           # a repeated TerminateSequence is answered as before
        Move.TIME_OUT:   (e, e,      e),
    }  # fmt: skip
    return {(phase, move): row[place] for move, row in rows.items() for place, phase in enumerate((o, c, e))}


NEXT: Final[Mapping[tuple[Phase, Move], Phase | FaultCode]] = _table()
