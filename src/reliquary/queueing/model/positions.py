"""Implements MessagePosition.State, [MS-MQDMPR] 3.1.1.11, by a table with an entry for every case.

                        taken                       purged
    UNCOMMITTED --> AVAILABLE <------> LOCKED --------------------> PURGE_PENDING
                     ^      |  aborted   | |committed                     |
                 due |      |            | '--------------> DELETED <-----'
                  DELAYED   '-----------------------------------^    committed or aborted
                     ^-------------------'
                         aborted, and the queue delays retries

Two states are not in the specification.  UNCOMMITTED is a message that was only sent in a transaction, which
the specification calls Locked too; DELAYED is a message that readers do not see before a moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.queueing.model.message import Position


class State(Enum):
    """The states of a position (DM-039); a position that does not exist yet is DELETED."""

    UNCOMMITTED = "uncommitted"
    AVAILABLE = "available"
    DELAYED = "delayed"
    LOCKED = "locked"
    PURGE_PENDING = "purge pending"
    DELETED = "deleted"


class PositionEvent(Enum):
    """The events that change the state of a position."""

    SENT = "sent"
    SENT_FOR_LATER = "sent with a delay"
    JOINED = "sent in a transaction"
    RECEIVED = "received for good"
    TAKEN = "received in a transaction or on trial, or moved in a transaction"
    COMMITTED = "the transaction was committed, or the trial ended well"
    ABORTED = "the transaction was aborted, or the trial ended badly"
    PUT_OFF = "it comes back, and the queue delays what comes back"
    DUE = "its delay is over"
    MOVED = "moved to another queue, or put aside"
    PURGED = "its queue was purged"
    EXPIRED = "its time to be received ran out"
    QUEUE_DELETED = "its queue was deleted"


_UNCOMMITTED, _AVAILABLE, _DELAYED = State.UNCOMMITTED, State.AVAILABLE, State.DELAYED
_LOCKED, _PURGE_PENDING, _DELETED = State.LOCKED, State.PURGE_PENDING, State.DELETED

NEXT: Final[Mapping[tuple[State, PositionEvent], State | None]] = {
    (_DELETED, PositionEvent.SENT): _AVAILABLE,  # DM-194
    (_DELETED, PositionEvent.SENT_FOR_LATER): _DELAYED,
    (_DELETED, PositionEvent.JOINED): _UNCOMMITTED,  # DM-195
    **{
        (state, event): None  # a position is sent once
        for state in State
        for event in (PositionEvent.SENT, PositionEvent.SENT_FOR_LATER, PositionEvent.JOINED)
        if state is not _DELETED
    },
    (_UNCOMMITTED, PositionEvent.RECEIVED): None,
    (_AVAILABLE, PositionEvent.RECEIVED): _DELETED,  # DM-207, DM-221
    (_DELAYED, PositionEvent.RECEIVED): None,
    (_LOCKED, PositionEvent.RECEIVED): None,
    (_PURGE_PENDING, PositionEvent.RECEIVED): None,
    (_UNCOMMITTED, PositionEvent.TAKEN): None,
    (_AVAILABLE, PositionEvent.TAKEN): _LOCKED,  # DM-205, DM-206, DM-219, DM-220, DM-234
    (_DELAYED, PositionEvent.TAKEN): None,
    (_LOCKED, PositionEvent.TAKEN): None,
    (_PURGE_PENDING, PositionEvent.TAKEN): None,
    (_UNCOMMITTED, PositionEvent.COMMITTED): _AVAILABLE,  # DM-108; delayed where its moment is still to come
    (_AVAILABLE, PositionEvent.COMMITTED): None,
    (_DELAYED, PositionEvent.COMMITTED): None,
    (_LOCKED, PositionEvent.COMMITTED): _DELETED,  # DM-109, DM-110, DM-213
    (_PURGE_PENDING, PositionEvent.COMMITTED): _DELETED,  # DM-109, DM-213
    (_UNCOMMITTED, PositionEvent.ABORTED): _DELETED,  # DM-115
    (_AVAILABLE, PositionEvent.ABORTED): None,
    (_DELAYED, PositionEvent.ABORTED): None,
    (_LOCKED, PositionEvent.ABORTED): _AVAILABLE,  # DM-114, DM-214
    (_PURGE_PENDING, PositionEvent.ABORTED): _DELETED,  # DM-113, DM-213
    (_UNCOMMITTED, PositionEvent.PUT_OFF): None,
    (_AVAILABLE, PositionEvent.PUT_OFF): _DELAYED,  # it cannot be moved to the poison queue
    (_DELAYED, PositionEvent.PUT_OFF): None,
    (_LOCKED, PositionEvent.PUT_OFF): _DELAYED,
    (_PURGE_PENDING, PositionEvent.PUT_OFF): _DELETED,
    (_UNCOMMITTED, PositionEvent.DUE): None,
    (_AVAILABLE, PositionEvent.DUE): None,
    (_DELAYED, PositionEvent.DUE): _AVAILABLE,
    (_LOCKED, PositionEvent.DUE): None,
    (_PURGE_PENDING, PositionEvent.DUE): None,
    (_UNCOMMITTED, PositionEvent.MOVED): None,
    (_AVAILABLE, PositionEvent.MOVED): _DELETED,  # DM-232
    (_DELAYED, PositionEvent.MOVED): None,
    (_LOCKED, PositionEvent.MOVED): _DELETED,  # it was returned too many times
    (_PURGE_PENDING, PositionEvent.MOVED): None,
    (_UNCOMMITTED, PositionEvent.PURGED): _UNCOMMITTED,  # AN-11
    (_AVAILABLE, PositionEvent.PURGED): _DELETED,  # DM-185
    (_DELAYED, PositionEvent.PURGED): _DELETED,
    (_LOCKED, PositionEvent.PURGED): _PURGE_PENDING,  # DM-184
    (_PURGE_PENDING, PositionEvent.PURGED): _PURGE_PENDING,
    (_UNCOMMITTED, PositionEvent.EXPIRED): _UNCOMMITTED,  # AN-46: commit looks at the clock
    (_AVAILABLE, PositionEvent.EXPIRED): _DELETED,  # DM-297
    (_DELAYED, PositionEvent.EXPIRED): _DELETED,
    (_LOCKED, PositionEvent.EXPIRED): _LOCKED,  # AN-09: it is checked again when it is returned
    (_PURGE_PENDING, PositionEvent.EXPIRED): _PURGE_PENDING,  # AN-09
    (_UNCOMMITTED, PositionEvent.QUEUE_DELETED): _UNCOMMITTED,  # the commit finds no queue
    (_AVAILABLE, PositionEvent.QUEUE_DELETED): _DELETED,  # DM-154
    (_DELAYED, PositionEvent.QUEUE_DELETED): _DELETED,
    (_LOCKED, PositionEvent.QUEUE_DELETED): _DELETED,  # DM-154
    (_PURGE_PENDING, PositionEvent.QUEUE_DELETED): _DELETED,  # DM-154
    **{
        (_DELETED, event): _DELETED
        for event in PositionEvent
        if event not in (PositionEvent.SENT, PositionEvent.SENT_FOR_LATER, PositionEvent.JOINED)
    },
}
"""The next state for each event; None for an event that cannot happen in this state."""


def step(state: State, event: PositionEvent) -> State:
    """Return the next state of a position; an event that cannot happen is a programming error."""
    following = NEXT[state, event]
    assert following is not None, f"a position that is {state.value} cannot be {event.value}"
    return following


def state_of(position: Position, *, locked: bool) -> State:
    """Return the state of a position that is in a queue and not in an uncommitted transaction."""
    if position.due:
        return State.DELAYED
    if not locked:
        return State.AVAILABLE
    return State.PURGE_PENDING if position.purged else State.LOCKED
