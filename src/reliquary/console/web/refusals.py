"""Error pages of the console: they show the sentence of the API and a link back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.noting import tell
from reliquary.console.web.pages import render

Handler = Callable[[Request, Exception], Awaitable[Response]]

_PREFIX: Final = "/console"


class Said(msgspec.Struct):
    """The body of an error of the API."""

    error: str
    code: str


def with_pages(handlers: Mapping[int | type[Exception], Handler]) -> dict[int | type[Exception], Handler]:
    """Return handlers of exceptions that answer requests of the console with a page."""
    return {kind: _with_page(handler) for kind, handler in handlers.items()}


def _with_page(handler: Handler) -> Handler:
    async def answer(request: Request, why: Exception) -> Response:
        refused = await handler(request, why)
        tell(request, why=str(msgspec.json.decode(refused.body, type=Said).error))
        if not request.url.path.startswith(_PREFIX) or "by" not in request.scope:
            return refused
        said = msgspec.json.decode(refused.body, type=Said)
        return render(request, "error.html", refused.status_code, said=said)

    return answer
