"""Makes the description of a plane in OpenAPI 3.1 from its routes and the declarations at their handlers.

    (method, path, Operation) ... --> paths
    types of bodies and answers   --> components/schemas     by msgspec, as they are decoded and encoded
    the table of refusals         --> components/responses   one for each status, with its codes

A path that is not in the table of routes is not in the description.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from reliquary.net.api.errors import OWN_CODES, STATUS, ErrorBody
from reliquary.net.api.operations import JSON, Operation, Query

VERSION: Final = "3.1.0"
_SCHEMAS: Final = "#/components/schemas/{name}"
_NAME: Final = re.compile(r"{(\w+)}")
_SECURITY: Final = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token of a user; without one, the request is anonymous.",
    },
    "password": {"type": "http", "scheme": "basic", "description": "The name and the password of a user."},
}
"""The ways of authentication; each of these schemes is accepted for every path."""
_MEANINGS: Final = {
    400: "The request is wrong; nothing was done.",
    401: "No user has these credentials.",
    403: "The user lacks a right, which the sentence names.",
    404: "What the request names is not there.",
    405: "The path has other methods; the header `Allow` lists them.",
    409: "The request does not fit the state of what it names.",
    410: "What the request names is gone for good.",
    413: "The request is too large.",
    421: "The request is for a server of another name.",
    429: "Too many requests of this address failed.",
    431: "The header of the request is too large.",
    500: "The server could not do it.",
    501: "The manager that has the queue cannot do this.",
    502: "Another manager failed or could not be reached.",
    503: "Not now: the server starts, stops or is busy.",
    507: "A quota is used up, or the disk has too little space.",
}
_BINARY: Final = {"type": "string", "format": "binary"}


class Described(NamedTuple):
    """The description of one method of one path."""

    method: str
    path: str
    """The complete path, with names of parameters in braces."""
    operation: Operation
    kinds: Mapping[str, Any]
    """The types of path parameters that are not strings."""


def document(title: str, version: str, described: Iterable[Described]) -> dict[str, Any]:
    """Return the description of an API as plain data."""
    rows = list(described)
    types = _types(rows)
    schemas, components = msgspec.json.schema_components([ErrorBody, *types], ref_template=_SCHEMAS)
    schema_of = dict(zip(map(id, types), schemas[1:], strict=True))
    refusals = _refusals(schemas[0])
    paths: dict[str, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda each: (each.path, each.method)):
        methods = paths.setdefault(row.path, {})
        assert row.method.lower() not in methods, f"{row.method} {row.path} is described twice"
        methods[row.method.lower()] = _operation(row, schema_of, refusals)
    return {
        "openapi": VERSION,
        "info": {"title": title, "version": version, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{}, *({name: []} for name in _SECURITY)],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(components.items())),
            "responses": refusals,
            "securitySchemes": _SECURITY,
        },
    }


_ABOUT: Final = (
    "Every answer that reports a change leaves after the change is on disk. The reference page of the API, "
    "docs/reference/api.md, says what the fields mean."
)


def _types(rows: Iterable[Described]) -> list[Any]:
    """Return all types that need a schema; each object once."""
    found: dict[int, Any] = {}
    for row in rows:
        said = row.operation
        wanted = (said.body, said.answer, *(each.kind for each in said.query), *row.kinds.values(), str)
        found |= {id(each): each for each in wanted if each is not None}
    return list(found.values())


def _operation(row: Described, schema_of: Mapping[int, Any], refusals: Mapping[str, Any]) -> dict[str, Any]:
    said = row.operation
    made: dict[str, Any] = {"operationId": _identifier(row), "summary": said.summary}
    parameters = [
        *(_path_parameter(name, row, schema_of) for name in _NAME.findall(row.path)),
        *(_query_parameter(each, schema_of) for each in said.query),
    ]
    if parameters:
        made["parameters"] = parameters
    if said.body is not None or said.bodies:
        content = {kind: {"schema": _BINARY} for kind in said.bodies}
        if said.body is not None:
            content = {JSON: {"schema": schema_of[id(said.body)]}} | content
        made["requestBody"] = {"required": said.body_required, "content": content}
    refused = {status: {"$ref": f"#/components/responses/{status}"} for status in refusals}
    made["responses"] = refused | _answers(said, schema_of, refusals)
    return made


def _answers(said: Operation, schema_of: Mapping[int, Any], refusals: Mapping[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {kind: {"schema": _schema_of_form(kind)} for kind in said.answers}
    if said.answer is not None:
        content = {JSON: {"schema": schema_of[id(said.answer)]}} | content
    done: dict[str, Any] = {"description": "Done."}
    if content:
        done["content"] = content
    answers = {str(said.status): done}
    for status, meaning in said.statuses.items():
        error = refusals.get(str(status), {}).get("content", {})
        answers[str(status)] = {"description": meaning}
        if status != 204:
            answers[str(status)]["content"] = content | error
    return answers


def _schema_of_form(kind: str) -> dict[str, Any]:
    return {"type": "string"} if kind.startswith("text/") else _BINARY


def _path_parameter(name: str, row: Described, schema_of: Mapping[int, Any]) -> dict[str, Any]:
    kind = row.kinds.get(name, str)
    schema = schema_of[id(kind)] | ({"minLength": 1} if kind is str else {})
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameter(query: Query, schema_of: Mapping[int, Any]) -> dict[str, Any]:
    schema = schema_of[id(query.kind)]
    if query.repeated:
        schema = {"type": "array", "items": schema}
    return {
        "name": query.name,
        "in": "query",
        "description": query.help,
        "required": query.required,
        "schema": schema,
    }


def _identifier(row: Described) -> str:
    """Return the name of an operation for generated clients.

    >>> _identifier(Described("POST", "/api/v1/queues/{queue}/messages", Operation(summary=""), {}))
    'post_queues_queue_messages'
    """
    words = re.findall(r"\w+", row.path.removeprefix("/api/v1"))
    return "_".join([row.method.lower(), *words])


def _refusals(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers that refuse a request, by status; each lists its codes."""
    codes: dict[int, list[str]] = {}
    for status, code in [*((number, each.name) for each, number in STATUS.items()), *OWN_CODES]:
        if status >= 400:
            codes.setdefault(status, []).append(code)
    return {
        str(status): {
            "description": f"{_MEANINGS[status]} Codes: {', '.join(sorted(set(codes[status])))}.",
            "content": {JSON: {"schema": error}},
        }
        for status in sorted(codes)
    }
