"""Defines the status codes of [MS-MQDMPR]: refusals that the specification foresees are values.

Names are the specification's without MQ_ERROR_; `str()` gives one English sentence.  Those of feeds and
batches are our own, and have the customer bit set for that (DM-007).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class HResult(IntEnum):
    """The status codes that an event of the queue manager can return."""

    OK = 0x00000000
    ERROR = 0xC00E0001
    PROPERTY = 0xC00E0002
    QUEUE_NOT_FOUND = 0xC00E0003
    QUEUE_EXISTS = 0xC00E0005
    INVALID_PARAMETER = 0xC00E0006
    INVALID_HANDLE = 0xC00E0007
    OPERATION_CANCELLED = 0xC00E0008
    SHARING_VIOLATION = 0xC00E0009
    SERVICE_NOT_AVAILABLE = 0xC00E000B
    NO_DS = 0xC00E0013
    ILLEGAL_QUEUE_PATHNAME = 0xC00E0014
    IO_TIMEOUT = 0xC00E001B
    ILLEGAL_CURSOR_ACTION = 0xC00E001C
    MESSAGE_ALREADY_RECEIVED = 0xC00E001D
    ILLEGAL_FORMATNAME = 0xC00E001E
    UNSUPPORTED_FORMATNAME_OPERATION = 0xC00E0020
    ILLEGAL_SECURITY_DESCRIPTOR = 0xC00E0021
    ACCESS_DENIED = 0xC00E0025
    INSUFFICIENT_RESOURCES = 0xC00E0027
    DS_ERROR = 0xC00E0043
    UNSUPPORTED_ACCESS_MODE = 0xC00E0045
    QUEUE_NOT_AVAILABLE = 0xC00E004B
    TRANSACTION_USAGE = 0xC00E0050
    TRANSACTION_SEQUENCE = 0xC00E0051
    REMOTE_MACHINE_NOT_AVAILABLE = 0xC00E0069
    MESSAGE_NOT_FOUND = 0xC00E0088
    OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER = 0xC00E008B
    OBJECT_NOT_FOUND = 0xC00E050F
    OBJECT_EXISTS = 0x80071392
    """The code that Win32 calls ERROR_OBJECT_ALREADY_EXISTS (DM-007)."""
    STATUS_NOT_FOUND = 0xC0000225
    DATA_LOST = 0xE00E0001
    """A reader asked for messages of a feed before the first number that is kept."""
    OTHER_QUEUE = 0xE00E0002
    """The queue was deleted, and another queue of this name was created."""
    WRITER_TAKEN = 0xE00E0003
    """Another query writes under this name."""
    STAGE_GONE = 0xE00E0004
    """A part of a batch does not exist any more, or is not complete."""
    BATCH_TOO_LARGE = 0xE00E0005
    OUTCOME_UNKNOWN = 0xE00E0006
    """It is not known whether another manager has carried out the request."""

    @property
    def sentence(self) -> str:
        """Return the meaning of the status as one English sentence."""
        return _SENTENCES[self]


OK: Final = HResult.OK
"""The member OK under a name of its own: Python 3.11 looks up members of an enum slowly, and every message
needs this one.
"""

_SENTENCES: Final[dict[HResult, str]] = {
    HResult.OK: "done",
    HResult.ERROR: "another manager failed, and does not say why",
    HResult.PROPERTY: "the attribute does not exist",
    HResult.QUEUE_NOT_FOUND: "the queue does not exist",
    HResult.QUEUE_EXISTS: "a queue of this name exists already",
    HResult.INVALID_PARAMETER: "a parameter is not valid",
    HResult.INVALID_HANDLE: "the handle is not open",
    HResult.OPERATION_CANCELLED: "the operation was cancelled",
    HResult.SHARING_VIOLATION: "the queue is open in a mode that excludes this one",
    HResult.SERVICE_NOT_AVAILABLE: "the queue manager is not ready",
    HResult.NO_DS: "the directory is not connected",
    HResult.ILLEGAL_QUEUE_PATHNAME: "the queue's name is not valid",
    HResult.IO_TIMEOUT: "the time ran out before a message came",
    HResult.ILLEGAL_CURSOR_ACTION: "the cursor is in a state that does not allow this",
    HResult.MESSAGE_ALREADY_RECEIVED: "the message under the cursor has been received",
    HResult.ILLEGAL_FORMATNAME: "the format name is not valid",
    HResult.UNSUPPORTED_FORMATNAME_OPERATION: "this kind of name does not support the operation",
    HResult.ILLEGAL_SECURITY_DESCRIPTOR: "the security descriptor is not valid",
    HResult.ACCESS_DENIED: "access is denied: the user lacks the right, or the handle has another access",
    HResult.INSUFFICIENT_RESOURCES: "a quota is used up",
    HResult.DS_ERROR: "the directory could not do it",
    HResult.UNSUPPORTED_ACCESS_MODE: "the access mode is not supported for this kind of name",
    HResult.QUEUE_NOT_AVAILABLE: "the queue has been deleted",
    HResult.TRANSACTION_USAGE: "the message is locked by a transaction or the queue needs one",
    HResult.TRANSACTION_SEQUENCE: "the transaction is not in a state that allows this",
    HResult.REMOTE_MACHINE_NOT_AVAILABLE: "the other manager cannot be reached",
    HResult.MESSAGE_NOT_FOUND: "the message does not exist in the queue",
    HResult.OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER: "the other manager cannot do this",
    HResult.OBJECT_NOT_FOUND: "the object does not exist in the directory",
    HResult.OBJECT_EXISTS: "the object exists in the directory already",
    HResult.STATUS_NOT_FOUND: "nothing was waiting under this tag",
    HResult.DATA_LOST: "what the feed is asked for is not kept any more, so messages may be missing",
    HResult.OTHER_QUEUE: "a queue was deleted and created again under this name",
    HResult.WRITER_TAKEN: "another query writes under this name",
    HResult.STAGE_GONE: "a part of the batch is not there, or is not complete",
    HResult.BATCH_TOO_LARGE: "the batch is too large",
    HResult.OUTCOME_UNKNOWN: "the other manager may have done it or not",
}
