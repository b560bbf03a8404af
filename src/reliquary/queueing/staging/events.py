"""The requests of writers of batches, and the answers to them."""

from __future__ import annotations

from reliquary.base.turn import Event
from reliquary.queueing.model.events import Answer, Request
from reliquary.queueing.model.message import Message


class BeginStage(Request, frozen=True):
    """Begin to write a part of a batch; an attempt that begins a second time starts with no messages."""

    to: int
    query: str
    batch: int
    part: int
    attempt: str


class StageMessages(Request, frozen=True):
    """Add messages for one queue, here or on another manager, to a part; `StageAnswer` answers.

    If one message breaks a rule, all are refused; the answer says why, and which one (`bad`, its index in
    `messages`).
    """

    to: int
    stage: int
    queue: str
    messages: tuple[Message, ...]


class CompleteStage(Request, frozen=True):
    """Mark a part as complete; after the answer it may be published."""

    to: int
    stage: int


class PublishBatch(Request, frozen=True):
    """Put the messages of these stages into their queues, in this order, once for each query and batch."""

    to: int
    query: str
    batch: int
    stages: tuple[int, ...]
    writer: str = ""
    """If not empty: the request is refused if another query has published under this name."""
    take_over: bool = False
    """The query takes the writer's name over, and goes on although a restore may have lost batches of it."""
    spread: str = ""
    """The distribution of the rows over managers; it must be equal when the batch is published again."""


class DropStages(Request, frozen=True):
    """Drop stages that will not be published; stages that are gone or were published are ignored."""

    to: int
    stages: tuple[int, ...]


class ForgetWriter(Request, frozen=True):
    """Remove a query from the ledger, or free a writer's name; only one of them is given."""

    to: int
    query: str = ""
    writer: str = ""


class PlaceBatch(Event, frozen=True):
    """Continue to give the messages of a batch their places."""


class SweepStages(Event, frozen=True):
    """Continue to delete the rows of dropped parts."""


class StageAnswer(Answer, frozen=True):
    """The answer to a request about a stage; its status may be STAGE_GONE or BATCH_TOO_LARGE."""

    stage: int = 0
    messages: int = 0
    """The number of messages in the stage, after this request."""
    size: int = 0
    bad: int = -1
    """The index in the request of the message that was refused."""
    bad_queue: bool = False
    """Whether the queue was refused: its name is wrong, or the queue does not exist or takes no messages."""


class PublishAnswer(Answer, frozen=True):
    """The answer to PublishBatch; its status may be STAGE_GONE, WRITER_TAKEN or BATCH_TOO_LARGE."""

    messages: int = 0
    already: bool = False
    """The batch was published before; this request changed nothing."""
