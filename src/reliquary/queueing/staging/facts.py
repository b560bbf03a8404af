"""The facts about batches: what staging and publishing change in the state and in the store."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.staging import Ends, NumberedChunk
from reliquary.queueing.model.tables import Published, Publishing, Stage, StagedChunk


class StageChanged(Fact, frozen=True):
    """A part of a batch was begun, completed, or dropped."""

    number: int
    stage: Stage


class MessagesStaged(Fact, frozen=True):
    """Messages were written to a part; they are not in a queue yet."""

    number: int
    stage: Stage
    """The part, with these messages counted; they are its last chunk."""
    chunk: StagedChunk
    messages: tuple[Message, ...]

    @property
    def volatile(self) -> bool:
        """Return True: a message need not survive a crash before its part is complete."""
        return True


class StagePublished(Fact, frozen=True):
    """The staged messages of one queue are now in it, at these positions; staging wrote their rows."""

    query: str
    batch: int
    queue: int
    positions: tuple[Position, ...]
    stamped: tuple[tuple[int, Message], ...] = ()
    """Numbers and messages whose rows change: SentTime, or first or last of the transaction, is now known."""


class BatchBegun(Fact, frozen=True):
    """A batch gets its positions in several turns; from now on it is certain to be published as a whole."""

    record: Publishing
    chunks: tuple[NumberedChunk, ...]
    ends: Ends


class StagePlaced(Fact, frozen=True):
    """Staged messages of one queue have positions there; readers see them after BatchPublished."""

    query: str
    batch: int
    queue: int
    positions: tuple[Position, ...]
    stamped: tuple[tuple[int, Message], ...] = ()
    """Numbers and messages whose rows change: first or last of the transaction is now known."""


class BatchAdvanced(Fact, frozen=True):
    """The record of a batch in several turns, with the chunks counted that a turn has worked on."""

    record: Publishing


class BatchPublished(Fact, frozen=True):
    """The batch is in the ledger, and its parts are removed; readers see all its messages.

    StagePublished facts of this turn place the messages that StagePlaced facts of earlier turns have not.
    """

    query: str
    record: Published
    stages: tuple[int, ...]


class ChunksDropped(Fact, frozen=True):
    """Some chunks and messages of a dropped part are deleted; with `last`, the part is deleted too."""

    number: int
    indexes: tuple[int, ...]
    messages: tuple[int, ...]
    """The numbers of the deleted messages."""
    last: bool


class QueryReleased(Fact, frozen=True):
    """A query may go on in this era of a restored store, although batches of it may be lost."""

    query: str
    era: int


class WriterForgotten(Fact, frozen=True):
    """A query and its writer's names were removed from the ledger, or only one writer's name."""

    query: str = ""
    writer: str = ""
