"""Defines the phases of a session, [MC-MQSRM] 3.1.7.4, .5 and .9, as one table: phase x move -> phase.

              CONNECT                RESEND
    CLOSED ------------> OPEN ----------------------> DRAINING
      ^                  |  ^                          |  |
      |                  |  '-------- ANSWERED --------'  |
      '------------------'                                |
      |      FAIL, IDLE, PAUSE                            |
      '---------------------------------------------------'

An open session posts the messages that the manager hands out.  If messages must be sent again, because
no stream receipt came in time or one of them was refused, it drains first: nothing is posted until
every POST has its answer, and then all messages without a receipt are sent again, in order.

The network connects when there is something to post, so a session that is open may have no connection yet.
Each opening has an epoch of its own; an answer to a POST of another epoch comes too late and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class Phase(Enum):
    """The phase of the session of an outgoing queue."""

    CLOSED = "closed"
    """No message is posted, and no POST waits for an answer."""
    OPEN = "open"
    """Messages are posted as the manager hands them out."""
    DRAINING = "draining"
    """No message is posted until every POST has its answer; then all are sent again."""


class Move(Enum):
    """The events that change the phase of a session."""

    CONNECT = "connect"
    """The queue wants a connection."""
    FAIL = "fail"
    """A POST has no answer or a temporary refusal, or a message cannot be signed."""
    IDLE = "idle"
    """No message was posted for a while."""
    PAUSE = "pause"
    """An administrator paused the queue."""
    RESEND = "resend"
    """All messages without a receipt are to be sent again, and some POSTs have no answer."""
    ANSWERED = "answered"
    """All messages without a receipt are to be sent again, and every POST has its answer."""


def _table() -> dict[tuple[Phase, Move], Phase]:
    """Build the table; each row is a move, each column a phase."""
    c, o, d = Phase.CLOSED, Phase.OPEN, Phase.DRAINING
    rows: dict[Move, tuple[Phase, ...]] = {
        #               from: c  o  d
        Move.CONNECT:        (o, o, d),  # SR-310
        Move.FAIL:           (c, c, c),  # SR-293
        Move.IDLE:           (c, c, c),  # SR-254
        Move.PAUSE:          (c, c, c),  # SR-304
        Move.RESEND:         (c, d, d),  # SR-247: a closed session waits for no answers
        Move.ANSWERED:       (c, o, o),  # SR-247
    }  # fmt: skip
    columns = (c, o, d)
    return {(phase, move): rows[move][column] for move in rows for column, phase in enumerate(columns)}


NEXT: Final[Mapping[tuple[Phase, Move], Phase]] = _table()
