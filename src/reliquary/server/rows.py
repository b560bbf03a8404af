"""Names rows of the settings in errors, such as the second [[peers]]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from reliquary.base.faults import UsageError

Row = TypeVar("Row")


class RowError(UsageError):
    """A row of the settings is refused."""

    def __init__(self, rows: str, number: int, why: str) -> None:
        """`rows` is the name of the setting, `number` counts its rows from 0."""
        super().__init__(why)
        self.rows = rows
        self.row = row_name(rows, number)


def row_name(rows: str, number: int) -> str:
    """Return the name by which the origin of a row is kept.

    >>> row_name("peers", 1)
    'peers[1]'
    """
    return f"{rows}[{number}]"


@contextmanager
def in_row(rows: str, number: int) -> Iterator[None]:
    """Let an error name its row."""
    try:
        yield
    except UsageError as why:
        raise RowError(rows, number, str(why)) from why


def check_rows(rows: str, given: Sequence[Row], check: Callable[[Sequence[Row]], None]) -> None:
    """Check rows together; the error is about the first row that contradicts those before it."""
    try:
        check(given)
    except UsageError as why:
        number = next(each for each in range(len(given)) if _refusal(check, given[: each + 1]) == str(why))
        raise RowError(rows, number, str(why)) from why


def _refusal(check: Callable[[Sequence[Row]], None], given: Sequence[Row]) -> str:
    """Return the reason why rows are refused; an empty text if they are not."""
    try:
        check(given)
    except UsageError as why:
        return str(why)
    return ""
