"""Writes errors of the control plane in the form of errors of the data plane."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.faults import StoreFailure, UsageError
from reliquary.base.hresult import HResult
from reliquary.engine.loop import EngineStopped
from reliquary.net.api.errors import (
    FAILED,
    METHOD_NOT_ALLOWED,
    NOT_DONE,
    PATH_NOT_FOUND,
    STATUS,
    STOPPING,
    STOPPING_SENTENCE,
    TOO_LARGE,
    error_json,
)
from reliquary.net.api.routes import ROUTES, shape_of
from reliquary.queueing.model.administration import Refusal
from reliquary.views.administration import NotDone
from reliquary.views.directory import NotShown

_HTTP_CODES: Final = {404: PATH_NOT_FOUND, 405: METHOD_NOT_ALLOWED, 413: TOO_LARGE}
_STORE_STATUS: Final = {"full": HResult.INSUFFICIENT_RESOURCES, "permission": HResult.ACCESS_DENIED}


def _response(status: int, code: str, why: str, headers: dict[str, str] | None = None) -> Response:
    return Response(error_json(code, why), status, headers, "application/json")


async def _on_usage(_: Request, why: Exception) -> Response:
    return _response(400, HResult.INVALID_PARAMETER.name, str(why))


async def _on_depth(_: Request, __: Exception) -> Response:
    return _response(400, HResult.INVALID_PARAMETER.name, "the body is nested too deeply")


async def _on_refusal(_: Request, why: Exception) -> Response:
    assert isinstance(why, Refusal), f"not a refusal: {why!r}"
    return _response(STATUS[why.status], why.status.name, str(why))


async def _on_not_shown(_: Request, why: Exception) -> Response:
    assert isinstance(why, NotShown), f"not an answer of the directory: {why!r}"
    return _response(STATUS[why.answer.status], why.answer.status.name, str(why))


async def _on_not_done(_: Request, why: Exception) -> Response:
    return _response(409, NOT_DONE, str(why))


async def _on_stopped(_: Request, __: Exception) -> Response:
    return _response(503, STOPPING, STOPPING_SENTENCE)


async def _on_store(_: Request, why: Exception) -> Response:
    """Answer that a file operation beside the engine failed, such as a backup; the store itself is intact."""
    status = _STORE_STATUS.get(getattr(why, "kind", ""))
    if status is None:
        return _response(500, FAILED, str(why))
    return _response(STATUS[status], status.name, str(why))


async def _on_http(request: Request, why: Exception) -> Response:
    assert isinstance(why, HTTPException), f"not an HTTP refusal: {why!r}"
    path, other = request.url.path, _on_the_data_plane(request)
    methods = (why.headers or {}).get("allow", "none")
    sentence = {
        404: f"there is nothing at {path[:200]!r}{other}",
        405: f"{request.method} is not for this path; allowed: {methods}{other}",
    }.get(why.status_code, why.detail)
    code = _HTTP_CODES.get(why.status_code, HResult.INVALID_PARAMETER.name)
    return _response(why.status_code, code, sentence, dict(why.headers or {}))


def _on_the_data_plane(request: Request) -> str:
    """Return the end of a refusal for a client that used the wrong port, with the right address."""
    path = request.url.path
    if request.method in ROUTES.get(shape_of(path)[0], {}):
        return "; this is the control plane, and the data plane has it, on the other port"
    return (
        "; this is the control plane, and /api/v1/openapi.json lists its paths"
        if path.startswith("/api")
        else ""
    )


async def _on_bug(_: Request, why: Exception) -> Response:
    return _response(
        500, FAILED, f"the server has an internal error ({type(why).__name__}): its log has the details"
    )


HANDLERS: Final[dict[int | type[Exception], Callable[[Request, Exception], Awaitable[Response]]]] = {
    UsageError: _on_usage,
    msgspec.MsgspecError: _on_usage,
    UnicodeDecodeError: _on_usage,
    RecursionError: _on_depth,
    Refusal: _on_refusal,
    NotShown: _on_not_shown,
    NotDone: _on_not_done,
    EngineStopped: _on_stopped,
    StoreFailure: _on_store,
    HTTPException: _on_http,
    Exception: _on_bug,
}
