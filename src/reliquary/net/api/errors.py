"""Writes refusals as responses: the HTTP status of each code, and the form of all refusals.

{"error": "one sentence", "code": "QUEUE_NOT_FOUND"}
"""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.net.http import Responder
from reliquary.net.http.response import bounded

STATUS: Final[dict[HResult, int]] = {
    HResult.OK: 200,
    HResult.IO_TIMEOUT: 200,  # the answer has no messages
    HResult.INVALID_PARAMETER: 400,
    HResult.PROPERTY: 400,
    HResult.ILLEGAL_QUEUE_PATHNAME: 400,
    HResult.ILLEGAL_FORMATNAME: 400,
    HResult.UNSUPPORTED_FORMATNAME_OPERATION: 400,
    HResult.UNSUPPORTED_ACCESS_MODE: 400,
    HResult.ILLEGAL_SECURITY_DESCRIPTOR: 400,
    HResult.ACCESS_DENIED: 403,
    HResult.QUEUE_NOT_FOUND: 404,
    HResult.MESSAGE_NOT_FOUND: 404,
    HResult.OBJECT_NOT_FOUND: 404,
    HResult.INVALID_HANDLE: 404,
    HResult.STATUS_NOT_FOUND: 404,
    HResult.QUEUE_EXISTS: 409,
    HResult.OBJECT_EXISTS: 409,
    HResult.SHARING_VIOLATION: 409,
    HResult.TRANSACTION_USAGE: 409,
    HResult.TRANSACTION_SEQUENCE: 409,
    HResult.ILLEGAL_CURSOR_ACTION: 409,
    HResult.MESSAGE_ALREADY_RECEIVED: 409,
    HResult.OPERATION_CANCELLED: 409,
    HResult.OTHER_QUEUE: 409,
    HResult.WRITER_TAKEN: 409,
    HResult.QUEUE_NOT_AVAILABLE: 410,
    HResult.DATA_LOST: 410,
    HResult.STAGE_GONE: 410,
    HResult.BATCH_TOO_LARGE: 413,
    HResult.OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER: 501,
    HResult.ERROR: 502,
    HResult.REMOTE_MACHINE_NOT_AVAILABLE: 502,
    HResult.OUTCOME_UNKNOWN: 502,
    HResult.SERVICE_NOT_AVAILABLE: 503,
    HResult.INSUFFICIENT_RESOURCES: 507,
    HResult.DS_ERROR: 503,
    HResult.NO_DS: 503,
}

STOPPING: Final = "STOPPING"
PATH_NOT_FOUND: Final = "PATH_NOT_FOUND"
METHOD_NOT_ALLOWED: Final = "METHOD_NOT_ALLOWED"
NOT_DONE: Final = "NOT_DONE"
BUSY: Final = "BUSY"
TOO_LARGE: Final = "TOO_LARGE"
FAILED: Final = "FAILED"
"""Codes of this API that no specification defines."""

OWN_CODES: Final = (
    (401, "UNAUTHENTICATED"),
    (404, PATH_NOT_FOUND),
    (405, METHOD_NOT_ALLOWED),
    (409, NOT_DONE),
    (413, TOO_LARGE),
    (421, "WRONG_HOST"),
    (429, "TOO_MANY_FAILURES"),
    (429, "TOO_MANY_REQUESTS"),
    (500, FAILED),
    (503, STOPPING),
    (503, BUSY),
)
"""The HTTP statuses of these codes, and those of admission (`net.identity`)."""

STOPPING_SENTENCE: Final = "the server is stopping"


class Refused(Exception):
    """A request that is refused before a machine sees it, with a code other than INVALID_PARAMETER."""

    def __init__(self, status: HResult, why: str) -> None:
        super().__init__(why)
        self.status = status


class ErrorBody(msgspec.Struct):
    """The body of every refusal."""

    error: str
    code: str


_encode = msgspec.json.Encoder().encode


def error_json(code: str, why: str) -> bytes:
    """Return the body of a refusal; a sentence that quotes too much text is cut."""
    return _encode(ErrorBody(bounded(why), code))


def refuse(responder: Responder, status: HResult, why: str) -> None:
    """Answer with a code of the specification."""
    responder.respond(STATUS[status], error_json(status.name, why or status.sentence))


def refuse_stopping(responder: Responder) -> None:
    """Answer that the server stops; the client may try another server, or this one later."""
    responder.respond(503, error_json(STOPPING, STOPPING_SENTENCE))
