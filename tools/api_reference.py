"""The parts of the API's reference page that follow from declarations: paths, and nouns of administration.

The rest of the page is written by hand; what lies between two marks, for each plane, is made anew.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from reliquary.console.app import table
from reliquary.console.description import described as described_by_rows
from reliquary.net.api.administration import routes_of
from reliquary.net.api.description import described as described_by_routes
from reliquary.net.api.openapi import Described
from reliquary.net.api.routes import PREFIX, ROUTES, merged
from reliquary.net.feed.endpoint import FeedEndpoint
from reliquary.queueing.model.administration import Act, Noun, Plane

PAGE = Path("docs/reference/api.md")
BEGIN = {
    plane: f"<!-- Made by `./dev docs` from the nouns of the {plane.value} plane, up to the next mark. -->"
    for plane in Plane
}
PATHS = {
    plane: f"<!-- Made by `./dev docs` from the paths of the {plane.value} plane, up to the next mark. -->"
    for plane in Plane
}
END = "<!-- Up to here. -->"
JSON_TYPES: dict[object, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    datetime: "time (RFC 3339)",
    NoneType: "null",
}


def page(root: Path) -> str | None:
    """Return the whole page with its part about nouns made anew, or None while there is no page."""
    if not (root / PAGE).exists():
        return None
    text = (root / PAGE).read_text()
    nouns: tuple[Noun[Any], ...] = importlib.import_module("reliquary.client.nouns").NOUNS
    for plane, begin in BEGIN.items():
        text = _with_part(
            text, begin, [line for noun in nouns if noun.plane is plane for line in section(noun)]
        )
        text = _with_part(text, PATHS[plane], [*paths(plane, nouns), ""])
    return text


def _with_part(text: str, begin: str, lines: Iterable[str]) -> str:
    """Return a page with the lines between a mark and the next one made anew, if it has this mark."""
    before, mark, rest = text.partition(begin)
    if not mark:
        return text
    _, _, after = rest.partition(END)
    return "\n".join((f"{before}{begin}\n", *lines, f"{END}{after}"))


def paths(plane: Plane, nouns: Iterable[Noun[Any]]) -> Iterator[str]:
    """Yield a table of the methods and paths of a plane, as its description in OpenAPI has them."""
    yield "| Method and path | What it does |"
    yield "|---|---|"
    for row in sorted(_described(plane, nouns), key=lambda each: (each.path, each.method)):
        path = row.path.removeprefix(PREFIX.rstrip("/"))
        yield f"| `{row.method} {path}` | {row.operation.summary} |"


def _described(plane: Plane, nouns: Iterable[Noun[Any]]) -> list[Described]:
    if plane is Plane.CONTROL:
        return list(described_by_rows(table()))
    no_server: Any = None  # the handlers are not called
    feeds = FeedEndpoint(no_server, no_server, no_server)
    of_nouns = [routes_of(noun, no_server) for noun in nouns if noun.plane is plane]
    return [*described_by_routes(merged(ROUTES, *of_nouns, feeds.routes())), *feeds.streams()]


def section(noun: Noun[Any]) -> Iterator[str]:
    """Yield the lines about one noun: its paths, then the fields of its record."""
    word = noun.name.upper()
    about = " ".join((noun.record.__doc__ or "").split()).removesuffix(".")
    path = f"/queues/{{queue}}/{noun.plural}" if noun.of_a_queue else f"/{noun.plural}"
    yield f"### `{path}`"
    answer = f'`{{"{noun.plural}": [{word}…]}}`'
    yield f"- `GET {path}{_query(noun)}` → {answer}{_filters(noun)}; [in pages](#pages)"
    if noun.showing is not None:
        one = f"{path}/{{{noun.showing.key}}}"
        yield f"- `GET {one}` → {word}"
        for act in noun.acts:
            yield f"- `POST {one}/{act.verb}`{_body(act)} → {word}: {_sentence(act.help)}"
    yield ""
    yield f"{word}: {about[0].lower()}{about[1:]}."
    yield ""
    yield "| Field | Type | |"
    yield "|---|---|---|"
    yield from _rows(noun.record)
    yield ""


def _query(noun: Noun[Any]) -> str:
    filters = "&".join(f"{each.name}={JSON_TYPES[each.kind]}" for each in noun.listing.filters)
    return f"?{filters}" if filters else ""


def _filters(noun: Noun[Any]) -> str:
    return "".join(f"; `{each.name}`: {_sentence(each.help)}" for each in noun.listing.filters)


def _body(act: Act) -> str:
    fields = ", ".join(f'"{each.name}": {JSON_TYPES[each.kind]}' for each in act.parameters)
    return f" `{{{fields}}}`" if fields else ""


def _sentence(text: str) -> str:
    """Return the first paragraph of a help text."""
    text = " ".join(text.partition("\n\n")[0].split()).removesuffix(".")
    return text[0].lower() + text[1:]


def _rows(record: type[msgspec.Struct], prefix: str = "") -> Iterator[str]:
    meanings = field_docs(record)
    for name, kind in get_type_hints(record).items():
        yield f"| `{prefix}{name}` | {_type(kind)} | {meanings.get(name, '')} |"
        inner, mark = (get_args(kind)[0], "[]") if get_origin(kind) is list else (kind, "")
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            yield from _rows(inner, f"{prefix}{name}{mark}.")


def _type(kind: Any) -> str:
    if isinstance(kind, UnionType):
        return " or ".join(map(_type, get_args(kind)))
    if get_origin(kind) in (list, tuple):
        inner = get_args(kind)[0]
        return "array of objects" if issubclass(inner, msgspec.Struct) else f"array of {_type(inner)}s"
    if get_origin(kind) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kind))
    if get_origin(kind) is dict or issubclass(kind, msgspec.Struct):
        return "object"
    return JSON_TYPES[kind]


def field_docs(record: type[msgspec.Struct]) -> dict[str, str]:
    """Return the docstrings below the fields of a record, each on one line."""
    [body] = ast.parse(textwrap.dedent(inspect.getsource(record))).body
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: " ".join(str(text.value.value).split())
        for field, text in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }
