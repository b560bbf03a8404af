"""What writers of batches ask, and what they are answered."""

from __future__ import annotations

from reliquary.base.turn import Event
from reliquary.queueing.model.events import Answer, Request
from reliquary.queueing.model.message import Message


class BeginStage(Request, frozen=True):
    """A task begins to write its part of a batch; the same attempt again begins anew."""

    to: int
    query: str
    batch: int
    part: int
    attempt: str


class StageMessages(Request, frozen=True):
    """Messages for one queue, of our own or elsewhere, in their order; answered by `StageAnswer`.

    One that breaks a rule fails all of them; the answer says which and why (`bad`, its place in `messages`).
    """

    to: int
    stage: int
    queue: str
    messages: tuple[Message, ...]


class CompleteStage(Request, frozen=True):
    """All of the part is here; after the answer it may be published."""

    to: int
    stage: int


class PublishBatch(Request, frozen=True):
    """Put all that was staged into the queues, in the order of the stages; once for each query and batch."""

    to: int
    query: str
    batch: int
    stages: tuple[int, ...]
    writer: str = ""
    """Not empty: no other query may have published under this name."""
    take_over: bool = False
    """Unless this one is to be its successor."""


class DropStages(Request, frozen=True):
    """These will not be published; such as are gone or were published are no error."""

    to: int
    stages: tuple[int, ...]


class ForgetWriter(Request, frozen=True):
    """A person removes what is known of a query, or of a writer's name."""

    to: int
    query: str = ""
    writer: str = ""


class SweepStages(Event, frozen=True):
    """Go on removing parts that nobody will publish."""


class StageAnswer(Answer, frozen=True):
    """How it went with a stage; STAGE_GONE and BATCH_TOO_LARGE are statuses of their own."""

    stage: int = 0
    messages: int = 0
    """All that it holds by now."""
    size: int = 0
    bad: int = -1
    """The place of the message that was refused, in the request."""


class PublishAnswer(Answer, frozen=True):
    """What became of a batch; STAGE_GONE, WRITER_TAKEN and BATCH_TOO_LARGE are statuses of their own."""

    messages: int = 0
    already: bool = False
    """It was published before; nothing happened now."""
