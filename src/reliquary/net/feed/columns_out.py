"""Makes columns from positions and their messages.

    positions --> the wanted ones --> columns of the position
                        '--> records, only if a column asks for them --> columns of the message

A column whose rows all have one value has no cost per row if the reader accepts runs: these columns are
run-end encoded in Arrow, and each batch has the value once.  A reader may request compressed buffers,
which save bytes in a network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, takewhile
from operator import attrgetter
from typing import Any, Final, NamedTuple, cast

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.net.feed.column_sources import (
    PARTS,
    PLACES,
    TAILS,
    USUAL,
    Made,
    guid_text,
    made_of,
    numbers_of,
    plain_column,
)
from reliquary.net.feed.row_parts import RowParts
from reliquary.net.feed.schema import IN_RUNS, RUN_ENDS, TYPE_OF, schema_of
from reliquary.net.feed.stored_messages import NOTHING, Gone, Record, Records, Stored
from reliquary.net.feed.tails import TailReader, Tails
from reliquary.queueing.feed.plain import PlainPositions, arrivals_of, sizes_of
from reliquary.queueing.model.message import Position, StoredBody
from reliquary.wire.columns import BY_NAME, Use

BATCH_ROWS: Final = 10_000
BATCH_BYTES: Final = 16 * 1024 * 1024

END: Final = b"\xff\xff\xff\xff\0\0\0\0"
"""The bytes that end an Arrow stream."""

BODIES: Final = ("body", "body_size")
"""The columns that come from the row, or from the pieces of a large body."""
_SOURCE: Final = "source_machine"
"""The rare field with the machine that sent a message, if that is not the lineage of its identifier."""
_IN_PIECES: Final = "stored_body"


class Group(NamedTuple):
    """Positions that have their messages, and the parts that were read from these."""

    positions: Sequence[Position]
    parts: dict[str, Made]
    """Columns that are made already."""
    tails: Tails
    """The different tails of the rows."""
    indexes: pa.Array
    """For each row, the index of its tail."""

    def of_each(self, field: str) -> list[Any]:
        """Return the value of one of the tails' fields for each row."""
        values = self.tails.values(field)
        return [values[index] for index in self.indexes.to_pylist()]


_NO_TAILS: Final = Tails([], frozenset())
_NO_INDEXES: Final = pa.array([], pa.int32())


class Columns:
    """Makes the columns that one reader requested."""

    def __init__(
        self,
        names: Sequence[str],
        queue: str,
        stored: Stored,
        *,
        may_miss: bool,
        runs: bool = False,
        compression: str | None = None,
    ) -> None:
        """`may_miss` omits messages that were removed in between; otherwise that raises `Gone`."""
        self.schema = schema_of(names, runs=runs)
        self._names: tuple[str, ...] = tuple(self.schema.names)
        self._runs = IN_RUNS.intersection(self._names) if runs else frozenset[str]()
        self.queue = queue
        self._stored = stored
        self._may_miss = may_miss
        self._options = pa.ipc.IpcWriteOptions(compression=compression, use_threads=False)
        self._parts = [name for name in self._names if name in PARTS]
        self.touches = any(BY_NAME[name].use is not Use.POSITION for name in self._names)
        wanted = {TAILS[name].field for name in self._names if name in TAILS}
        if "source" in self._names:
            wanted.add(_SOURCE)
        if not set(BODIES).isdisjoint(self._names):
            wanted.add(_IN_PIECES)
        self._tails = TailReader(wanted)

    def opening(self) -> memoryview:
        """Return the beginning of the stream: its schema."""
        return memoryview(self.schema.serialize())

    def cut(self, positions: Sequence[Position]) -> Iterator[Sequence[Position]]:
        """Yield positions in groups whose rows may be in memory together."""
        return cut(positions, BATCH_ROWS, BATCH_BYTES if self.touches else 0)

    def has_room(self, pages: Sequence[Sequence[Position]], more: int) -> bool:
        """Return whether a group of `cut` can hold these positions and this many more."""
        if sum(map(len, pages)) + more > BATCH_ROWS:
            return False
        return not self.touches or sum(map(sum, map(sizes_of, pages))) < BATCH_BYTES

    def batch(
        self, positions: Sequence[Position], already_read: Mapping[int, Record] = NOTHING
    ) -> memoryview | None:
        """Return a group of `cut` as a record batch, ready to be sent; None if no row is left.

        `already_read` are records that were read with the positions, by the numbers of their messages.
        """
        group = (
            self._group(positions, already_read)
            if self.touches
            else Group(positions, {}, _NO_TAILS, _NO_INDEXES)
        )
        count = len(group.positions)
        if not count:
            return None
        arrays = _usual(self._names, self._runs, count)
        for name in self._names:
            if name in PLACES and isinstance(group.positions, PlainPositions):
                made = plain_column(name, group.positions)
            elif name in PLACES:
                source = PLACES[name]
                made = made_of(name, source, list(map(attrgetter(source.field), group.positions)))
            elif name in group.parts:
                made = group.parts[name]
            elif name in TAILS:
                if TAILS[name].field not in group.tails.fields:
                    continue
                made = _of_tails(name, group)
            elif name == "feed_id":
                made = numbers_of(name, arrivals_of(group.positions))
            else:
                made = pa.scalar(self.queue, TYPE_OF[name])
            arrays[name] = _spread(made, count, runs=name in self._runs)
        batch = pa.RecordBatch.from_arrays(list(arrays.values()), schema=self.schema)
        return memoryview(batch.serialize()) if self._options.compression is None else self._compressed(batch)

    def _compressed(self, batch: pa.RecordBatch) -> memoryview:
        """Return a record batch with compressed buffers, cut out of a stream of its own."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.schema, options=self._options) as stream:
            stream.write_batch(batch)
        return memoryview(sink.getvalue())[len(self.opening()) : -len(END)]

    # -- messages

    def _group(self, positions: Sequence[Position], already_read: Mapping[int, Record]) -> Group:
        """Read the messages of these positions; messages that were removed in between are omitted."""
        positions, records = self._records(positions, already_read)
        if not positions:
            return Group((), {}, _NO_TAILS, _NO_INDEXES)
        rows = RowParts(cast("list[bytes]", records.rows), records.begin)
        tails = self._tails.read(rows.tails.dictionary.to_pylist())
        parts = {name: PARTS[name](rows) for name in self._parts}
        group = Group(positions, parts, tails, rows.tails.indices)
        if "source" in parts and _SOURCE in tails.fields:
            parts["source"] = _sources(group)
        if _IN_PIECES in tails.fields:
            there = self._put_together(group)
            if len(there) < len(positions):
                return self._group([positions[index] for index in there], already_read)
        return group

    def _records(
        self, positions: Sequence[Position], already_read: Mapping[int, Record]
    ) -> tuple[Sequence[Position], Records]:
        """Return the records of the messages of these positions, and the positions that have any."""
        records = self._stored.records(positions, already_read)
        if None not in records.rows:
            return positions, records
        self._missed()
        pairs = zip(positions, records.rows, strict=True)
        there = [position for position, record in pairs if record is not None]
        return there, records._replace(rows=[record for record in records.rows if record is not None])

    def _put_together(self, group: Group) -> list[int]:
        """Put bodies that are stored in pieces into their columns; return the rows that have their body."""
        parts, stored = group.parts, group.of_each(_IN_PIECES)
        if "body_size" in parts:
            pairs = zip(parts["body_size"].to_pylist(), stored, strict=True)
            sizes = [size if there is None else there[1] for size, there in pairs]
            parts["body_size"] = pa.array(sizes, TYPE_OF["body_size"])
        if "body" not in parts:
            return list(range(len(stored)))
        bodies = [
            body if there is None else self._stored.body(StoredBody(*there))
            for body, there in zip(parts["body"].to_pylist(), stored, strict=True)
        ]
        if None in bodies:
            self._missed()
        parts["body"] = pa.array(bodies, TYPE_OF["body"])
        return [index for index, body in enumerate(bodies) if body is not None]

    def _missed(self) -> None:
        if not self._may_miss:
            raise Gone("a message left the queue while its body was read: ask for a new plan")


def _sources(group: Group) -> pa.Array:
    """Return the managers where messages were sent: the rare field, or else the lineage of the identifier."""
    lineages, count = group.parts["source"], len(group.positions)
    words = [lineages.as_py()] * count if isinstance(lineages, pa.Scalar) else lineages.to_pylist()
    pairs = zip(words, group.of_each(_SOURCE), strict=True)
    values = [lineage if source is None else guid_text(source) for lineage, source in pairs]
    return pa.array(values, TYPE_OF["source"])


def _of_tails(name: str, group: Group) -> Made:
    """Return the column of a field that is stored in the tails."""
    source, tails = TAILS[name], group.tails
    made = made_of(name, source, tails.values(source.field))
    # then each row has its own tail
    if isinstance(made, pa.Scalar) or len(tails.decoded) == len(group.positions):
        return made
    return made.take(group.indexes)


def _spread(made: Made, count: int, *, runs: bool) -> pa.Array:
    """Return the array of a column."""
    if isinstance(made, pa.Scalar):
        return _one_run(made, count) if runs else pa.repeat(made, count)
    return pa.RunEndEncodedArray.from_arrays(_each(count), made) if runs else made


@lru_cache(maxsize=256)
def _one_run(value: pa.Scalar, count: int) -> pa.RunEndEncodedArray:
    """Return a column in which all rows have this value."""
    return pa.RunEndEncodedArray.from_arrays(pa.array([count], RUN_ENDS), pa.repeat(value, 1))


def _usual(names: tuple[str, ...], runs: frozenset[str], count: int) -> dict[str, pa.Array]:
    """Return the columns of messages without rare fields; None for a column that is made for each batch."""
    if not runs:
        return {name: pa.repeat(USUAL[name], count) if name in USUAL else None for name in names}
    return dict(_usual_runs(names, runs, count))


@lru_cache(maxsize=16)
def _usual_runs(names: tuple[str, ...], runs: frozenset[str], count: int) -> dict[str, pa.Array]:
    """Return these columns as runs; they are small, so those of some sizes are cached."""
    return {name: _spread(USUAL[name], count, runs=name in runs) if name in USUAL else None for name in names}


@lru_cache(maxsize=16)
def _each(count: int) -> pa.Array:
    """Return the ends of runs of one row each."""
    return pa.array(range(1, count + 1), RUN_ENDS)


def cut(positions: Sequence[Position], most: int, most_bytes: int) -> Iterator[Sequence[Position]]:
    """Yield groups of at most `most` rows and `most_bytes` bytes, at least one row.

    With 0 bytes, only rows are limited.
    """
    first = 0
    while first < len(positions):
        some = positions[first : first + most]
        if most_bytes and sum(sizes_of(some)) > most_bytes:
            totals = accumulate(sizes_of(some))
            fit = sum(1 for _ in takewhile(most_bytes.__ge__, totals))
            some = some[: max(fit, 1)]
        yield some
        first += len(some)
