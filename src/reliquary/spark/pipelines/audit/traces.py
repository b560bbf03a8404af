"""Makes traces: all events of one manager about one message, as one row of numbers.

    events (any files, any order) --> one row a (manager, message) --> merged with the rows of earlier runs

Every column is a minimum, a maximum, a sum or a union of bits, so rows of one message from two sets of files
merge into what both sets together would have given, in any order.  And every column is a
number: names of managers and queues are hashes (`coverage` keeps the names), and the three numbers
of a message identifier are the identifier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.spark.pipelines.audit import masks
from reliquary.spark.pipelines.audit.arrays import NEUTRAL, Ints, Table, filled, grouped, joined
from reliquary.spark.pipelines.audit.masks import bit

KEY: Final = ("manager", "message")
ID: Final = ("id_high", "id_low", "id_number")


@dataclass(frozen=True)
class Kept:
    """One column of a trace: which number of which events, and how two of them become one."""

    how: str
    value: str
    of: int = 0
    """The mask of the counted events; 0 means all."""


ENTRIES: Final = bit("accepted", "arrived", "queued", "committed")
_TAKEN: Final = bit("handed-out", "received")

COLUMNS: Final[dict[str, Kept]] = {
    "id_high": Kept("max", "id_high"),
    "id_low": Kept("max", "id_low"),
    "id_number": Kept("max", "id_number"),
    "mask": Kept("or", "mask"),
    "place": Kept("max", "place", ENTRIES | bit("prepared")),
    "entered_time": Kept("min", "at", ENTRIES),
    "entered_event": Kept("min", "event_id", ENTRIES),
    "due_time": Kept("max", "at", bit("due")),
    "stream": Kept("max", "stream"),
    "number": Kept("max", "number"),
    "deadline": Kept("max", "expires"),
    "taken_event": Kept("min", "event_id", _TAKEN),
    "handed_time": Kept("max", "at", bit("handed-out")),
    "reads": Kept("sum", "reads"),
    "received_time": Kept("min", "at", bit("received")),
    "received_event": Kept("min", "event_id", bit("received")),
    "again_time": Kept("max", "at", bit("received")),
    "again_event": Kept("max", "event_id", bit("received")),
    "sent_time": Kept("max", "at", bit("sent")),
    "sent_event": Kept("max", "event_id", bit("sent")),
    "left_time": Kept("max", "left_at"),
    "left_event": Kept("max", "left_by"),
    "settled_event": Kept("max", "event_id", masks.SETTLING),
    "doubt_event": Kept("max", "event_id", bit("held", "prepared")),
    "doubt_time": Kept("max", "at", bit("held", "prepared")),
    "acknowledged_time": Kept("min", "acknowledged_at"),
    "acknowledged_event": Kept("min", "acknowledged_by"),
}
"""All columns of a trace besides its key."""
STORED: Final = (*KEY, *COLUMNS)
"""A trace as the state keeps it."""


def merged(tables: Sequence[Table]) -> Table:
    """Return the traces of several sets of events together, one row for each message, by key."""
    both = joined(tables)
    groups = grouped(*(both[name] for name in KEY))
    if len(groups.starts) == groups.length:
        return both if groups.order is None else both.where(groups.order)
    return Table(
        {name: groups.first(both[name]) for name in KEY}
        | {name: groups.reduced(kept.how, both[name]) for name, kept in COLUMNS.items()}
    )


# -- on disk
#
#     column column ... | column column ... | index | its length
#     part 0              part 1
#
# A column with one value is in the index alone: most messages do not have most of the columns.

_CODEC: Final = "lz4"
_LENGTH: Final = 8


class _Part(msgspec.Struct, frozen=True):
    """The position of the columns of a part in the file."""

    rows: int
    values: dict[str, int]
    """The columns that have one value in all rows."""
    places: dict[str, tuple[int, int]]
    """The begin and the end of all other columns."""


def write(path: Path, parts: Iterable[Table]) -> None:
    """Write tables of traces into one file, each as one part; the file appears completely or not at all."""
    draft = path.with_name(f".{path.name}")
    index: list[_Part] = []
    with draft.open("wb") as sink:
        at = 0
        for part in parts:
            values: dict[str, int] = {}
            places: dict[str, tuple[int, int]] = {}
            for name in STORED:
                column = part[name]
                if not len(column) or (column[0] == column[-1] and (column == column[0]).all()):
                    values[name] = int(column[0]) if len(column) else 0
                    continue
                data = pa.compress(np.ascontiguousarray(column), codec=_CODEC)
                sink.write(data)
                places[name] = at, at + data.size
                at += data.size
            index.append(_Part(len(part), values, places))
        tail = msgspec.msgpack.encode(index)
        sink.write(tail + len(tail).to_bytes(_LENGTH, "little"))
    draft.replace(path)


def read(path: Path, parts: Iterable[int], columns: Sequence[str] = STORED) -> Iterator[Table]:
    """Return some parts of a file, with some of their columns."""
    with path.open("rb") as source:
        end = source.seek(-_LENGTH, SEEK_END)
        length = int.from_bytes(source.read(_LENGTH), "little")
        source.seek(end - length)
        index = msgspec.msgpack.decode(source.read(length), type=list[_Part])
        for number in parts:
            part = index[number]
            yield Table({name: _column(source, part, name) for name in columns})


def _column(source: BinaryIO, part: _Part, name: str) -> Ints:
    if name in part.values:
        return filled(part.rows, part.values[name])
    begin, end = part.places[name]
    source.seek(begin)
    data = pa.decompress(source.read(end - begin), decompressed_size=8 * part.rows, codec=_CODEC)
    return np.frombuffer(data, np.int64)


def neutral(name: str) -> int:
    """Return the value of a column for a message without the events that it is made of."""
    return NEUTRAL[COLUMNS[name].how]
