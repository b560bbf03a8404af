"""Implements cursors, [MS-MQDMPR] 3.2, by a table with an entry for every case.

          peek: found                   a cursor is at a place, not on a message: the message there
UNREAD ------------------> READ         may be removed, and the next one is still found (AN-34)
 | ^  ^ receive: found ------'|
 | |   time-out, arrival      | peek next: no message left
 | '------ WAIT_RECEIVE       |
 '-------> WAIT_PEEK <--------'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.queueing.model.tables import LAST_ID

START: Final = -1
"""The LookupIdentifier before the first position."""
END: Final = LAST_ID
"""The LookupIdentifier after the last position (AN-33)."""


class CursorState(Enum):
    """The states of a cursor (DM-069)."""

    UNREAD = "unread"
    WAIT_RECEIVE = "wait-receive"
    WAIT_PEEK = "wait-peek"
    READ = "read"


class Ask(Enum):
    """The events of 3.2.7 that ask for a message."""

    PEEK = "get message for peek"
    PEEK_NEXT = "get next message for peek"
    RECEIVE = "get next message for dequeue"
    RECEIVE_NOW = "get next message for dequeue, no wait"


class Seen(Enum):
    """Whether a message was found: after the cursor, or at its place when the cursor stays."""

    HIT = "hit"
    MISS = "miss"


class Outcome(Enum):
    """The result of an event."""

    SUCCEEDED = "succeeded"
    WAITING = "waiting"
    NOT_FOUND = "not found"
    ALREADY_RECEIVED = "already received"
    ILLEGAL = "illegal cursor action"


STATUS: Final[Mapping[Outcome, HResult]] = {
    Outcome.SUCCEEDED: HResult.OK,
    Outcome.WAITING: HResult.IO_TIMEOUT,
    Outcome.NOT_FOUND: HResult.MESSAGE_NOT_FOUND,
    Outcome.ALREADY_RECEIVED: HResult.MESSAGE_ALREADY_RECEIVED,
    Outcome.ILLEGAL: HResult.ILLEGAL_CURSOR_ACTION,
}

_UNREAD, _READ = CursorState.UNREAD, CursorState.READ
_WAIT_PEEK, _WAIT_RECEIVE = CursorState.WAIT_PEEK, CursorState.WAIT_RECEIVE

NEXT: Final[Mapping[tuple[CursorState, Ask, Seen], tuple[CursorState, Outcome]]] = {
    (_UNREAD, Ask.PEEK, Seen.HIT): (_READ, Outcome.SUCCEEDED),  # DM-326
    (_UNREAD, Ask.PEEK, Seen.MISS): (_WAIT_PEEK, Outcome.WAITING),  # DM-326
    (_READ, Ask.PEEK, Seen.HIT): (_READ, Outcome.SUCCEEDED),  # DM-326
    (_READ, Ask.PEEK, Seen.MISS): (_READ, Outcome.ALREADY_RECEIVED),  # DM-326
    (_UNREAD, Ask.PEEK_NEXT, Seen.HIT): (_UNREAD, Outcome.ILLEGAL),  # DM-327
    (_UNREAD, Ask.PEEK_NEXT, Seen.MISS): (_UNREAD, Outcome.ILLEGAL),  # DM-327
    (_READ, Ask.PEEK_NEXT, Seen.HIT): (_READ, Outcome.SUCCEEDED),  # DM-327
    (_READ, Ask.PEEK_NEXT, Seen.MISS): (_WAIT_PEEK, Outcome.WAITING),  # DM-327
    (_UNREAD, Ask.RECEIVE, Seen.HIT): (_UNREAD, Outcome.SUCCEEDED),  # DM-328
    (_UNREAD, Ask.RECEIVE, Seen.MISS): (_WAIT_RECEIVE, Outcome.WAITING),  # DM-328
    (_READ, Ask.RECEIVE, Seen.HIT): (_UNREAD, Outcome.SUCCEEDED),  # DM-328
    (_READ, Ask.RECEIVE, Seen.MISS): (_READ, Outcome.ALREADY_RECEIVED),  # DM-328
    (_UNREAD, Ask.RECEIVE_NOW, Seen.HIT): (_UNREAD, Outcome.SUCCEEDED),  # DM-328
    (_UNREAD, Ask.RECEIVE_NOW, Seen.MISS): (_UNREAD, Outcome.NOT_FOUND),  # DM-329
    (_READ, Ask.RECEIVE_NOW, Seen.HIT): (_UNREAD, Outcome.SUCCEEDED),  # DM-328
    (_READ, Ask.RECEIVE_NOW, Seen.MISS): (_READ, Outcome.ALREADY_RECEIVED),  # DM-328
    # AN-33: a cursor has one wait at a time
    **{
        (state, ask, seen): (state, Outcome.ILLEGAL)
        for state in (_WAIT_PEEK, _WAIT_RECEIVE)
        for ask in Ask
        for seen in Seen
    },
}

ARRIVED: Final[Mapping[CursorState, CursorState]] = {_WAIT_PEEK: _READ, _WAIT_RECEIVE: _UNREAD}
"""The next state after Message Available, 3.2.7.5 (DM-330)."""

TIMED_OUT: Final[Mapping[CursorState, CursorState]] = {_WAIT_PEEK: _UNREAD, _WAIT_RECEIVE: _UNREAD}
"""The next state after Wait Time Expired, 3.2.7.6 (DM-331)."""


@dataclass(slots=True)
class Cursor:
    """A cursor: a LookupIdentifier in a queue, and whether the message there was read."""

    handle: int
    descriptor: int
    place: int = START  # DM-041
    """The LookupIdentifier of the cursor (MessagePositionReference)."""
    state: CursorState = CursorState.UNREAD

    def stays(self, ask: Ask) -> bool:
        """Return whether an event concerns the position at the cursor, and not the next one."""
        return self.state is CursorState.READ and ask is not Ask.PEEK_NEXT

    def step(self, ask: Ask, found: int | None) -> Outcome:
        """Change the cursor for an event and return its result; `found` is a LookupIdentifier or None."""
        seen = Seen.MISS if found is None else Seen.HIT
        self.state, outcome = NEXT[self.state, ask, seen]
        if outcome is Outcome.SUCCEEDED and found is not None:
            self.place = found
        return outcome

    def arrived(self, lookup_id: int) -> None:
        """End the wait at the message that became available, anywhere in the queue (AN-50)."""
        self.state = ARRIVED[self.state]
        self.place = lookup_id

    def timed_out(self) -> None:
        """End the wait without a message; after a receive, the cursor is at the end."""
        if self.state is CursorState.WAIT_RECEIVE:
            self.place = END
        self.state = TIMED_OUT[self.state]
