"""The parts of batches that writers stage before they publish them, in memory; memory grows with the parts.

    stages     by number          every part that has rows, also those that are being deleted
    places     by attempt         the part that an attempt writes to now
    batches    by query, batch    the parts that can still be published together
    ledger     by query           the last batch of each query, the longest unused first
    writers    by name            the query that writes under a name

`stages`, `ledger` and `writers` are also stored as rows; the other tables are computed from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid5

from reliquary.queueing.model.tables import Published, Stage, StagedChunk

BATCHES: Final = UUID("7d1a3a0e-6d0c-5c55-9a43-5f1f0a4c1c11")
"""The UUID namespace for the identifiers of batches."""

Place = tuple[str, int, int, str]
"""The query, batch, part and attempt of a part."""


def numbers_of(chunk: StagedChunk) -> range:
    """Return the numbers of the messages in a chunk."""
    return range(chunk.first, chunk.first + len(chunk.sizes))


@dataclass(slots=True)
class Staging:
    """The parts of batches, and the queries that write them."""

    stages: dict[int, Stage] = field(default_factory=dict)
    ledger: dict[str, Published] = field(default_factory=dict)
    writers: dict[str, str] = field(default_factory=dict)
    places: dict[Place, int] = field(default_factory=dict)
    batches: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    going: dict[int, int] = field(default_factory=dict)
    """Dropped parts that are being deleted, with the index of the next chunk to delete."""
    bytes: int = 0
    """The size of all parts."""
    sweeping: bool = False
    """A later turn continues to delete dropped parts."""
    watched: bool = False
    """Whether the timer is set that looks for old parts."""

    def find(self, number: int) -> Stage | None:
        """Return a part that can still be written or published, or None."""
        stage = self.stages.get(number)
        return None if stage is None or stage.dropped else stage

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
