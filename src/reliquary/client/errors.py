"""Defines the errors that callers get, in process and over the network.

ReliquaryError           `code` for programs, `sentence` for display
  BadRequest             a value outside its range; nothing was changed
  NotFound
    QueueNotFound
    MessageNotFound
    NotOpen              a handle, cursor or receipt that is closed or whose time ran out
  QueueExists
  ObjectExists           the directory has this object already
  DirectoryUnavailable   the directory is not connected, or could not do it
  QueueDeleted           the queue went while it was open
  AccessDenied           the user lacks the right, the token or password is wrong, the handle is open for
                         another access, or only the manager itself uses the queue
  SharingViolation       another reader has exclusive access
  CursorError            the cursor's message is gone, or the cursor waits already
  TransactionNeeded      the message is locked by a transaction, or the queue takes nothing outside one
  TransactionEnded       committed, aborted, timed out, or never begun
  OperationCancelled     a wait was ended by another request
  QuotaExceeded
  DataLost               a feed is asked for from a place before which nothing is kept
  OtherQueue             another queue of this name was created
  WriterTaken            another query writes under this name
  StageGone              a part of a batch is not there any more, or is not complete
  BatchTooLarge          it must be cut into smaller ones
  StoreUnusable          in process: the folder cannot be opened, or its disk failed
  RemoteManagerFailed    the queue is on another manager, which failed or cannot do this
  ServerUnreachable      there is no answer, and nothing was lost or changed
  OutcomeUnknown         there is no answer, and the change may or may not have been made
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reliquary.client.message import Message


class ReliquaryError(Exception):
    """Something was refused or failed."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        """The word of the JSON API, such as QUEUE_NOT_FOUND."""
        self.sentence = sentence

    def __reduce__(self) -> tuple[type[ReliquaryError], tuple[str, str]]:
        return type(self), (self.code, self.sentence)


class BadRequest(ReliquaryError):
    """A value is outside its range; the sentence names the limit and the value."""


class NotFound(ReliquaryError):
    """The named object does not exist."""


class QueueNotFound(NotFound):
    """There is no queue of this name."""


class MessageNotFound(NotFound):
    """There is no message at this position."""


class NotOpen(NotFound):
    """The handle, cursor or receipt is closed."""


class QueueExists(ReliquaryError):
    """A queue with this name exists already."""


class ObjectExists(ReliquaryError):
    """The directory has this object already."""


class DirectoryUnavailable(ReliquaryError):
    """The directory is not connected, or could not do it; nothing was changed there."""


class QueueDeleted(ReliquaryError):
    """The queue was deleted while it was open."""


class AccessDenied(ReliquaryError):
    """The request is not allowed; the sentence of the error says why.

    The user lacks the right, the token or the password is wrong or was wrong too often, the handle is open
    for another access, or only the manager itself uses the queue.
    """


class SharingViolation(ReliquaryError):
    """The queue is open in a mode that excludes this one."""


class CursorError(ReliquaryError):
    """The cursor is in a state that does not allow this."""


class TransactionNeeded(ReliquaryError):
    """The message is locked by a transaction, or the queue needs one."""


class TransactionEnded(ReliquaryError):
    """The transaction has ended, or never was."""


class OperationCancelled(ReliquaryError):
    """A wait was ended by another request."""


class QuotaExceeded(ReliquaryError):
    """A queue or the manager is full."""


class DataLost(ReliquaryError):
    """The requested part of a feed is not kept any more: messages may be missing."""


class OtherQueue(ReliquaryError):
    """The queue was deleted, and another one has its name."""


class WriterTaken(ReliquaryError):
    """Another query publishes under this writer's name."""


class StageGone(ReliquaryError):
    """A part of a batch was dropped, or never became complete; the batch can be written again."""


class BatchTooLarge(ReliquaryError):
    """A batch is larger than a batch that can be published as a whole."""


class StoreUnusable(ReliquaryError):
    """The folder of a manager in process cannot be used."""


class RemoteManagerFailed(ReliquaryError):
    """The manager that has the queue failed, or cannot do this; nothing was changed there."""


class ServerUnreachable(ReliquaryError):
    """No answer came, and nothing was lost or changed."""

    def __init__(
        self, code: str = "SERVER_UNREACHABLE", sentence: str = "the server does not answer"
    ) -> None:
        super().__init__(code, sentence)


class OutcomeUnknown(ReliquaryError):
    """No answer came, and the change may have been made or not."""

    messages: tuple[Message, ...] = ()
    """The messages of the receive: they were removed from the queue, or will return to it."""

    def __init__(
        self,
        code: str = "OUTCOME_UNKNOWN",
        sentence: str = "the connection broke before the answer came",
        messages: Sequence[Message] = (),
    ) -> None:
        super().__init__(code, sentence)
        self.messages = tuple(messages)


_BY_CODE: Final[dict[str, type[ReliquaryError]]] = {
    "INVALID_PARAMETER": BadRequest,
    "ILLEGAL_QUEUE_PATHNAME": BadRequest,
    "ILLEGAL_FORMATNAME": BadRequest,
    "UNSUPPORTED_FORMATNAME_OPERATION": BadRequest,
    "UNSUPPORTED_ACCESS_MODE": BadRequest,
    "ILLEGAL_SECURITY_DESCRIPTOR": BadRequest,
    "QUEUE_NOT_FOUND": QueueNotFound,
    "MESSAGE_NOT_FOUND": MessageNotFound,
    "INVALID_HANDLE": NotOpen,
    "STATUS_NOT_FOUND": NotFound,
    "QUEUE_EXISTS": QueueExists,
    "OBJECT_EXISTS": ObjectExists,
    "OBJECT_NOT_FOUND": NotFound,
    "PROPERTY": BadRequest,
    "NO_DS": DirectoryUnavailable,
    "DS_ERROR": DirectoryUnavailable,
    "QUEUE_NOT_AVAILABLE": QueueDeleted,
    "ACCESS_DENIED": AccessDenied,
    "UNAUTHENTICATED": AccessDenied,
    "TOO_MANY_FAILURES": AccessDenied,
    "WRONG_HOST": BadRequest,
    "SHARING_VIOLATION": SharingViolation,
    "ILLEGAL_CURSOR_ACTION": CursorError,
    "MESSAGE_ALREADY_RECEIVED": CursorError,
    "TRANSACTION_USAGE": TransactionNeeded,
    "TRANSACTION_SEQUENCE": TransactionEnded,
    "OPERATION_CANCELLED": OperationCancelled,
    "INSUFFICIENT_RESOURCES": QuotaExceeded,
    "DATA_LOST": DataLost,
    "OTHER_QUEUE": OtherQueue,
    "WRITER_TAKEN": WriterTaken,
    "STAGE_GONE": StageGone,
    "BATCH_TOO_LARGE": BatchTooLarge,
    "SERVICE_NOT_AVAILABLE": ServerUnreachable,
    "REMOTE_MACHINE_NOT_AVAILABLE": ServerUnreachable,
    "ERROR": RemoteManagerFailed,
    "OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER": RemoteManagerFailed,
    "OUTCOME_UNKNOWN": OutcomeUnknown,
}

_BY_STATUS: Final[dict[int, type[ReliquaryError]]] = {
    400: BadRequest,
    404: NotFound,
    413: BadRequest,
    503: ServerUnreachable,
    507: QuotaExceeded,
}


def error_of(code: str, sentence: str, status: int = 0) -> ReliquaryError:
    """Return the error for a code of the API; for an unknown code it depends on the HTTP status."""
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status, ReliquaryError)
    return kind(code, sentence)
