"""Implements tables of numbers: columns of one length, each an array of 64-bit integers.

The audit counts with arrays and not with rows: a column is compared, grouped and merged as a whole.  An
unknown value is `NEVER` in columns of minima and `NONE` in columns of maxima, so that merging needs no
case of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

Ints = np.ndarray[Any, np.dtype[np.int64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]

NEVER: Final = np.iinfo(np.int64).max
"""The value of a minimum without values."""
NONE: Final = np.iinfo(np.int64).min
"""The value of a maximum without values."""


class Table:
    """A table whose columns have one length."""

    def __init__(self, columns: Mapping[str, Ints]) -> None:
        self.columns = dict(columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def __getitem__(self, name: str) -> Ints:
        return self.columns[name]

    def where(self, chosen: Bools | Ints) -> Table:
        """Return the rows for which `chosen` is true, or the rows with these numbers in their order."""
        return Table({name: column[chosen] for name, column in self.columns.items()})

    def plus(self, **columns: Ints) -> Table:
        """Return this table with more columns."""
        return Table(self.columns | columns)

    def only(self, names: Iterable[str]) -> Table:
        """Return this table with only these columns."""
        return Table({name: self.columns[name] for name in names})

    def rows(self) -> list[dict[str, int]]:
        """Return each row as a dictionary from the names of columns to numbers."""
        lists = [column.tolist() for column in self.columns.values()]
        return [dict(zip(self.columns, values, strict=True)) for values in zip(*lists, strict=True)]


def empty(names: Iterable[str]) -> Table:
    """Return a table that has these columns and no rows."""
    return Table({name: np.empty(0, np.int64) for name in names})


def joined(tables: Sequence[Table]) -> Table:
    """Return all rows of these tables, whose columns have equal names."""
    if len(tables) == 1:
        return tables[0]
    return Table({name: np.concatenate([each[name] for each in tables]) for name in tables[0].columns})


def filled(count: int, value: int) -> Ints:
    """Return a column with one value in all rows."""
    return np.full(count, value, np.int64)


def known(column: Ints) -> Bools:
    """Return which values of a column are known."""
    result: Bools = (column != NEVER) & (column != NONE)
    return result


def has(table: Table, mask: int) -> Bools:
    """Return for which rows the mask has any of these bits."""
    result: Bools = (table["mask"] & mask) != 0
    return result


@lru_cache(maxsize=100_000)
def hashed(*words: str) -> int:
    """Return a number of 63 bits for these words; it is never 0."""
    digest = blake2b("\0".join(words).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 1) or 1


def mixed(*columns: Ints | int) -> Ints:
    """Return a number of 63 bits for each combination of these values."""
    result = np.zeros(1, np.uint64)
    for column in columns:
        result = (result ^ np.asarray(column, np.int64).view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        result ^= result >> np.uint64(29)
        result *= np.uint64(0xBF58476D1CE4E5B9)
        result ^= result >> np.uint64(32)
    return (result >> np.uint64(1)).view(np.int64)


class Groups(NamedTuple):
    """Rows in an order in which equal keys are neighbours."""

    order: Ints | None
    """None: the rows are in this order already."""
    starts: Ints
    """The row at which each group begins, in that order."""
    length: int
    """The number of rows in all groups."""

    def sorted(self, column: Ints) -> Ints:
        """Return a column in the order of the groups."""
        return column if self.order is None else column[self.order]

    def first(self, column: Ints) -> Ints:
        """Return the value of the first row of each group."""
        return self.sorted(column)[self.starts]

    def sizes(self) -> Ints:
        """Return the number of rows of each group."""
        return np.diff(np.append(self.starts, self.length))

    def reduced(self, how: str, column: Ints) -> Ints:
        """Return one value for each group: `min`, `max`, `sum` or `or` of its rows."""
        if not self.length:
            return np.empty(0, np.int64)
        if len(self.starts) == self.length:
            return self.sorted(column)
        result: Ints = _REDUCE[how].reduceat(self.sorted(column), self.starts)
        return result

    def numbers(self) -> Ints:
        """Return the number of the group of each row, in the order of the rows."""
        inside = np.repeat(np.arange(len(self.starts)), self.sizes())
        if self.order is None:
            return inside
        result = np.empty(self.length, np.int64)
        result[self.order] = inside
        return result


_REDUCE: Final[dict[str, Any]] = {
    "min": np.minimum,
    "max": np.maximum,
    "sum": np.add,
    "or": np.bitwise_or,
}
NEUTRAL: Final[dict[str, int]] = {"min": NEVER, "max": NONE, "sum": 0, "or": 0}
"""The neutral value of each way to merge."""


def grouped(*keys: Ints) -> Groups:
    """Return the groups of rows with equal keys, in the order of the keys; rows keep their order."""
    count = len(keys[0])
    changing = [key for key in keys if count and (key[0] != key[-1] or np.any(key != key[0]))]
    if not changing:
        return Groups(None, np.zeros(min(count, 1), np.int64), count)
    order: Ints | None
    if len(changing) == 1:
        order = (
            None if np.all(changing[0][:-1] <= changing[0][1:]) else np.argsort(changing[0], kind="stable")
        )
    else:
        order = np.lexsort(changing[::-1])
    ordered = [key if order is None else key[order] for key in changing]
    new = np.zeros(count, np.bool_)
    new[0] = True
    for key in ordered:
        new[1:] |= key[1:] != key[:-1]
    return Groups(order, np.flatnonzero(new), count)


def looked_up(column: Ints, values: Mapping[int, int], default: int) -> Ints:
    """Return the value of each number of a column."""
    numbers, places = np.unique(column, return_inverse=True)
    found = np.array([values.get(each, default) for each in numbers.tolist()], np.int64)
    return found[places] if len(found) else np.empty(0, np.int64)


# -- as bytes


def packed(tables: Mapping[str, Table]) -> bytes:
    """Return tables as the bytes of one file."""
    content = {
        name: {column: values.astype("<i8").tobytes() for column, values in table.columns.items()}
        for name, table in tables.items()
    }
    return msgspec.msgpack.encode(content)


def unpacked(data: bytes) -> dict[str, Table]:
    """Return the tables from the bytes of `packed`."""
    content = msgspec.msgpack.decode(data, type=dict[str, dict[str, bytes]])
    return {
        name: Table({column: np.frombuffer(values, "<i8") for column, values in columns.items()})
        for name, columns in content.items()
    }
