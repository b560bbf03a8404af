"""Error pages of the console: they show the sentence of the API and a link back.

with_pages    a handler refused: the page has the menu and the user
denied        admission refused: the page says nothing about this server, because its reader may be a
              stranger, or a page of another site
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.noting import tell
from reliquary.console.web.pages import HEADERS, render, templates
from reliquary.net.api.errors import error_json
from reliquary.net.identity.shown import Denied

Handler = Callable[[Request, Exception], Awaitable[Response]]

_PREFIX: Final = "/console"
STYLE: Final = (
    "html { background: light-dark(#f6f7f9, #101316); color: light-dark(#1a1f25, #e7eaed); }"
    " body { max-width: 40rem; margin: 4rem auto; padding: 0 1.5rem; font: 15px/1.55 system-ui, sans-serif; }"
    " a { color: light-dark(#2450b2, #8fb4ff); }"
)
"""The style of the page for clients that were not admitted: they may not load the style sheet either."""
_DENIED_HEADERS: Final = HEADERS | {
    "content-security-policy": "default-src 'none'; img-src data:; base-uri 'none'; frame-ancestors 'none';"
    f" style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'"
}


def is_page(path: str) -> bool:
    """Return whether a path is one of the console.

    >>> is_page("/console"), is_page("/console/queues"), is_page("/consoles"), is_page("/api/v1/queues")
    (True, True, False, False)
    """
    return path == _PREFIX or path.startswith(f"{_PREFIX}/")


class ErrorText(msgspec.Struct):
    """The body of an error of the API."""

    error: str
    code: str


def with_pages(handlers: Mapping[int | type[Exception], Handler]) -> dict[int | type[Exception], Handler]:
    """Return handlers of exceptions that answer requests of the console with a page."""
    return {kind: _with_page(handler) for kind, handler in handlers.items()}


def _with_page(handler: Handler) -> Handler:
    async def answer(request: Request, why: Exception) -> Response:
        refused = await handler(request, why)
        said = msgspec.json.decode(refused.body, type=ErrorText)
        tell(request, why=said.error)
        if not is_page(request.url.path) or "by" not in request.scope:
            return refused
        is_form = request.method == "POST"
        title = _title(refused.status_code, is_form=is_form)
        return render(request, "error.html", refused.status_code, title=title, said=said, is_form=is_form)

    return answer


def _title(status: int, *, is_form: bool) -> str:
    if is_form:
        return "This was not done"
    return {403: "You may not see this page", 404: "This was not found"}.get(status, "This cannot be shown")


def denied(path: str, why: Denied) -> Response:
    """Return the answer to a client that was not admitted: a page for the console, else JSON."""
    if is_page(path):
        html = templates().get_template("denied.html").render(said=ErrorText(str(why), why.code), style=STYLE)
        refusal = Response(html, why.status, _DENIED_HEADERS, media_type="text/html")
    else:
        refusal = Response(error_json(why.code, str(why)), why.status, media_type="application/json")
    for name, value in why.headers:  # there may be several challenges
        refusal.headers.append(name.decode(), value.decode())
    return refusal
