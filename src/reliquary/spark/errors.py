"""Defines the errors that stop a query, each with a sentence that gives advice.

SparkFault               only a sentence: Spark shows the class and the text
  JavaMissing            there is no Java that Spark runs on
  BadOption              an option is unknown, missing or has a value that is not known
  BadSchema              a schema has columns or types that messages do not have
  BadOffset              the checkpoint holds a foreign offset
  QueueMissing           there is no queue of this name
  QueueReplaced          the queue was deleted and created again since the offset was written
  ConsumerMissing        nothing was kept for this query
  DataLost               messages after the offset are not kept any more
  ServerGone             the server does not answer
  TokenRefused           the server does not know the user, or denies access
  WriterTaken            another query writes under this writerId
  BadRow                 a row breaks a rule of messages; the batch is not published
  StagesGone             staged parts were swept away before the batch was published
  ServerRefused          anything else that the server refuses
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from reliquary.client.errors import ReliquaryError
from reliquary.client.feed import Loss


class SparkFault(Exception):
    """An error that stops a query; the sentence gives advice."""


class JavaMissing(SparkFault):
    """There is no Java that Spark runs on."""


class BadOption(SparkFault):
    """An option is unknown, missing, or has a value that is not known."""


class BadSchema(SparkFault):
    """A schema has columns or types that messages do not have."""


class BadOffset(SparkFault):
    """The checkpoint holds an offset that this source did not write."""


class QueueMissing(SparkFault):
    """There is no queue of this name."""


class QueueReplaced(SparkFault):
    """The queue was deleted and created again since the offset was written."""


class ConsumerMissing(SparkFault):
    """The consumer of the query does not exist, so that nothing was kept for it."""


class DataLost(SparkFault):
    """Messages after the offset are not kept any more."""


class ServerGone(SparkFault):
    """The server does not answer."""


class TokenRefused(SparkFault):
    """The server does not know the user, or denies access."""


class WriterTaken(SparkFault):
    """Another query writes under this name."""


class BadRow(SparkFault):
    """A row breaks a rule of messages."""


class StagesGone(SparkFault):
    """Staged parts were removed before their batch was published."""


class ServerRefused(SparkFault):
    """The server refuses the request for another reason."""


def queue_missing(queue: str) -> QueueMissing:
    """Return the error for a queue that does not exist."""
    return QueueMissing(
        f"there is no queue {queue!r}: create it, or correct the option queue; a query that goes on without "
        "it needs a new checkpoint, or failOnDataLoss=false"
    )


def manager_not_named(manager: str, queue: str) -> BadOffset:
    """Return the error for a batch of a manager that the query does not name any more."""
    called = f"the manager {manager}" if manager else "a server"
    return BadOffset(
        f"the batch that the checkpoint holds has messages of the queue {queue!r} of {called}, which the "
        "query does not name any more: name it in the option url until the batch has ended, then leave it out"
    )


def queue_replaced(queue: str) -> QueueReplaced:
    """Return the error for a queue that was deleted and created again."""
    return QueueReplaced(
        f"the queue {queue!r} was deleted and made anew since the last batch, and what was not read of the "
        "old one is gone: to go on with the new one from its beginning, set failOnDataLoss=false or start "
        "with a new checkpoint"
    )


def consumer_missing(queue: str, consumer: str) -> ConsumerMissing:
    """Return the error for a query whose consumer does not exist, so that no messages were kept for it."""
    return ConsumerMissing(
        f"the queue {queue!r} has no consumer {consumer!r} any more, so messages may have left it unread: to "
        "go on with what is there, set failOnDataLoss=false or start with a new checkpoint"
    )


def data_lost(queue: str, consumer: str, after: int, cursor: int, loss: Loss | None = None) -> DataLost:
    """Return the error for a range that is not kept any more; `loss` has the loss of the consumer."""
    if loss is not None and after < loss.until:
        return DataLost(
            f"of the queue {queue!r} the query wants what comes after {after}, and its consumer {consumer!r} "
            f"lost {loss.messages} messages ({loss.bytes} bytes) after {loss.after} up to {loss.until}, "
            f"because more was kept for it than its limit allows, at {loss.moment}: start the query more "
            "often, or give it a larger limit (reliquary consumer set).  To go on after "
            f"{cursor}, set failOnDataLoss=false"
        )
    return DataLost(
        f"of the queue {queue!r} the query wants what comes after {after}, and its consumer {consumer!r} is "
        f"at {cursor}: the messages between may be gone; does another query use this consumer, or is the "
        "checkpoint an old copy?  To go on after the gap, set failOnDataLoss=false"
    )


def feed_rewound(queue: str, after: int) -> DataLost:
    """Return the error for a store that was restored from a backup since the query read it."""
    return DataLost(
        f"the query has read the queue {queue!r} up to {after}, and since then the store of the server was "
        "restored from a backup (or it is another server): messages that came after the backup are gone.  To "
        "go on behind what was read, set failOnDataLoss=false once; to read again all that is there, start "
        "with a new checkpoint"
    )


_GONE: Final = "is the option url right, and does the server run?  Start the query again when it does"
_TAKEN: Final = (
    "stop the other query or give this one its own writerId; if the other is gone for good, set "
    "takeOver=true once"
)
_ALLOWED: Final = "give a token that may do this with the option token or tokenFile, or a user"

_EXPLAINED: Final[dict[str, tuple[Callable[[str], SparkFault], str]]] = {
    "SERVER_UNREACHABLE": (ServerGone, _GONE),
    "SERVICE_NOT_AVAILABLE": (ServerGone, _GONE),
    "OUTCOME_UNKNOWN": (ServerGone, _GONE + "; nothing is lost or doubled"),
    "UNAUTHENTICATED": (TokenRefused, _ALLOWED),
    "TOO_MANY_FAILURES": (TokenRefused, _ALLOWED),
    "ACCESS_DENIED": (TokenRefused, _ALLOWED),
    "QUEUE_NOT_FOUND": (QueueMissing, "create the queue, or correct the option queue"),
    "OTHER_QUEUE": (
        QueueReplaced,
        "it was deleted and made anew while the batch was read; start the query again, and read its error",
    ),
    "DATA_LOST": (DataLost, "start the query again, and read its error"),
    "WRITER_TAKEN": (
        WriterTaken,
        _TAKEN,
    ),
    "STAGE_GONE": (StagesGone, "start the query again: it writes the batch anew, and nothing is doubled"),
    "BATCH_TOO_LARGE": (
        BadOption,
        "make batches smaller, with maxRowsPerBatch or maxBytesPerBatch at the source",
    ),
}


def called(managers: Sequence[str], manager: str, queue: str) -> str:
    """Return the name of a queue in errors: with its manager if the query has several."""
    return queue if len(managers) == 1 else f"{queue} at {manager}"


@contextmanager
def placed(managers: Sequence[str], manager: str, queues: str) -> Iterator[None]:
    """Let errors of the client name the manager and the queues, if the query has several managers."""
    try:
        yield
    except ReliquaryError as error:
        if len(managers) == 1:
            raise
        place = f"the queue {called(managers, manager, queues)!r}" if queues else f"the manager {manager!r}"
        raise type(error)(error.code, f"{place}: {error.sentence}") from error


def explained(error: ReliquaryError, what: str) -> SparkFault:
    """Return the fault for an error of the client during the step `what`."""
    kind, advice = _EXPLAINED.get(error.code, (ServerRefused, ""))
    return kind(f"{what}: {error.sentence.rstrip('.')}{': ' if advice else ''}{advice}")


@contextmanager
def explaining(what: str) -> Iterator[None]:
    """Convert the client's errors to faults with advice."""
    try:
        yield
    except ReliquaryError as error:
        raise explained(error, what) from error
