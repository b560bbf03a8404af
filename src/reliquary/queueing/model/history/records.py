"""Defines the stored rows of the history: the events of one batch of turns, in groups.

    heads    the attributes that several groups share: what happened, in which queue, by whom, why
    groups   for each group, the index of its head, the number of its events, and its first numbers
    firsts   more first numbers of the groups whose head has the shape for them
    listed   the numbers of each event, in the columns that a group cannot express by its first number

A group is made of events that came one after the other and have one head.  Its first event has the first
number of a column; the others have the following numbers (`COLUMNS` has the step 1) or the number itself (the
step 0, and wherever the first number is 0).  Where this is not true of a column, the head has the flag
`listed` of that column, and all numbers are listed.

So the messages of one send, which mostly have following numbers and one size, cost as many bytes as one
message.  The columns of a file are made without a loop over events.  The key of a row is the number of its
first event.  `wire.history` lists the kinds of events and the columns of the file.
"""

from __future__ import annotations

from enum import IntFlag
from struct import Struct
from typing import Final, NamedTuple
from uuid import UUID

import msgspec


class Shape(IntFlag):
    """The numbers that each event of a head has besides the message and the LookupIdentifier, as flags.

    The bits from `LISTED` on are the flags of the columns whose numbers are listed.
    """

    SUBJECT = 1
    """The message came: size, sent time, priority.  Its identifier is `manager\\message` without NAMED."""
    NAMED = 2
    """The uniquifier of its identifier; the lineage is in the head."""
    NUMBERED = 4
    """The event has the message's number in its stream, and the previous number."""
    TIMED = 8
    """The moment when it expires."""
    TRIED = 16
    """The number of times that it was handed out."""
    CORRELATED = 32
    """The identifier of the message that it answers (its correlation)."""


LISTED: Final = 1 << 8


class Column(NamedTuple):
    """One number of an event, and how the numbers of a group follow from the first one."""

    name: str
    shape: int
    """The flag of the heads whose groups have this number; 0 for all."""
    format: str
    """The format of the first number, for `struct`: I for 32 bits, q for 64 bits."""
    step: int
    """The difference between the numbers of two events that follow each other in a group."""
    listed: int
    """The flag of the heads whose groups list this number for each event."""


COLUMNS: Final = tuple(
    Column(name, int(shape), form, step, LISTED << place)
    for place, (name, shape, form, step) in enumerate(
        (
            ("message", 0, "q", 1),  # the number of the message in the store; 0 for none
            ("offset", 0, "q", 0),  # the LookupIdentifier less the message; the identifier is 0 for none
            ("size", Shape.SUBJECT, "q", 0),
            ("sent", Shape.SUBJECT, "I", 0),  # seconds since 1970
            ("priority", Shape.SUBJECT, "I", 0),  # with the bit EXPRESS
            ("uniquifier", Shape.NAMED, "q", 1),
            ("number", Shape.NUMBERED, "q", 1),
            ("previous", Shape.NUMBERED, "q", 1),
            ("deadline", Shape.TIMED, "q", 0),  # microseconds since 1970
            ("attempt", Shape.TRIED, "I", 0),
        )
    )
)
BY_SHAPE: Final = {
    flag: tuple(column for column in COLUMNS if column.shape == flag)
    for flag in dict.fromkeys(column.shape for column in COLUMNS)
}
"""The columns of each shape, in the order in which their first numbers are stored; 0 has those of all."""
GROUP: Final = Struct("=II" + "".join(column.format for column in BY_SHAPE[0]))
"""The layout of a group: the index of its head, the count of its events, its message and its offset."""
FIRSTS: Final = {
    flag: Struct("=" + "".join(column.format for column in columns))
    for flag, columns in BY_SHAPE.items()
    if flag
}
"""For each flag of Shape: the layout of the first numbers that only groups with this flag have."""

EXPRESS: Final = 0x80
"""A bit that is added to the priority of an express message."""


class Head(msgspec.Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """The attributes that several groups share."""

    event: int
    queue: str = ""
    """The path name of the queue, or the destination of an outgoing queue; empty for none."""
    kind: str = ""
    """The kind of the queue: local, outgoing, journal, dead-letter or system; empty for none."""
    shape: int = 0
    """Flags of Shape, and the flags of the columns whose numbers are listed."""
    reason: int = 0
    """A MessageClass that says why, or 0."""
    by: str = ""
    """The cause of the event: api, loopback, spark, manager, or the label of a carrier."""
    other: str = ""
    """The queue to which the message was moved, or from which it came."""
    peer: str = ""
    """The other manager, from which the message came or to which it goes."""
    batch: str = ""
    """The batch or the transaction that the event belongs to."""
    lineage: UUID | None = None
    """The lineage in the identifiers, when the shape has NAMED."""
    ordinal: int = 0
    """The SequenceId of their stream, with `timestamp`; both are 0 when they are in no stream."""
    timestamp: int = 0
    transaction: UUID | None = None


class Events(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The events of one batch of turns; layouts have the byte order of the machine."""

    heads: list[Head]
    moments: list[tuple[int, int]]
    """Pairs of a group's index and the moment from that group on, microseconds since 1970."""
    groups: bytearray
    """Each group, with the layout of GROUP."""
    firsts: dict[int, bytearray]
    """For each flag of Shape: its groups, with the layout of FIRSTS; 0 where numbers are listed."""
    listed: dict[str, list[int]]
    """For each column: the numbers of all events whose head has the flag `listed` of the column."""
    correlations: list[tuple[UUID, int]]
    """The lineage and the uniquifier of each event with CORRELATED."""


class HistoryRow(msgspec.Struct, frozen=True, gc=False):
    """The stored events of one batch of turns."""

    count: int
    """The number of events in the record."""
    total: int
    """The size in bytes of the events in all rows that were ever written, up to this one."""
    events: bytes
    """The encoded `Events`; they are decoded only when they are exported."""


class HistoryMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last event that was exported to files, and whether events are missing."""

    exported: int = 0
    """The number of the last event that is in a file; all events before it are in files too."""
    exported_total: int = 0
    """The `total` of the last row that was exported."""
    last: int = 0
    """The number of the last event, if no row has it."""
    missing: int = 0
    """The number of events that were lost because there was no room; the next row begins with a GAP."""
    gap: bool = False
    """Events are missing, possibly an unknown number, because there was no room or the history was off."""
    off: bool = False
    """The history was off when the store was last opened."""


encode_events: Final = msgspec.msgpack.Encoder().encode
decode_events: Final = msgspec.msgpack.Decoder(Events).decode
