"""The stored rows of the history: the events of one batch of turns, as columns.

    heads    the attributes that several events share: what happened, in which queue, by whom, why
    places   for each event, the index of its head
    then     numbers for each event, and more numbers for the events whose head has the shape for them

A batch mostly has a thousand events with a few heads.  So an event costs a few bytes and no struct, and the
columns of a file are made without a loop over events.  The key of a row is the number of its first event.
`wire.history` lists the kinds of events and the columns of the file.
"""

from __future__ import annotations

from enum import IntFlag
from typing import Final
from uuid import UUID

import msgspec


class Shape(IntFlag):
    """The numbers that each event of a head has besides the message and the LookupIdentifier, as flags."""

    SUBJECT = 1
    """The message came: size, sent time, priority.  Its identifier is `manager\\message` without NAMED."""
    NAMED = 2
    """The uniquifier of its identifier; the lineage is in the head."""
    NUMBERED = 4
    """Its number in its stream, and the previous number."""
    TIMED = 8
    """The moment when it expires."""
    TRIED = 16
    """The number of times that it was handed out."""
    CORRELATED = 32
    """The identifier of the message that it answers (its correlation)."""


EXPRESS: Final = 0x80
"""A bit that is added to the priority of an express message."""


class Head(msgspec.Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """The attributes that several events share."""

    happening: int
    queue: str = ""
    """The path name of the queue, or the destination of an outgoing queue; empty for none."""
    kind: str = ""
    """The kind of the queue: local, outgoing, journal, dead-letter or system; empty for none."""
    shape: int = 0
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


class HistoryRow(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The events of one batch of turns.  The bytes are numbers in the byte order of the machine."""

    count: int
    total: int
    """The size in bytes of all rows that were ever written, up to this one."""
    heads: tuple[Head, ...]
    moments: tuple[tuple[int, int], ...]
    """Pairs of an event's index and the moment from that event on, microseconds since 1970."""
    places: bytes
    """The index of each event's head, 32 bits."""
    messages: bytes
    """The number of each event's message in the store, 64 bits; 0 for none."""
    lookup_ids: bytes
    """The LookupIdentifier of each event, 64 bits; 0 for none."""
    sizes: bytes = b""
    """The size of each message that came, 64 bits."""
    sents: bytes = b""
    """The sent time of each message that came, 32 bits; seconds since 1970."""
    priorities: bytes = b""
    """The priority of each message that came, 8 bits, with the bit EXPRESS."""
    uniquifiers: bytes = b""
    """The uniquifier of each event with NAMED, 64 bits."""
    numbers: bytes = b""
    """The stream number of each event with NUMBERED, 64 bits."""
    previous: bytes = b""
    """The previous stream number of each event with NUMBERED, 64 bits."""
    deadlines: bytes = b""
    """The deadline of each event with TIMED, 64 bits; microseconds since 1970."""
    attempts: bytes = b""
    """The number of hand-outs of each event with TRIED, 32 bits."""
    correlations: tuple[tuple[UUID, int], ...] = ()


class HistoryMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last event that was exported to files, and whether events are missing."""

    exported: int = 0
    """The last event that is in a file, as are all events before it."""
    exported_total: int = 0
    """The `total` of the last row that was exported."""
    last: int = 0
    """The number of the last event, when no row says it."""
    missing: int = 0
    """The number of events that were lost because there was no room; the next row begins with a GAP."""
    gap: bool = False
    """Events are missing, possibly an unknown number, because there was no room or the history was off."""
    off: bool = False
    """The history was off when the store was last opened."""
