"""The reference page of the settings, made from the classes that a server reads them into.

Settings, TABLES        names and types               --.
docstrings of fields    what a setting means             |--> docs/reference/configuration.md
effective.entries       defaults                         |
reliquary serve         options of the command line   --'
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import click
import msgspec

from reliquary.base.time import Duration
from reliquary.server.config import Settings
from reliquary.server.effective import entries
from reliquary.server.loading import FOR_THE_FILE, PREFIX, TABLES
from reliquary.server.origins import Loaded

PAGE: Final = Path("docs/reference/configuration.md")
HEAD: Final = """\
# Configuration

<!-- Made by `./dev docs` from the settings of the server. -->

A server reads its settings from four places. A later place wins over an earlier one:

1. the defaults on this page;
2. the TOML file that `--settings FILE` or the variable `RELIQUARY_SETTINGS` names;
3. environment variables that begin with `RELIQUARY_`;
4. options of `reliquary serve`.

`reliquary config check --settings FILE` says what is wrong with a file, with line and key.
`reliquary config show --effective` prints all settings that are in force and where each comes from.
A setting that is not known is refused, so that a misspelled name does not become a default.

In an environment variable, a list is written with commas: `RELIQUARY_QUEUES=orders,invoices`.
Variables that Kubernetes sets for a Service named `reliquary` or `reliquary-...` are ignored:
`RELIQUARY_SERVICE_HOST`, `RELIQUARY_SERVICE_PORT...`, `RELIQUARY_PORT_8480_TCP...`, and any
`RELIQUARY_..._PORT` whose value begins with `tcp://` or `udp://`.
Settings without a variable on this page can only be written in the file.
"""
OUTSIDE: Final = "Settings outside the tables"
PLAIN: Final[dict[object, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "true or false",
    Path: "path",
    UUID: "GUID",
}
OF_THIS_COMPUTER: Final = {("", "computer_name"): "the name of this computer"}
"""Defaults that differ from computer to computer, in words."""
IN_THE_FILE: Final = {"origin": "from", "target": "to"}
"""Fields of redirections that have another name in the file."""
NOT_IN_THE_FILE: Final = frozenset({"product"})
"""Fields of rows that cannot be chosen."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the page."""

    table: str
    name: str
    type: str
    default: str
    variable: str
    option: str
    meaning: str


def page(root: Path) -> str:
    """Return the page of all settings as Markdown."""
    lines = [HEAD]
    options = _options()
    for table in ("", *(each.name for each in TABLES)):
        lines += [f"## `[{table}]`" if table else f"## {OUTSIDE}", ""]
        lines += ["| Setting | Type | Default | Variable, option | Meaning |", "|---|---|---|---|---|"]
        inner: list[str] = []
        for one in (each for each in settings(options) if each.table == table):
            elsewhere = ", ".join(f"`{each}`" for each in (one.variable, one.option) if each)
            lines.append(f"| `{one.name}` | {one.type} | {one.default} | {elsewhere} | {one.meaning} |")
            inner += rows_of(one)
        lines += ["", *inner]
    return "\n".join(lines).rstrip() + "\n"


def settings(options: Mapping[str, str]) -> Iterator[Setting]:
    """Yield all settings in their order, those outside the tables first."""
    for entry in entries(Loaded(Settings(), {})):
        holder, table = _holders()[entry.table], next((t for t in TABLES if t.name == entry.table), None)
        default = OF_THIS_COMPUTER.get((entry.table, entry.name)) or _default(entry.value)
        only_file = table.is_for_the_file(entry.name) if table else entry.name in FOR_THE_FILE
        prefix = f"{PREFIX}{entry.table}_" if entry.table else PREFIX
        yield Setting(
            entry.table,
            entry.name,
            type_words(_hint(holder, entry.name)),
            default,
            "" if only_file else f"{prefix}{entry.name}".upper(),
            "" if entry.table else options.get(entry.name, ""),
            _meaning(holder, entry.name),
        )


def rows_of(one: Setting) -> Iterator[str]:
    """Yield the table of the fields that each row of a setting has, if it has rows."""
    kind = _row_type(_hint(_holders()[one.table], one.name))
    if kind is None:
        return
    name = f"{one.table}.{one.name}" if one.table else one.name
    yield f"### Fields of `{name}`"
    yield ""
    yield "| Field | Type | Meaning |"
    yield "|---|---|---|"
    for field, hint, meaning in _fields(kind):
        yield f"| `{IN_THE_FILE.get(field, field)}` | {type_words(hint)} | {meaning} |"
    yield ""


def type_words(hint: Any) -> str:
    """Return the type of a setting in words.

    >>> type_words(tuple[str, ...] | None)
    'list of strings'
    """
    if hint is Duration:
        return "seconds"
    if get_origin(hint) in (UnionType, Union):
        return " or ".join(type_words(each) for each in get_args(hint) if each is not NoneType)
    if get_origin(hint) in (tuple, list, frozenset):
        inner = type_words(get_args(hint)[0])
        return f"list of {inner}" if inner.endswith(("s", "`")) else f"list of {inner}s"
    if isinstance(hint, type) and issubclass(hint, Enum):
        values = (each.name.lower() if isinstance(each.value, int) else each.value for each in hint)
        return " or ".join(f"`{value}`" for value in values)
    return PLAIN.get(hint, "table")


def _fields(kind: type) -> Iterator[tuple[str, Any, str]]:
    """Yield the fields of a row; the fields of a record inside it stand among them."""
    for name, hint in get_type_hints(kind).items():
        if name in NOT_IN_THE_FILE:
            continue
        if _is_record(hint) and not issubclass(hint, Enum):
            yield from _fields(hint)
        else:
            yield name, hint, _meaning([kind], name)


def _row_type(hint: Any) -> type | None:
    found = get_args(hint)[0] if get_origin(hint) in (tuple, list) else hint
    return found if _is_record(found) else None


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, msgspec.Struct))


def _holders() -> dict[str, list[type]]:
    """Return the classes that have the settings of each table as their fields."""
    found: dict[str, list[type]] = {"": [Settings]}
    for table in TABLES:
        made = table.options({})
        found[table.name] = [type(made), *([type(made.protocol)] if hasattr(made, "protocol") else [])]
    return found


def _hint(holders: Iterable[type], name: str) -> Any:
    return next(hints[name] for hints in map(get_type_hints, holders) if name in hints)


def _meaning(holders: Iterable[type], name: str) -> str:
    """Return the docstring below a field, of the class or of one that it is made from."""
    for holder in holders:
        for kind in holder.__mro__[:-1]:
            text = _field_docs(kind).get(name)
            if text:
                return text.replace("|", "\\|")
    return ""


def _field_docs(kind: type) -> dict[str, str]:
    try:
        [body] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):  # a class that is not written in Python
        return {}
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _default(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "none" if value is None else "empty"
    if isinstance(value, dict):
        return "see its fields"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{json.dumps(value, default=str)}`".replace("|", "\\|")


def _options() -> dict[str, str]:
    """Return the options of `reliquary serve` by the names of their settings."""
    serve: click.Command = importlib.import_module("reliquary.cli.serve").serve
    return {each.name: each.opts[0] for each in serve.params if each.name and each.opts}
