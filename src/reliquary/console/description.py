"""Builds the routes of the control plane's API, and GET /openapi.json, which describes them.

    api(path, handler, method), ...  --> routes     one for each path; other methods are refused with `Allow`
                                     --> /openapi.json

Pages of the console are not included.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
from starlette.convertors import IntegerConvertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, compile_path
from starlette.types import Receive, Scope, Send

from reliquary.base.faults import UsageError
from reliquary.net.api.limits import PlainNumber
from reliquary.net.api.openapi import Described, document
from reliquary.net.api.operations import Operation, operation, operation_of
from reliquary.queueing.model.directory.objects import ObjectKind

TITLE: Final = "Reliquary, control plane"
_KINDS: Final = {"kind": ObjectKind}
"""The types of path parameters by name, except for numbers and strings."""

Handler = Callable[[Request], Awaitable[Response]]


class Row(NamedTuple):
    """One method of one path."""

    path: str
    handler: Handler
    method: str


def api(path: str, handler: Handler, method: str) -> Row:
    """Return a row of the table of paths; its handler is declared by `operation`."""
    operation_of(handler)
    return Row(path, handler, method)


class Methods:
    """The methods of one path, as an ASGI app."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers
        names = [*handlers, *(["HEAD"] if "GET" in handlers else []), "OPTIONS"]
        self._allow = {"allow": ", ".join(names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or list the methods of the path."""
        request = Request(scope, receive, send)
        handler = self._handlers.get("GET" if request.method == "HEAD" else request.method)
        if handler is not None:
            scope["endpoint"] = handler  # it names an administrative act
            _check_query(request, operation_of(handler))
            answer = await handler(request)
        elif request.method == "OPTIONS":
            answer = Response(None, 204, self._allow)
        else:
            del scope["endpoint"]  # the path has no act of this method
            raise HTTPException(405, headers=self._allow)
        await answer(scope, receive, send)


def routes_of_rows(rows: Iterable[Row]) -> list[Route]:
    """Return one route for each path, in the order of their first rows."""
    paths: dict[str, dict[str, Handler]] = {}
    for row in rows:
        methods = paths.setdefault(row.path, {})
        assert row.method not in methods, f"two handlers of {row.method} {row.path}"
        methods[row.method] = row.handler
    return [Route(path, Methods(methods)) for path, methods in paths.items()]


def _check_query(request: Request, declared: Operation) -> None:
    """Refuse unknown parameters, and repeated ones."""
    known = {each.name: each for each in declared.query}
    for name in request.query_params:
        if name not in known:
            allowed = ", ".join(known) if known else "none"
            raise UsageError(f"the query has no parameter {name[:80]!r}; there is {allowed}")
        if not known[name].repeated and len(request.query_params.getlist(name)) > 1:
            raise UsageError(f"the query has the parameter {name!r} more than once")


def described(rows: Iterable[Row]) -> Iterator[Described]:
    """Yield the description of each row."""
    for row in rows:
        _, path, convertors = compile_path(row.path)
        kinds: dict[str, Any] = {
            name: PlainNumber for name, each in convertors.items() if isinstance(each, IntegerConvertor)
        }
        yield Described(row.method, path, operation_of(row.handler), _KINDS | kinds)


def with_description(path: str, version: str, rows: Sequence[Row]) -> list[Row]:
    """Return the rows and another one that describes all of them."""

    @operation("Describe this API in OpenAPI", answer=dict[str, Any])
    async def describe(_: Request) -> Response:
        """Serve GET /openapi.json: return the description of the API."""
        return Response(encoded(), media_type="application/json")

    whole = [api(path, describe, "GET"), *rows]

    @cache
    def encoded() -> bytes:
        """Make the document at the first request."""
        return msgspec.json.encode(document(TITLE, version, described(whole)))

    return whole
