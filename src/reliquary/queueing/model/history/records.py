"""The rows of the history: what one batch of turns told, as columns.

    heads    what several events have in common: what happened, in which queue, by whom, why
    places   for each event, its head
    then     numbers for each event, and more for those whose head has the shape for it

A batch is mostly a thousand events with a few heads, so an event costs a few bytes and no struct of its own,
and becomes columns of a file without being looked at one by one.  A row's key is the number of its first
event.  `wire.history` lists the events and the columns that this becomes.
"""

from __future__ import annotations

from enum import IntFlag
from typing import Final
from uuid import UUID

import msgspec


class Shape(IntFlag):
    """Which numbers each event of a head has, beside the message and the LookupIdentifier."""

    SUBJECT = 1
    """The message comes: size, sent time, priority.  It is `manager\\message` unless it is NAMED."""
    NAMED = 2
    """Its uniquifier; the lineage is in the head."""
    NUMBERED = 4
    """Its number in its stream, and the one before."""
    TIMED = 8
    """Its deadline."""
    TRIED = 16
    """How often it was handed out."""
    CORRELATED = 32
    """The message that it names."""


EXPRESS: Final = 0x80
"""Beside the priority of a message that is kept in memory only."""


class Head(msgspec.Struct, frozen=True, gc=False, array_like=True, omit_defaults=True):
    """What events have in common."""

    happening: int
    queue: str = ""
    """Its path name, or the destination of an outgoing queue; empty for none."""
    kind: str = ""
    """Of the queue: local, outgoing, journal, dead-letter, system; empty for none."""
    shape: int = 0
    reason: int = 0
    """A MessageClass."""
    by: str = ""
    """Who did it: api, loopback, spark, manager, or the label of a carrier."""
    other: str = ""
    """The queue that it was moved to, or came from."""
    peer: str = ""
    """Whom it came from or goes to."""
    batch: str = ""
    """The batch or the transaction it belongs to."""
    lineage: UUID | None = None
    """Of messages that are NAMED."""
    ordinal: int = 0
    """Of their stream: SequenceId, both parts 0 outside any."""
    timestamp: int = 0
    transaction: UUID | None = None


class HistoryRow(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """All that one batch of turns told.  The bytes are numbers in the order of the machine."""

    count: int
    total: int
    """Bytes of all rows that were ever written, up to this one."""
    heads: tuple[Head, ...]
    moments: tuple[tuple[int, int], ...]
    """From which event on it was when: microseconds since 1970."""
    places: bytes
    """32 bits for each event: its head."""
    messages: bytes
    """64 bits; the numbers under which they are stored, 0 for none."""
    lookup_ids: bytes
    """64 bits; 0 for none."""
    sizes: bytes = b""
    """64 bits."""
    sents: bytes = b""
    """32 bits; seconds since 1970."""
    priorities: bytes = b""
    """8 bits."""
    uniquifiers: bytes = b""
    """64 bits."""
    numbers: bytes = b""
    """64 bits."""
    previous: bytes = b""
    """64 bits."""
    deadlines: bytes = b""
    """64 bits; microseconds since 1970."""
    attempts: bytes = b""
    """32 bits."""
    correlations: tuple[tuple[UUID, int], ...] = ()


class HistoryMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far the history is in files, and what is missing in it."""

    exported: int = 0
    """All events up to this one are in files."""
    exported_total: int = 0
    """The `total` of the last row that went to files."""
    last: int = 0
    """The last event that was told, when no row says it."""
    missing: int = 0
    """Events that were not told since there was no room; the next row begins with a GAP that says so."""
    gap: bool = False
    """The same, also where nobody counted them: the history was off."""
    off: bool = False
    """It was off when the store was opened last."""
