"""What is stated of batches from outside."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.tables import Published, Stage, StagedChunk


class StageChanged(Fact, frozen=True):
    """A part begins, is complete, or is dropped."""

    number: int
    stage: Stage


class MessagesStaged(Fact, frozen=True):
    """Messages are in a part, and in no queue."""

    number: int
    stage: Stage
    """The part with these messages; they are its last chunk."""
    chunk: StagedChunk
    messages: tuple[Message, ...]

    @property
    def volatile(self) -> bool:
        """Until its part is complete, nobody was promised that a message outlives a crash."""
        return True


class StagePublished(Fact, frozen=True):
    """What was staged for a queue is in it now, at these positions; its message rows were there before."""

    query: str
    batch: int
    queue: int
    positions: tuple[Position, ...]
    stamped: tuple[tuple[int, Message], ...] = ()
    """Numbers and messages of those that are known better now: when they were sent, which is the first."""


class BatchPublished(Fact, frozen=True):
    """The ledger knows this batch, and these parts are no more; beside this stands what they held."""

    query: str
    record: Published
    stages: tuple[int, ...]


class ChunksDropped(Fact, frozen=True):
    """Some messages of a part that was dropped are gone; with `last`, the part itself."""

    number: int
    indexes: tuple[int, ...]
    messages: tuple[int, ...]
    """Their numbers."""
    last: bool


class WriterForgotten(Fact, frozen=True):
    """A query is not known any more, with the names that it wrote under, or a name alone is not."""

    query: str = ""
    writer: str = ""
