"""Keeps in memory the parts of batches that writers have staged and not published; memory grows with the
parts.

    stages     by number          every part that has rows, also those that are being deleted
    places     by attempt         the part that an attempt writes to now
    batches    by query, batch    the parts that can still be published together
    ledger     by query           the last batch of each query, the longest unused first
    writers    by name            the query that writes under a name
    released   by query           the era in which a forgotten query may go on after a restore
    current    one or none        the batch that gets its places in several turns

`stages`, `ledger`, `writers`, `released` and the record of `current` are also stored as rows; the other
tables are computed from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID, uuid5

from reliquary.base.turn import Event
from reliquary.queueing.model.tables import LANE_SHIFT, Published, Publishing, Stage, StagedChunk

BATCHES: Final = UUID("7d1a3a0e-6d0c-5c55-9a43-5f1f0a4c1c11")
"""The UUID namespace for the identifiers of batches."""

PEEKABLE: Final = 0x01
"""A bit of `StagedChunk.marks`: the message has AllowPeekWhenLocked."""
DEAD_LETTER: Final = 0x02
"""A bit of `StagedChunk.marks`: the message has NegativeJournalingRequested."""
ASKS: Final = 0x04
"""A bit of `StagedChunk.marks`: the message is loaded in the turn that shows it.

It is set if the message is delayed, or requests journaling or an acknowledgement.
"""
EXPIRES: Final = 0x08
"""A bit of `StagedChunk.marks`: the message can expire, and requests nothing for which ASKS is set."""

PartKey = tuple[str, int, int, str]
"""The query, batch, part and attempt of a part."""


def numbers_of(chunk: StagedChunk) -> range:
    """Return the numbers of the messages in a chunk."""
    return range(chunk.first, chunk.first + len(chunk.sizes))


class NumberedChunk(NamedTuple):
    """A chunk of a batch, with the sequence number that its first message gets; the others follow it."""

    chunk: StagedChunk
    first: int

    @property
    def asks(self) -> bool:
        """Return whether a message of the chunk has the mark ASKS."""
        return any(mark & ASKS for mark in self.chunk.marks)

    @property
    def expires(self) -> bool:
        """Return whether a message of the chunk has the mark EXPIRES."""
        return any(mark & EXPIRES for mark in self.chunk.marks)


class Ends(NamedTuple):
    """The numbers of the first and the last message of a batch.

    A batch is a transaction, so these two messages are marked as its ends (DM-103, DM-104).
    """

    first: int
    last: int


@dataclass(slots=True)
class Hidden:
    """Messages of a batch that have positions in one queue, where readers do not see them yet."""

    count: int = 0
    size: int = 0
    lanes: dict[int, tuple[int, int]] = field(default_factory=dict)
    """For each lane, the lowest LookupIdentifier and the number of positions."""
    expires: bool = False
    """Whether one of these messages can expire."""

    def add(self, numbered: NumberedChunk) -> None:
        """Add the messages of a chunk."""
        lanes, count = numbered.chunk.lanes, len(numbered.chunk.sizes)
        self.count += count
        self.size += sum(numbered.chunk.sizes)
        self.expires = self.expires or numbered.expires
        if len(lanes) == 1:
            self._add(lanes[0], numbered.first, count)
        else:
            for place, lane in enumerate(lanes):
                self._add(lane, numbered.first + place, 1)

    def _add(self, lane: int, sequence: int, count: int) -> None:
        lowest, before = self.lanes.get(lane, ((lane << LANE_SHIFT) + sequence, 0))
        self.lanes[lane] = (lowest, before + count)


@dataclass(slots=True)
class Batch:
    """The batch whose messages get their positions in several turns."""

    record: Publishing
    chunks: tuple[NumberedChunk, ...]
    """All its chunks, in the order in which they get their places."""
    ends: Ends
    hidden: dict[int, Hidden] = field(default_factory=dict)
    """The messages that earlier turns have placed, by the number of the queue."""

    @property
    def size(self) -> int:
        """Return the bytes of its messages."""
        return sum(self.size_by_queue.values())

    @property
    def size_by_queue(self) -> dict[int, int]:
        """Return the bytes of its messages for each queue."""
        sizes = dict[int, int]()
        for chunk, _ in self.chunks:
            sizes[chunk.queue] = sizes.get(chunk.queue, 0) + sum(chunk.sizes)
        return sizes


@dataclass(slots=True)
class Staging:
    """The parts of batches, and the queries that write them."""

    stages: dict[int, Stage] = field(default_factory=dict)
    ledger: dict[str, Published] = field(default_factory=dict)
    writers: dict[str, str] = field(default_factory=dict)
    released: dict[str, int] = field(default_factory=dict)
    places: dict[PartKey, int] = field(default_factory=dict)
    batches: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    going: dict[int, int] = field(default_factory=dict)
    """Dropped parts that are being deleted, with the index of the next chunk to delete."""
    bytes: int = 0
    """The size of all parts."""
    sweeping: bool = False
    """A later turn continues to delete dropped parts."""
    current: Batch | None = None
    """The batch that gets its places in several turns."""
    reserved: int = 0
    """The bytes of that batch, which count against the quotas from its first turn on."""
    publisher: int | None = None
    """The caller who gets the answer when that batch is published; None after a restart."""
    waiting: list[Event] = field(default_factory=list)
    """Requests to publish that wait until that batch is published."""
    watched: bool = False
    """Whether the timer of the search for old parts is set."""

    def find(self, number: int) -> Stage | None:
        """Return a part that can still be written or published, or None."""
        stage = self.stages.get(number)
        if stage is None or stage.dropped:
            return None
        if self.current is not None and number in self.current.record.stages:
            return None
        return stage

    def put(self, number: int, stage: Stage) -> None:
        """Store the new record of a part."""
        before = self.stages.get(number)
        self.bytes += stage.size - (before.size if before else 0)
        self.stages[number] = stage
        if not stage.dropped:
            self.places[stage.query, stage.batch, stage.part, stage.attempt] = number
            self.batches.setdefault((stage.query, stage.batch), set()).add(number)
        elif number not in self.going:
            self.going[number] = 0
            self._leave(number, stage)

    def remove(self, number: int) -> None:
        """Remove a part whose rows are deleted."""
        stage = self.stages.pop(number)
        self.bytes -= stage.size
        if self.going.pop(number, None) is None:
            self._leave(number, stage)

    def _leave(self, number: int, stage: Stage) -> None:
        """Remove a part from those that can be written and published."""
        place = (stage.query, stage.batch, stage.part, stage.attempt)
        if self.places.get(place) == number:
            del self.places[place]
        together = self.batches.get((stage.query, stage.batch), set())
        together.discard(number)
        if not together:
            self.batches.pop((stage.query, stage.batch), None)

    def publish(self, query: str, record: Published) -> None:
        """Record the last batch of a query, and move the query to the end of the ledger."""
        self.ledger.pop(query, None)
        self.ledger[query] = record
        if record.writer:
            self.writers[record.writer] = query

    def names_of(self, query: str) -> list[str]:
        """Return the writer names of a query."""
        return [writer for writer, owner in self.writers.items() if owner == query]

    def messages_with(self, number: int, more: int) -> int:
        """Return how many messages a batch has when `more` are added to one of its parts.

        When a part has several attempts, the longest counts.
        """
        subject, longest = self.stages[number], dict[int, int]()
        for each in self.batches[subject.query, subject.batch]:
            stage = self.stages[each]
            messages = stage.messages + (more if each == number else 0)
            longest[stage.part] = max(longest.get(stage.part, 0), messages)
        return sum(longest.values())

    def settled(self, query: str, until: int) -> list[int]:
        """Return the numbers of all parts of a query's batches up to this one."""
        numbers: Iterable[set[int]] = (
            each for (owner, batch), each in self.batches.items() if owner == query and batch <= until
        )
        return sorted(number for each in numbers for number in each)

    def awaited(self) -> set[int]:
        """Return the numbers of the queues that staged messages will go to."""
        return {queue for each in self.stages.values() if not each.dropped for queue in each.queues}


def batch_identifier(query: str, batch: int) -> UUID:
    """Return the TransactionIdentifier of all messages of a batch; readers see what belongs together."""
    return uuid5(BATCHES, f"{query}\0{batch}")
