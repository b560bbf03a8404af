"""What the manager knows of parts, batches and writers, in memory: as much as there are parts, not messages.

    stages     by number          every part that has rows, those that are going among them
    places     by what it is of   the part that an attempt writes to now
    batches    by query, batch    the parts that may still be published together
    ledger     by query           the last batch of each, the longest unused first
    writers    by name            whose it is

The rows say the same of `stages`, `ledger` and `writers`; the rest follows from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid5

from reliquary.queueing.model.tables import Published, Stage, StagedChunk

BATCHES: Final = UUID("7d1a3a0e-6d0c-5c55-9a43-5f1f0a4c1c11")
"""The namespace of batches among identifiers."""

Place = tuple[str, int, int, str]
"""Query, batch, part and attempt."""


def numbers_of(chunk: StagedChunk) -> range:
    """The numbers of its messages."""
    return range(chunk.first, chunk.first + len(chunk.sizes))


@dataclass(slots=True)
class Staging:
    """Parts of batches, and what is known of those who write them."""

    stages: dict[int, Stage] = field(default_factory=dict)
    ledger: dict[str, Published] = field(default_factory=dict)
    writers: dict[str, str] = field(default_factory=dict)
    places: dict[Place, int] = field(default_factory=dict)
    batches: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    going: dict[int, int] = field(default_factory=dict)
    """Parts that were dropped, and the chunk of each that goes next."""
    bytes: int = 0
    """Of all parts."""
    sweeping: bool = False
    """A later turn takes more of those that are going."""
    watched: bool = False
    """The timer that looks for old parts is set."""

    def find(self, number: int) -> Stage | None:
        """A part that may still be written or published."""
        stage = self.stages.get(number)
        return None if stage is None or stage.dropped else stage

    def put(self, number: int, stage: Stage) -> None:
        """A part is like this now."""
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
        """A part is no more."""
        stage = self.stages.pop(number)
        self.bytes -= stage.size
        if self.going.pop(number, None) is None:
            self._leave(number, stage)

    def _leave(self, number: int, stage: Stage) -> None:
        """It can be published no longer."""
        place = (stage.query, stage.batch, stage.part, stage.attempt)
        if self.places.get(place) == number:
            del self.places[place]
        together = self.batches.get((stage.query, stage.batch), set())
        together.discard(number)
        if not together:
            self.batches.pop((stage.query, stage.batch), None)

    def publish(self, query: str, record: Published) -> None:
        """The last batch of a query; it is used now, so it is the last to be forgotten."""
        self.ledger.pop(query, None)
        self.ledger[query] = record
        if record.writer:
            self.writers[record.writer] = query

    def names_of(self, query: str) -> list[str]:
        """The names that a query writes under."""
        return [writer for writer, owner in self.writers.items() if owner == query]

    def messages_with(self, number: int, more: int) -> int:
        """How many messages a batch has with so many more in one of its parts.

        Of several attempts at one part the longest counts.
        """
        subject, longest = self.stages[number], dict[int, int]()
        for each in self.batches[subject.query, subject.batch]:
            stage = self.stages[each]
            messages = stage.messages + (more if each == number else 0)
            longest[stage.part] = max(longest.get(stage.part, 0), messages)
        return sum(longest.values())

    def settled(self, query: str, until: int) -> list[int]:
        """The parts of a query's batches up to this one."""
        numbers: Iterable[set[int]] = (
            each for (owner, batch), each in self.batches.items() if owner == query and batch <= until
        )
        return sorted(number for each in numbers for number in each)

    def awaited(self) -> set[int]:
        """The queues that messages are to go to."""
        return {queue for each in self.stages.values() if not each.dropped for queue in each.queues}


def batch_identifier(query: str, batch: int) -> UUID:
    """TransactionIdentifier of all messages of a batch: readers see what was published together."""
    return uuid5(BATCHES, f"{query}\0{batch}")
