"""Answers GET /openapi.json of the data plane with the description of its routes.

shape "queues/*/messages"  -->  /api/v1/queues/{queue}/messages
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

import msgspec

from reliquary.net.api.context import Context, parameters
from reliquary.net.api.limits import Guid
from reliquary.net.api.openapi import Described, document
from reliquary.net.api.operations import operation, operation_of
from reliquary.net.api.routes import PREFIX, ApiHandler
from reliquary.net.http import Request, Responder

TITLE: Final = "Reliquary, data plane"
SHAPE: Final = "openapi.json"

_KINDS: Final = {"transaction": Guid}
"""The types of path parameters by name, except for strings."""

Routes = Mapping[str, Mapping[str, Callable[..., Any]]]


def path_of(shape: str) -> str:
    """Return the path of a shape, with a name in place of its star.

    >>> path_of("queues/*/messages"), path_of("health")
    ('/api/v1/queues/{queue}/messages', '/api/v1/health')
    """
    noun = shape.partition("/")[0]
    return PREFIX + shape.replace("*", f"{{{noun.removesuffix('s')}}}")


def described(routes: Routes) -> Iterator[Described]:
    """Yield the description of each method of a table of shapes."""
    for shape, methods in routes.items():
        for method, handler in methods.items():
            yield Described(method, path_of(shape), operation_of(handler), _KINDS)


def with_description(
    version: str, routes: Mapping[str, Mapping[str, ApiHandler]], streams: Iterable[Described] = ()
) -> Mapping[str, Mapping[str, ApiHandler]]:
    """Return the routes and the path that describes them; `streams` have paths that fit no shape."""
    further = tuple(streams)

    @operation("Describe this API in OpenAPI", answer=dict[str, Any])
    def describe(_: Context, request: Request, responder: Responder, __: str) -> None:
        """Answer GET /openapi.json with the description of the data plane."""
        parameters(request)
        responder.respond(200, encoded())

    whole = {**routes, SHAPE: {"GET": describe}}

    @cache
    def encoded() -> bytes:
        """Return the document; it is made for the first request."""
        return msgspec.json.encode(document(TITLE, version, [*described(whole), *further]))

    return whole
