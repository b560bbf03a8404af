"""DirectoryOperationResult, [MS-MQDMPR] 3.1.1.17 (DM-070), and how it travels as a status."""

from __future__ import annotations

from enum import Enum
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.queueing.model.directory.objects import DirectoryObject
from reliquary.queueing.model.events import Answer


class DirectoryResult(Enum):
    """How a directory operation ended."""

    SUCCESS = "success"
    GENERIC_ERROR = "generic-error"
    NOT_CONNECTED = "directory-not-connected"
    OBJECT_NOT_FOUND = "object-not-found"
    ATTRIBUTE_NOT_FOUND = "attribute-not-found"
    END_OF_DATA = "end-of-data"
    OBJECT_ALREADY_EXISTS = "object-already-exists"


STATUS: Final[dict[DirectoryResult, HResult]] = {
    DirectoryResult.SUCCESS: HResult.OK,
    DirectoryResult.GENERIC_ERROR: HResult.DS_ERROR,
    DirectoryResult.NOT_CONNECTED: HResult.NO_DS,
    DirectoryResult.OBJECT_NOT_FOUND: HResult.OBJECT_NOT_FOUND,
    DirectoryResult.ATTRIBUTE_NOT_FOUND: HResult.PROPERTY,
    DirectoryResult.END_OF_DATA: HResult.OK,
    DirectoryResult.OBJECT_ALREADY_EXISTS: HResult.OBJECT_EXISTS,
}


class DirectoryAnswer(Answer, frozen=True):
    """What came of a directory operation."""

    result: DirectoryResult = DirectoryResult.SUCCESS
    subject: DirectoryObject | None = None
    """rDirectoryObject; after a create, the object with its Identifier."""
    handle: int = 0
    """rQueryHandle."""

    @property
    def succeeded(self) -> bool:
        """Whether the result is Success."""
        return self.result is DirectoryResult.SUCCESS


def answer_of(
    result: DirectoryResult, why: str = "", *, subject: DirectoryObject | None = None, handle: int = 0
) -> DirectoryAnswer:
    """An answer with the status of its result."""
    status = STATUS[result]
    return DirectoryAnswer(status, why or status.sentence, result, subject, handle)
