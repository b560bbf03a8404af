"""What is printed: a table for a person, JSON lines to a pipe, or as --json and --table say."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

WIDE: Final = 240
"""Columns of a table that goes to a pipe."""


def format_option(command: F) -> F:
    """Adds --json/--table; the command gets `as_json`."""
    return click.option(
        "--json/--table",
        "as_json",
        default=None,
        help="JSON lines, or a table; without either, a table for a person and JSON to a pipe.",
    )(command)


def wants_json(as_json: bool | None) -> bool:
    """Whether to print JSON lines."""
    return not sys.stdout.isatty() if as_json is None else as_json


def print_json(records: Iterable[object]) -> None:
    """One JSON object a line."""
    import msgspec

    for record in records:
        click.echo(msgspec.json.encode(record))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table; numbers to the right."""
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
    """Names and values, one a line."""
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
