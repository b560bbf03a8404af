r"""Converts rows of the history to an Arrow table, with the columns of `wire.history`.

    heads (a few)             --take by place-->           strings: event, queue, reason, ...
    first numbers of groups   --repeat, add the steps-->   numbers: message, size, sent, deadline, ...
    listed numbers            --replace by shape-->        the numbers of groups that could not be expressed

A number is null where the head has no shape for it.  No event is looked at alone.  `rows_of(disk)` gives all
that waits in a store, real or simulated:

    table = rows_of(MemoryDisk(...))    # or a RocksDisk, or the disk of a simulated node with history=True
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from struct import calcsize
from typing import Final
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from reliquary.queueing.model.history.records import (
    BY_SHAPE,
    COLUMNS,
    EXPRESS,
    FIRSTS,
    GROUP,
    Column,
    Head,
    HistoryRow,
    Shape,
    decode_events,
)
from reliquary.queueing.model.message import NO_GUID, MessageClass
from reliquary.queueing.model.tables import HISTORY, MANAGER, ONLY, PAST_THE_END
from reliquary.store.disk import Disk
from reliquary.wire.columns import ColumnType
from reliquary.wire.history import HISTORY_COLUMNS, VERSION, HistoryEvent

_TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
_TYPES: Final[dict[ColumnType, pa.DataType]] = {
    ColumnType.STRING: pa.string(),
    ColumnType.BOOL: pa.bool_(),
    ColumnType.INT: pa.int32(),
    ColumnType.LONG: pa.int64(),
    ColumnType.TIMESTAMP: _TIMESTAMP,
}
SCHEMA: Final = pa.schema([(column.name, _TYPES[column.kind]) for column in HISTORY_COLUMNS])

_WORDS: Final = pa.dictionary(pa.int32(), pa.string())
_OWN_WORDS: Final = ("message_id", "correlation")
"""The strings that differ in each event."""
PACKED: Final = pa.schema(
    [
        (each.name, _WORDS if each.type == pa.string() and each.name not in _OWN_WORDS else each.type)
        for each in SCHEMA
    ]
)
"""The schema with dictionary-encoded words, as files are written."""
_SECOND: Final = 1_000_000
_UNIQUE: Final = 0xFFFFFFFF
_EVENTS: Final = {int(each): each.word for each in HistoryEvent}
_REASONS: Final = {int(each): each.name.lower().replace("_", "-") for each in MessageClass}

Numbered = tuple[int, HistoryRow]
"""The number of the first event, and the row."""


class _Gathered:
    """The rows of one table, joined: each head once, and the groups and numbers of all rows in order."""

    def __init__(self, rows: Iterable[Numbered]) -> None:
        self.heads: dict[Head, int] = {}
        self.groups = bytearray()
        self.moments: list[int] = []
        """The moment of each group."""
        self.firsts: dict[int, bytearray] = {}
        self.listed: dict[str, list[int]] = {}
        self.correlations: list[tuple[UUID, int]] = []
        self._runs: list[list[int]] = []
        """The first number and the count of events that follow each other."""
        for first, row in rows:
            if self._runs and first == sum(self._runs[-1]):
                self._runs[-1][1] += row.count
            else:
                self._runs.append([first, row.count])
            self._take(row)

    def _take(self, row: HistoryRow) -> None:
        events = decode_events(row.events)
        places = [self.heads.setdefault(head, len(self.heads)) for head in events.heads]
        if places != list(range(len(places))):  # most rows begin with the heads of the row before
            groups = array("I", events.groups)
            groups[:: GROUP.size // 4] = array("I", [places[place] for place in groups[:: GROUP.size // 4]])
            self.groups += groups.tobytes()
        else:
            self.groups += events.groups
        ends = [*(group for group, _ in events.moments), len(events.groups) // GROUP.size]
        for (_, moment), (begin, end) in zip(events.moments, pairwise(ends), strict=True):
            self.moments += [moment] * (end - begin)
        for flag, firsts in events.firsts.items():
            self.firsts.setdefault(flag, bytearray()).extend(firsts)
        for name, numbers in events.listed.items():
            self.listed.setdefault(name, []).extend(numbers)
        self.correlations += events.correlations

    def ids(self) -> pa.Array:
        """Return the numbers of all events."""
        runs = [pc.add(_counted(count), first - 1) for first, count in self._runs]
        return pa.concat_arrays(runs) if runs else pa.array([], pa.int64())

    def places(self) -> pa.Array:
        """Return the index of the head of each group."""
        return _strided(self.groups, "I", 0, GROUP.size)

    def counts(self) -> pa.Array:
        """Return the count of events of each group."""
        return _strided(self.groups, "I", 4, GROUP.size)

    def first_numbers(self, column: Column) -> pa.Array:
        """Return the first numbers of all groups that have this column."""
        before = "".join(
            each.format for each in BY_SHAPE[column.shape][: BY_SHAPE[column.shape].index(column)]
        )
        if not column.shape:
            return _strided(self.groups, column.format, calcsize("=II" + before), GROUP.size)
        numbers = self.firsts.get(column.shape, bytearray())
        return _strided(numbers, column.format, calcsize("=" + before), FIRSTS[column.shape].size)


def _strided(data: bytearray, form: str, offset: int, stride: int) -> pa.Array:
    """Return the number at an offset of each record, where records have a length of `stride` bytes."""
    kind, width = _KINDS[form]
    numbers = array(form, data)[offset // width :: stride // width]
    found = pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])
    return found.cast(pa.int64())


_KINDS: Final = {"I": (pa.uint32(), 4), "q": (pa.int64(), 8)}
"""The type and the width of a number, by its format for `struct`."""
_COLUMNS: Final = {column.name: column for column in COLUMNS}


def table_of(rows: Iterable[Numbered], manager: UUID, manager_name: str) -> pa.Table:
    """Return all events of these rows, in order; repeated words are stored once (`PACKED`)."""
    gathered = _Gathered(rows)
    heads = list(gathered.heads)
    spread = _Spread(gathered, heads)
    messages, priorities = spread.numbers("message"), spread.numbers("priority")
    columns: dict[str, pa.Array] = {
        "version": pa.repeat(pa.scalar(VERSION, pa.int32()), spread.count),
        "event_id": gathered.ids(),
        "event": spread.words([_EVENTS.get(head.event, str(head.event)) for head in heads]),
        "time": spread.repeated(pa.array(gathered.moments, pa.int64())).cast(_TIMESTAMP),
        "manager": spread.words([str(manager)] * len(heads)),
        "manager_name": spread.words([manager_name] * len(heads)),
        "queue": spread.words([head.queue for head in heads]),
        "queue_kind": spread.words([head.kind for head in heads]),
        "message": _or_null(messages),
        "message_id": _identifiers(spread, messages, manager),
        "lookup_id": _or_null(pc.add(messages, spread.numbers("offset"))),
        "size": spread.numbers("size"),
        "priority": pc.bit_wise_and(priorities, EXPRESS - 1).cast(pa.int32()),
        "durable": pc.less(priorities, EXPRESS),
        "sent": pc.multiply(_or_null(spread.numbers("sent")), _SECOND).cast(_TIMESTAMP),
        "deadline": spread.numbers("deadline").cast(_TIMESTAMP),
        "stream": spread.words([_stream(head) for head in heads]),
        "stream_number": spread.numbers("number"),
        "previous_number": spread.numbers("previous"),
        "transaction": spread.words([str(head.transaction or "") for head in heads]),
        "correlation": spread.some([f"{each}\\{number}" for each, number in gathered.correlations]),
        "reason": spread.words([_reason(head) for head in heads]),
        "other_queue": spread.words([head.other for head in heads]),
        "protocol": spread.words([head.by for head in heads]),
        "peer": spread.words([head.peer for head in heads]),
        "batch": spread.words([head.batch for head in heads]),
        "attempt": spread.numbers("attempt").cast(pa.int32()),
    }
    return pa.table(columns, schema=PACKED)


class _Spread:
    """Makes columns from values of heads, groups or events of one shape, with a value for each event."""

    def __init__(self, gathered: _Gathered, heads: Sequence[Head]) -> None:
        self._gathered = gathered
        self.heads = heads
        counts = gathered.counts()
        ends = pc.cumulative_sum(counts).cast(pa.int32())
        self.count = ends[-1].as_py() if len(ends) else 0
        self._single = self.count == len(counts)
        """Whether each group has one event; then the value of a group is the value of its event."""
        self._ends = ends
        """The count of events up to the end of each group."""
        before = self.repeated(pc.subtract(ends, counts.cast(pa.int32())))
        self._inside = pc.subtract(_counted(self.count), pc.add(before, 1))
        """The number of events before each event in its group."""
        self._group_places = gathered.places()
        self._zeros = pa.repeat(pa.scalar(0, pa.int32()), self.count)

    def repeated(self, values: pa.Array) -> pa.Array:
        """Return for each event the value of its group."""
        if self._single:
            return values
        return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(self._ends, values))

    def has(self, shape: int) -> pa.Array:
        """Return for each event whether it has this shape."""
        return self.repeated(self._with(shape).take(self._group_places))

    def _with(self, shape: int) -> pa.Array:
        """Return for each head whether it has this shape."""
        return pa.array([bool(head.shape & shape) for head in self.heads], pa.bool_())

    def words(self, values: Sequence[str]) -> pa.Array:
        """Return for each event the word of its head; an empty word is null."""
        known = {word: place for place, word in enumerate(dict.fromkeys(filter(None, values)))}
        if not known:
            return pa.nulls(self.count, _WORDS)
        if len(known) == 1 and all(values):  # most columns, also where each event has a head of its own
            codes = self._zeros
        else:
            of_heads = pa.array(list(map(known.get, values)), pa.int32())
            codes = self.repeated(of_heads.take(self._group_places))
        return pa.DictionaryArray.from_arrays(codes, pa.array(list(known), pa.string()))

    def numbers(self, name: str) -> pa.Array:
        """Return the numbers of a column; null where the head of the event does not have it."""
        column = _COLUMNS[name]
        firsts = self._gathered.first_numbers(column)
        if not len(firsts):
            return pa.nulls(self.count, pa.int64())
        if len(firsts) < len(self._group_places):
            some = self._with(column.shape).take(self._group_places)
            firsts = pc.replace_with_mask(pa.nulls(len(some), pa.int64()), some, firsts)
        numbers = self.repeated(firsts)
        if column.step and not self._single:
            numbers = pc.if_else(pc.equal(numbers, 0), numbers, pc.add(numbers, self._inside))
        listed = self._gathered.listed.get(name)
        if listed:
            return pc.replace_with_mask(numbers, self.has(column.listed), pa.array(listed, pa.int64()))
        return numbers

    def some(self, correlations: list[str]) -> pa.Array:
        """Return for each event the identifier of the message that it names in `correlation`."""
        empty = pa.nulls(self.count, pa.string())
        if not correlations:
            return empty
        return pc.replace_with_mask(empty, self.has(Shape.CORRELATED), pa.array(correlations, pa.string()))


@lru_cache(maxsize=1)
def _counted(count: int) -> pa.Array:
    """Return the numbers 1, 2, 3 and so on up to `count`; a table needs them twice."""
    return pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), count))


def _or_null(numbers: pa.Array) -> pa.Array:
    """Replace 0, which means that there is no value, by null."""
    return pc.if_else(pc.equal(numbers, 0), pa.scalar(None, numbers.type), numbers)


def _identifiers(spread: _Spread, messages: pa.Array, manager: UUID) -> pa.Array:
    """Return GUID and number: as the event names them, else the manager's GUID and the number of the
    message."""
    known = spread.has(Shape.SUBJECT | Shape.NAMED)
    own = pc.bit_wise_and(messages, _UNIQUE)
    numbers = pc.coalesce(spread.numbers("uniquifier"), own).filter(known).cast(pa.string())
    named = {str(head.lineage or manager) for head in spread.heads}
    lineages: pa.Array | str = (
        spread.words([str(head.lineage or manager) for head in spread.heads]).filter(known).cast(pa.string())
        if len(named) > 1
        else "".join(named)
    )
    words = pc.binary_join_element_wise(lineages, numbers, "\\")
    if len(words) == spread.count:
        return words
    places = pc.subtract(pc.cumulative_sum(known.cast(pa.int32())), 1)
    return words.take(pc.if_else(known, places, pa.scalar(None, pa.int32())))


def _reason(head: Head) -> str:
    return _REASONS.get(head.reason, str(head.reason)) if head.reason else ""


def _stream(head: Head) -> str:
    return f"{head.ordinal}.{head.timestamp}" if head.ordinal or head.timestamp else ""


def read_rows(disk: Disk, first: bytes, limit: int) -> list[Numbered]:
    """Return up to `limit` rows, from this key on."""
    found = HISTORY.decode_all(disk.range(HISTORY.name, first, PAST_THE_END, limit=limit))
    return [(int.from_bytes(key), row) for key, row in found]


def rows_of(disk: Disk) -> pa.Table:
    """Return all events in a store that are in no file yet; for tests, the simulator and small stores."""
    return _table_in(disk, read_rows(disk, b"", limit=2**31 - 1))


def newest_rows_of(disk: Disk, limit: int) -> pa.Table:
    """Return the events of the last `limit` rows that are in no file yet, in their order."""
    found = HISTORY.decode_all(disk.range(HISTORY.name, b"", PAST_THE_END, limit=limit, reverse=True))
    return _table_in(disk, [(int.from_bytes(key), row) for key, row in reversed([*found])])


def _table_in(disk: Disk, rows: Iterable[Numbered]) -> pa.Table:
    value = disk.get(MANAGER.name, ONLY)
    record = None if value is None else MANAGER.decode(ONLY, value)
    manager, name = (NO_GUID, "") if record is None else (record.identifier, record.computer_name)
    return table_of(rows, manager, name).cast(SCHEMA)
