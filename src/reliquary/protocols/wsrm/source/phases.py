"""Defines the phases of an outgoing sequence as one table: phase x move -> phase.

                 CREATED           CLOSE              DECIDE                 GONE
    CREATING ------------> OPEN ----------> CLOSING ----------> TERMINATING ------> ENDED
        |                   |                  |                     |                ^
        |                   '------ DECIDE ----+-------------------> |                |
        '----- CLOSE, LOSE -'------ LOSE ------'------- LOSE --------'----------------'

CLOSING   no message is sent any more.  WS-RM 1.1 asks with CloseSequence, and the Final acknowledgement says
          which messages arrived.  WS-RM 1.0 sends LastMessage, or AckRequested if messages are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class Phase(Enum):
    """The phase of an outgoing sequence."""

    CREATING = "creating"
    """CreateSequence was sent, and has no response yet."""
    OPEN = "open"
    """The sequence exists, and messages are sent."""
    CLOSING = "closing"
    """No message is sent any more, and the last acknowledgement has not come."""
    TERMINATING = "terminating"
    """The outcome of all messages is known; TerminateSequence has no response yet."""
    ENDED = "ended"
    """The sequence is over, and its row is deleted."""


class Move(Enum):
    """The events that change the phase of a sequence."""

    CREATED = "created"
    """CreateSequenceResponse came, and was accepted."""
    CLOSE = "close"
    """No further message is to be sent in it."""
    DECIDE = "decide"
    """The outcome of all messages is known."""
    GONE = "gone"
    """TerminateSequence was answered, or was repeated often enough."""
    LOSE = "lose"
    """The peer does not know the sequence, has terminated it, or refuses to create it."""


def _table() -> dict[tuple[Phase, Move], Phase | None]:
    """Return the table, a row for each move; None: the move must not happen in this phase."""
    c, o, g, t, e = Phase.CREATING, Phase.OPEN, Phase.CLOSING, Phase.TERMINATING, Phase.ENDED
    n = None
    rows: dict[Move, tuple[Phase | None, ...]] = {
        #              from: c  o  g  t  e
        Move.CREATED:       (o, n, n, n, n),
        Move.CLOSE:         (e, g, n, n, n),
        Move.DECIDE:        (n, t, t, n, n),  # a peer may close the sequence without a request
        Move.GONE:          (n, n, n, e, n),
        Move.LOSE:          (e, e, e, e, n),
    }  # fmt: skip
    columns = (c, o, g, t, e)
    return {(phase, move): rows[move][column] for move in rows for column, phase in enumerate(columns)}


NEXT: Final[Mapping[tuple[Phase, Move], Phase | None]] = _table()


def moved(phase: Phase, move: Move) -> Phase:
    """Return the phase after a move; a move that must not happen is a defect of this program."""
    following = NEXT[phase, move]
    assert following is not None, f"a sequence that is {phase.value} must not {move.value}"
    return following
