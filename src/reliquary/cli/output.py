"""Prints the results of commands.

A table for people, JSON lines to a pipe, or as --json and --table require.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    import msgspec

    from reliquary.queueing.model.administration import Column

F = TypeVar("F", bound=Callable[..., Any])

WIDE: Final = 240
"""The width of a table that is written to a pipe."""


def format_option(command: F) -> F:
    """Adds --json/--table; the command gets `as_json`."""
    return click.option(
        "--json/--table",
        "as_json",
        default=None,
        help="JSON lines, or a table; without either, a table for a person and JSON to a pipe.",
    )(command)


def wants_json(as_json: bool | None) -> bool:
    """Return whether to print JSON lines."""
    return not sys.stdout.isatty() if as_json is None else as_json


def print_json(records: Iterable[object]) -> None:
    """Print one JSON object on a line."""
    import msgspec

    for record in records:
        click.echo(msgspec.json.encode(record))


def print_records(
    records: Sequence[msgspec.Struct],
    columns: Sequence[str | Column[Any]],
    as_json: bool | None,
    parts: Container[str] = (),
) -> None:
    """Print records as JSON lines, or some of their fields as a table.

    `parts` are fields that contain records; the table has their number.
    """
    if wants_json(as_json):
        print_json(records)
    else:
        heads = list(map(_head, columns))
        print_table(heads, [[_cell(each, column, parts) for column in columns] for each in records])


def print_record(
    record: msgspec.Struct,
    as_json: bool | None,
    parts: Mapping[str, Sequence[str]] | None = None,
    chosen: Sequence[str | Column[Any]] = (),
) -> None:
    """Print one record as JSON, or its fields line by line; `chosen` replaces all fields.

    `parts` are fields that contain records, with the columns of the tables that follow.
    """
    if wants_json(as_json):
        print_json([record])
        return
    if chosen:
        print_fields({_head(each): _cell(record, each) for each in chosen})
        return
    parts = parts or {}
    fields = {name: _cell(record, name, parts) for name in record.__struct_fields__}
    print_fields({name: None if value == "" else value for name, value in fields.items()})
    for name, columns in parts.items():
        if inside := getattr(record, name):
            click.echo()
            print_table(columns, [[_cell(each, column) for column in columns] for each in inside])


def _head(column: str | Column[Any]) -> str:
    return column if isinstance(column, str) else column.head


def _cell(record: msgspec.Struct, column: str | Column[Any], parts: Container[str] = ()) -> object:
    if not isinstance(column, str):
        return column.value(record)
    value = getattr(record, column)
    if not isinstance(value, list | tuple):
        return value
    return len(value) if column in parts else ", ".join(value)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table with numbers aligned to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    lines = [list(row) for row in rows]
    for place, column in enumerate(columns):
        numbers = bool(lines) and all(isinstance(row[place], int) for row in lines)
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in lines:
        table.add_row(*(Text(_shown(value)) for value in row))
    Console(width=None if sys.stdout.isatty() else WIDE).print(table)


def print_fields(fields: dict[str, object]) -> None:
    """Print names and values, one pair on each line."""
    width = max(map(len, fields))
    for name, value in fields.items():
        click.echo(f"{name:<{width}}  {_shown(value)}")


def _shown(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
