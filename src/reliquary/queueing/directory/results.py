"""Defines the results of directory operations (DirectoryOperationResult), [MS-MQDMPR] 3.1.1.17 (DM-070).

Each result has a status, an HRESULT, that the caller of the operation gets.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.queueing.model.directory.objects import DirectoryObject
from reliquary.queueing.model.events import Answer


class DirectoryResult(Enum):
    """The result of a directory operation, DirectoryOperationResult."""

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
    """The answer of a directory operation: its result, and the object or the query handle."""

    result: DirectoryResult = DirectoryResult.SUCCESS
    subject: DirectoryObject | None = None
    """rDirectoryObject; after a create, the object with its Identifier."""
    handle: int = 0
    """rQueryHandle, the handle of a query that was opened."""

    @property
    def succeeded(self) -> bool:
        """Return whether the result is Success."""
        return self.result is DirectoryResult.SUCCESS


def answer_of(
    result: DirectoryResult, why: str = "", *, subject: DirectoryObject | None = None, handle: int = 0
) -> DirectoryAnswer:
    """Return an answer with the status of its result, and with that status's sentence if none is given."""
    status = STATUS[result]
    return DirectoryAnswer(status, why or status.sentence, result, subject, handle)
