"""The rows of the history: what one batch of turns told, group by group.

A group is what one fact says of several messages at once, so its cost is a few numbers a message.  Rows are
numbered by their first event; the events of all groups of a row follow each other without a gap.
docs/reference/history.md lists the kinds and the columns that they become in the exported files.
"""

from __future__ import annotations

from enum import IntEnum
from uuid import UUID

import msgspec


class Happening(IntEnum):
    """What happened; the numbers are on disk and never change their meaning."""

    ACCEPTED = 1
    """An application's message is in a queue of this manager."""
    ARRIVED = 2
    """A message came from another manager and is in its queue."""
    QUEUED = 3
    """A message waits in an outgoing queue."""
    DELAYED = 4
    DUE = 5
    HANDED_OUT = 6
    """Somebody has it on trial or in a transaction."""
    RETURNED = 7
    """It came back from there."""
    HELD = 8
    """A carrier sends it in a batch, and the outcome is in doubt until RELEASED or DELIVERED."""
    RELEASED = 9
    """The batch did not get there: it waits again."""
    SENT = 10
    """The peer has it, and tells the end later."""
    DELIVERED = 11
    """It left an outgoing queue because the next manager has it."""
    RECEIVED = 12
    """An application took it."""
    EXPIRED = 13
    PURGED = 14
    REJECTED = 15
    """It left its queue unread for another reason, which is told."""
    MOVED = 16
    JOURNALED = 17
    """A copy is in a journal."""
    DEAD_LETTERED = 18
    POISONED = 19
    PREPARED = 20
    """It was sent in a transaction that is in doubt until COMMITTED or ABORTED."""
    COMMITTED = 21
    ABORTED = 22
    DUPLICATE = 23
    """It came once more, was known, and was dropped."""
    REFUSED = 24
    """It came, or was sent, and was not taken."""
    ACKNOWLEDGED = 25
    """Another manager told what became of it; the reason says what."""
    GAP = 26
    """So many events are missing, because the history had no room; `message` counts them."""


class Subject(msgspec.Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """What is known of one message when it comes; later events name it by its number alone."""

    lineage: UUID | None = None
    """None for a message of this manager: its uniquifier is in its number."""
    uniquifier: int = 0
    size: int = 0
    priority: int = 3
    sent_time: int = 0
    """Seconds since 1970."""
    deadline: int = 0
    """Microseconds since 1970; 0 is never."""
    ordinal: int = 0
    """Of its stream: SequenceId, both parts 0 outside any."""
    timestamp: int = 0
    number: int = 0
    """In its stream."""
    previous: int = 0
    transaction: UUID | None = None
    correlation_lineage: UUID | None = None
    correlation: int = 0


class Told(msgspec.Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """One fact as the history tells it."""

    happening: Happening
    moment: int
    """Microseconds since 1970."""
    queue: str
    """Its path name, or the destination of an outgoing queue; empty for none."""
    messages: tuple[int, ...]
    """Their numbers, as `Position.message`; 0 for one that never got any."""
    lookup_ids: tuple[int, ...] = ()
    subjects: tuple[Subject, ...] = ()
    """With those that come; else empty."""
    reason: int = 0
    """A MessageClass."""
    other: str = ""
    """The queue that it was moved to, or came from."""
    by: str = ""
    """The protocol that brought or carries it: api, srmp, httpr, multicast, loopback, spark."""
    peer: str = ""
    """Whom it came from or goes to."""
    batch: str = ""
    """The batch, channel or transaction it belongs to."""
    attempts: tuple[int, ...] = ()
    """How often each was handed out."""


class HistoryRow(msgspec.Struct, frozen=True, gc=False):
    """All that one batch of turns told; its key is the number of the first event."""

    count: int
    told: tuple[Told, ...]
