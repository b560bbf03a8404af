"""MessagePosition.State, [MS-MQDMPR] 3.1.1.11, as a table with an entry for every case.

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


class Happening(Enum):
    """The events that change the state of a position."""

    SENT = "sent"
    SENT_FOR_LATER = "sent with a delay"
    JOINED = "sent in a transaction"
    RECEIVED = "received for good"
    TAKEN = "received in a transaction or on trial, or moved in a transaction"
    COMMITTED = "the transaction was committed, or the trial ended well"
    ABORTED = "the transaction was aborted, or the trial ended badly"
    PUT_OFF = "the same, and the queue delays what comes back"
    DUE = "its delay is over"
    MOVED = "moved to another queue, or put aside"
    PURGED = "its queue was purged"
    EXPIRED = "its time to be received ran out"
    QUEUE_DELETED = "its queue was deleted"


_UNCOMMITTED, _AVAILABLE, _DELAYED = State.UNCOMMITTED, State.AVAILABLE, State.DELAYED
_LOCKED, _PURGE_PENDING, _DELETED = State.LOCKED, State.PURGE_PENDING, State.DELETED

NEXT: Final[Mapping[tuple[State, Happening], State | None]] = {
    (_DELETED, Happening.SENT): _AVAILABLE,  # DM-194
    (_DELETED, Happening.SENT_FOR_LATER): _DELAYED,
    (_DELETED, Happening.JOINED): _UNCOMMITTED,  # DM-195
    **{
        (state, happening): None  # a position is sent once
        for state in State
        for happening in (Happening.SENT, Happening.SENT_FOR_LATER, Happening.JOINED)
        if state is not _DELETED
    },
    (_UNCOMMITTED, Happening.RECEIVED): None,
    (_AVAILABLE, Happening.RECEIVED): _DELETED,  # DM-207, DM-221
    (_DELAYED, Happening.RECEIVED): None,
    (_LOCKED, Happening.RECEIVED): None,
    (_PURGE_PENDING, Happening.RECEIVED): None,
    (_UNCOMMITTED, Happening.TAKEN): None,
    (_AVAILABLE, Happening.TAKEN): _LOCKED,  # DM-205, DM-206, DM-219, DM-220, DM-234
    (_DELAYED, Happening.TAKEN): None,
    (_LOCKED, Happening.TAKEN): None,
    (_PURGE_PENDING, Happening.TAKEN): None,
    (_UNCOMMITTED, Happening.COMMITTED): _AVAILABLE,  # DM-108; delayed where its moment is still to come
    (_AVAILABLE, Happening.COMMITTED): None,
    (_DELAYED, Happening.COMMITTED): None,
    (_LOCKED, Happening.COMMITTED): _DELETED,  # DM-109, DM-110, DM-213
    (_PURGE_PENDING, Happening.COMMITTED): _DELETED,  # DM-109, DM-213
    (_UNCOMMITTED, Happening.ABORTED): _DELETED,  # DM-115
    (_AVAILABLE, Happening.ABORTED): None,
    (_DELAYED, Happening.ABORTED): None,
    (_LOCKED, Happening.ABORTED): _AVAILABLE,  # DM-114, DM-214
    (_PURGE_PENDING, Happening.ABORTED): _DELETED,  # DM-113, DM-213
    (_UNCOMMITTED, Happening.PUT_OFF): None,
    (_AVAILABLE, Happening.PUT_OFF): _DELAYED,  # it cannot be moved to the poison queue
    (_DELAYED, Happening.PUT_OFF): None,
    (_LOCKED, Happening.PUT_OFF): _DELAYED,
    (_PURGE_PENDING, Happening.PUT_OFF): _DELETED,
    (_UNCOMMITTED, Happening.DUE): None,
    (_AVAILABLE, Happening.DUE): None,
    (_DELAYED, Happening.DUE): _AVAILABLE,
    (_LOCKED, Happening.DUE): None,
    (_PURGE_PENDING, Happening.DUE): None,
    (_UNCOMMITTED, Happening.MOVED): None,
    (_AVAILABLE, Happening.MOVED): _DELETED,  # DM-232
    (_DELAYED, Happening.MOVED): None,
    (_LOCKED, Happening.MOVED): _DELETED,  # it was returned too many times
    (_PURGE_PENDING, Happening.MOVED): None,
    (_UNCOMMITTED, Happening.PURGED): _UNCOMMITTED,  # AN-11
    (_AVAILABLE, Happening.PURGED): _DELETED,  # DM-185
    (_DELAYED, Happening.PURGED): _DELETED,
    (_LOCKED, Happening.PURGED): _PURGE_PENDING,  # DM-184
    (_PURGE_PENDING, Happening.PURGED): _PURGE_PENDING,
    (_UNCOMMITTED, Happening.EXPIRED): _UNCOMMITTED,  # AN-46: commit looks at the clock
    (_AVAILABLE, Happening.EXPIRED): _DELETED,  # DM-297
    (_DELAYED, Happening.EXPIRED): _DELETED,
    (_LOCKED, Happening.EXPIRED): _LOCKED,  # AN-09: it is looked at again when it comes back
    (_PURGE_PENDING, Happening.EXPIRED): _PURGE_PENDING,  # AN-09
    (_UNCOMMITTED, Happening.QUEUE_DELETED): _UNCOMMITTED,  # the commit finds no queue
    (_AVAILABLE, Happening.QUEUE_DELETED): _DELETED,  # DM-154
    (_DELAYED, Happening.QUEUE_DELETED): _DELETED,
    (_LOCKED, Happening.QUEUE_DELETED): _DELETED,  # DM-154
    (_PURGE_PENDING, Happening.QUEUE_DELETED): _DELETED,  # DM-154
    **{
        (_DELETED, happening): _DELETED
        for happening in Happening
        if happening not in (Happening.SENT, Happening.SENT_FOR_LATER, Happening.JOINED)
    },
}
"""The next state for each event; None for an event that cannot happen in this state."""


def step(state: State, happening: Happening) -> State:
    """Return the next state of a position; an event that cannot happen is a programming error."""
    following = NEXT[state, happening]
    assert following is not None, f"a position that is {state.value} cannot be {happening.value}"
    return following


def state_of(position: Position, *, locked: bool) -> State:
    """Return the state of a position that is in a queue and not in an uncommitted transaction."""
    if position.due:
        return State.DELAYED
    if not locked:
        return State.AVAILABLE
    return State.PURGE_PENDING if position.purged else State.LOCKED
