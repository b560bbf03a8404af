"""What is stated of batches from outside."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.queueing.message import Message, Position
from reliquary.queueing.tables import Published, Stage


class StageChanged(Fact, frozen=True):
    """A part begins, or is complete."""

    number: int
    stage: Stage


class MessagesStaged(Fact, frozen=True):
    """Messages are on disk, and in no queue."""

    stage: int
    index: int
    queue: int
    positions: tuple[Position, ...]
    messages: tuple[Message, ...]


class StagePublished(Fact, frozen=True):
    """What was staged is in a queue, at these positions; its rows were there and now show."""

    queue: int
    positions: tuple[Position, ...]


class BatchPublished(Fact, frozen=True):
    """The ledger knows this batch, and these stages are no more."""

    query: str
    record: Published
    stages: tuple[int, ...]


class StagesDropped(Fact, frozen=True):
    """Parts are gone with their messages."""

    stages: tuple[int, ...]


class WriterForgotten(Fact, frozen=True):
    """A query or a writer's name is not known any more."""

    query: str
    writer: str
