r"""Rows of the history as an Arrow table, with the columns of `wire.history`.

    heads (a few)      --take by place-->     strings: event, queue, reason, ...
    numbers (buffers)  --as they lie-->       message, lookup_id
    numbers of some    --spread by shape-->   size, sent, deadline, ...   null where the head has no such

No event is looked at alone.  `rows_of(disk)` gives all that waits in a store, real or simulated:

    table = rows_of(MemoryDisk(...))    # or a RocksDisk, or the disk of a simulated node with history=True
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from reliquary.queueing.model.history.records import EXPRESS, Head, HistoryRow, Shape
from reliquary.queueing.model.message import NO_GUID, MessageClass
from reliquary.queueing.model.tables import HISTORY, MANAGER, ONLY, PAST_THE_END
from reliquary.store.disk import Disk
from reliquary.wire.columns import Kind
from reliquary.wire.history import HISTORY_COLUMNS, VERSION, Happening

_TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
_TYPES: Final[dict[Kind, pa.DataType]] = {
    Kind.STRING: pa.string(),
    Kind.BOOL: pa.bool_(),
    Kind.INT: pa.int32(),
    Kind.LONG: pa.int64(),
    Kind.TIMESTAMP: _TIMESTAMP,
}
SCHEMA: Final = pa.schema([(column.name, _TYPES[column.kind]) for column in HISTORY_COLUMNS])

_WORDS: Final = pa.dictionary(pa.int32(), pa.string())
_OWN_WORDS: Final = ("message_id", "correlation")
"""Strings that are different in each event."""
PACKED: Final = pa.schema(
    [
        (each.name, _WORDS if each.type == pa.string() and each.name not in _OWN_WORDS else each.type)
        for each in SCHEMA
    ]
)
"""The same with each word once, as files are written."""
_SECOND: Final = 1_000_000
_UNIQUE: Final = 0xFFFFFFFF
_EVENTS: Final = {int(each): each.word for each in Happening}
_REASONS: Final = {int(each): each.name.lower().replace("_", "-") for each in MessageClass}

Numbered = tuple[int, HistoryRow]
"""The number of the first event, and the row."""


class _Gathered:
    """The rows of one table, joined: heads once, numbers one behind the other."""

    def __init__(self, rows: Iterable[Numbered]) -> None:
        self.heads: dict[Head, int] = {}
        self.places = array("I")
        self.times = array("q")
        self.correlations: list[tuple[UUID, int]] = []
        self._runs: list[list[int]] = []
        """The first number and the count of events that follow each other."""
        self._parts: dict[str, list[bytes]] = {name: [] for name in _NUMBERS}
        for first, row in rows:
            self._take_places(row)
            self._take_times(row)
            if self._runs and first == sum(self._runs[-1]):
                self._runs[-1][1] += row.count
            else:
                self._runs.append([first, row.count])
            self.correlations += row.correlations
            for name, part in self._parts.items():
                part.append(getattr(row, name))

    def _take_places(self, row: HistoryRow) -> None:
        known = [self.heads.setdefault(head, len(self.heads)) for head in row.heads]
        if known == list(range(len(known))):  # most rows have the same
            self.places.frombytes(row.places)
        else:
            self.places.extend([known[place] for place in array("I", row.places)])

    def ids(self) -> pa.Array:
        """The numbers of all events."""
        runs = [pc.add(_counted(count), first - 1) for first, count in self._runs]
        return pa.concat_arrays(runs) if runs else pa.array([], pa.int64())

    def _take_times(self, row: HistoryRow) -> None:
        ends = [*(place for place, _ in row.moments), row.count]
        for (_, moment), (begin, end) in zip(row.moments, pairwise(ends), strict=True):
            self.times.extend(array("q", (moment,)) * (end - begin))

    def numbers(self, name: str) -> pa.Array:
        """The numbers of one name, of all rows."""
        data, kind = b"".join(self._parts[name]), _NUMBERS[name]
        width = kind.bit_width // 8
        return pa.Array.from_buffers(kind, len(data) // width, [None, pa.py_buffer(data)])


_NUMBERS: Final[dict[str, pa.DataType]] = {
    "messages": pa.int64(),
    "lookup_ids": pa.int64(),
    "sizes": pa.int64(),
    "sents": pa.uint32(),
    "priorities": pa.uint8(),
    "uniquifiers": pa.int64(),
    "numbers": pa.int64(),
    "previous": pa.int64(),
    "deadlines": pa.int64(),
    "attempts": pa.uint32(),
}


def table_of(rows: Iterable[Numbered], manager: UUID, manager_name: str) -> pa.Table:
    """All events of these rows, in their order; words that repeat are there once (`PACKED`)."""
    gathered = _Gathered(rows)
    heads = list(gathered.heads)
    spread = _Spread(gathered, heads)
    messages, priorities = gathered.numbers("messages"), spread.numbers("priorities", Shape.SUBJECT)
    seconds = spread.numbers("sents", Shape.SUBJECT).cast(pa.int64())
    columns: dict[str, pa.Array] = {
        "version": pa.repeat(pa.scalar(VERSION, pa.int32()), spread.count),
        "event_id": gathered.ids(),
        "event": spread.words([_EVENTS.get(head.happening, str(head.happening)) for head in heads]),
        "time": _array(gathered.times, _TIMESTAMP),
        "manager": spread.words([str(manager)] * len(heads)),
        "manager_name": spread.words([manager_name] * len(heads)),
        "queue": spread.words([head.queue for head in heads]),
        "queue_kind": spread.words([head.kind for head in heads]),
        "message": _or_null(messages),
        "message_id": _identifiers(spread, messages, manager),
        "lookup_id": _or_null(gathered.numbers("lookup_ids")),
        "size": spread.numbers("sizes", Shape.SUBJECT),
        "priority": pc.bit_wise_and(priorities, pa.scalar(EXPRESS - 1, pa.uint8())).cast(pa.int32()),
        "durable": pc.less(priorities, pa.scalar(EXPRESS, pa.uint8())),
        "sent": pc.multiply(_or_null(seconds), _SECOND).cast(_TIMESTAMP),
        "deadline": spread.numbers("deadlines", Shape.TIMED).cast(_TIMESTAMP),
        "stream": spread.words([_stream(head) for head in heads]),
        "stream_number": spread.numbers("numbers", Shape.NUMBERED),
        "previous_number": spread.numbers("previous", Shape.NUMBERED),
        "transaction": spread.words([str(head.transaction or "") for head in heads]),
        "correlation": spread.some([f"{each}\\{number}" for each, number in gathered.correlations]),
        "reason": spread.words([_reason(head) for head in heads]),
        "other_queue": spread.words([head.other for head in heads]),
        "protocol": spread.words([head.by for head in heads]),
        "peer": spread.words([head.peer for head in heads]),
        "batch": spread.words([head.batch for head in heads]),
        "attempt": spread.numbers("attempts", Shape.TRIED).cast(pa.int32()),
    }
    return pa.table(columns, schema=PACKED)


class _Spread:
    """What is known of heads, or of events of one shape, at the place of each event."""

    def __init__(self, gathered: _Gathered, heads: Sequence[Head]) -> None:
        self._gathered = gathered
        self.heads = heads
        self._places = _array(gathered.places, pa.uint32())
        self.count = len(self._places)

    def has(self, shape: int) -> pa.Array:
        """Which events have this shape."""
        return pa.array([bool(head.shape & shape) for head in self.heads], pa.bool_()).take(self._places)

    def words(self, values: Sequence[str]) -> pa.Array:
        """One word a head; an empty one is none."""
        known = {word: place for place, word in enumerate(dict.fromkeys(filter(None, values)))}
        if not known:
            return pa.nulls(self.count, _WORDS)
        if len(known) == 1 and all(values):  # most columns, also where each event has a head of its own
            codes = pa.repeat(pa.scalar(0, pa.int32()), self.count)
        else:
            codes = pa.array(list(map(known.get, values)), pa.int32()).take(self._places)
        return pa.DictionaryArray.from_arrays(codes, pa.array(list(known), pa.string()))

    def numbers(self, name: str, shape: Shape) -> pa.Array:
        """Numbers that only events of this shape have."""
        return self._set(self._gathered.numbers(name), shape)

    def some(self, correlations: list[str]) -> pa.Array:
        """The messages that others name."""
        return self._set(pa.array(correlations, pa.string()), Shape.CORRELATED)

    def _set(self, values: pa.Array, shape: Shape) -> pa.Array:
        if len(values) == self.count:
            return values
        empty = pa.nulls(self.count, values.type)
        return pc.replace_with_mask(empty, self.has(shape), values) if len(values) else empty


def _counted(count: int) -> pa.Array:
    """1, 2, 3 and so on."""
    return pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), count))


def _array(numbers: array[int], kind: pa.DataType) -> pa.Array:
    """The numbers as they lie."""
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])


def _or_null(numbers: pa.Array) -> pa.Array:
    """0 stands for none."""
    return pc.if_else(pc.equal(numbers, 0), pa.scalar(None, numbers.type), numbers)


def _identifiers(spread: _Spread, messages: pa.Array, manager: UUID) -> pa.Array:
    """GUID and number: as it is named, else the manager's own and the number of the message here."""
    known = spread.has(Shape.SUBJECT | Shape.NAMED)
    lineages = spread.words([str(head.lineage or manager) for head in spread.heads]).filter(known)
    own = pc.bit_wise_and(messages, _UNIQUE)
    numbers = pc.coalesce(spread.numbers("uniquifiers", Shape.NAMED), own).filter(known)
    words = pc.binary_join_element_wise(lineages.cast(pa.string()), numbers.cast(pa.string()), "\\")
    if len(words) == spread.count:
        return words
    return pc.replace_with_mask(pa.nulls(spread.count, pa.string()), known, words)


def _reason(head: Head) -> str:
    return _REASONS.get(head.reason, str(head.reason)) if head.reason else ""


def _stream(head: Head) -> str:
    return f"{head.ordinal}.{head.timestamp}" if head.ordinal or head.timestamp else ""


def read_rows(disk: Disk, first: bytes, limit: int) -> list[Numbered]:
    """Up to so many rows from this key on."""
    found = HISTORY.decode_all(disk.range(HISTORY.name, first, PAST_THE_END, limit=limit))
    return [(int.from_bytes(key), row) for key, row in found]


def rows_of(disk: Disk) -> pa.Table:
    """All events that are in a store and in no file yet; for tests, the simulator and small stores."""
    value = disk.get(MANAGER.name, ONLY)
    record = None if value is None else MANAGER.decode(ONLY, value)
    manager, name = (NO_GUID, "") if record is None else (record.identifier, record.computer_name)
    return table_of(read_rows(disk, b"", limit=2**31 - 1), manager, name).cast(SCHEMA)
