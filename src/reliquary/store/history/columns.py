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
from typing import Any, Final
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from reliquary.queueing.history.records import EXPRESS, Head, HistoryRow, Shape
from reliquary.queueing.message import NO_GUID, MessageClass
from reliquary.queueing.tables import HISTORY, MANAGER, ONLY, PAST_THE_END
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
        self.places = array("i")
        self.ids = array("q")
        self.times = array("q")
        self.correlations: list[tuple[UUID, int]] = []
        self._parts: dict[str, list[bytes]] = {name: [] for name in _NUMBERS}
        for first, row in rows:
            known = [self.heads.setdefault(head, len(self.heads)) for head in row.heads]
            places = array("I", row.places)
            self.places.extend([known[place] for place in places] if len(known) > 1 else known * len(places))
            self.ids.extend(range(first, first + row.count))
            self._take_times(row)
            self.correlations += row.correlations
            for name, part in self._parts.items():
                part.append(getattr(row, name))

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
    """All events of these rows, in their order."""
    gathered = _Gathered(rows)
    heads = list(gathered.heads)
    places = pa.array(gathered.places, pa.int32())
    count = len(places)
    shapes = [head.shape for head in heads]

    def told(values: Sequence[Any], kind: pa.DataType | None = None) -> pa.Array:
        return pa.array(values, kind or pa.string()).take(places)

    def has(shape: int) -> pa.Array:
        return told([bool(each & shape) for each in shapes], pa.bool_())

    def spread(name: str, where: pa.Array, kind: pa.DataType | None = None) -> pa.Array:
        numbers = gathered.numbers(name)
        numbers = numbers if kind is None else numbers.cast(kind)
        if len(numbers) == count:
            return numbers
        empty = pa.nulls(count, numbers.type)
        return pc.replace_with_mask(empty, where, numbers) if len(numbers) else empty

    subject, named, numbered = has(Shape.SUBJECT), has(Shape.NAMED), has(Shape.NUMBERED)
    messages = gathered.numbers("messages")
    priorities = spread("priorities", subject)
    seconds = spread("sents", subject, pa.int64())
    columns: dict[str, pa.Array] = {
        "version": pa.repeat(pa.scalar(VERSION, pa.int32()), count),
        "event_id": pa.array(gathered.ids, pa.int64()),
        "event": told([_EVENTS.get(head.happening, str(head.happening)) for head in heads]),
        "time": pa.array(gathered.times, pa.int64()).cast(_TIMESTAMP),
        "manager": pa.repeat(str(manager), count),
        "manager_name": pa.repeat(manager_name, count),
        "queue": told([head.queue or None for head in heads]),
        "queue_kind": told([head.kind or None for head in heads]),
        "message": _or_null(messages),
        "message_id": _identifiers(heads, told, messages, spread("uniquifiers", named), manager),
        "lookup_id": _or_null(gathered.numbers("lookup_ids")),
        "size": spread("sizes", subject),
        "priority": pc.bit_wise_and(priorities, pa.scalar(EXPRESS - 1, pa.uint8())).cast(pa.int32()),
        "durable": pc.less(priorities, pa.scalar(EXPRESS, pa.uint8())),
        "sent": pc.multiply(_or_null(seconds), _SECOND).cast(_TIMESTAMP),
        "deadline": spread("deadlines", has(Shape.TIMED)).cast(_TIMESTAMP),
        "stream": told([_stream(head) for head in heads]),
        "stream_number": spread("numbers", numbered),
        "previous_number": spread("previous", numbered),
        "transaction": told([None if head.transaction is None else str(head.transaction) for head in heads]),
        "correlation": _correlations(gathered.correlations, has(Shape.CORRELATED), count),
        "reason": told([_reason(head) for head in heads]),
        "other_queue": told([head.other or None for head in heads]),
        "protocol": told([head.by or None for head in heads]),
        "peer": told([head.peer or None for head in heads]),
        "batch": told([head.batch or None for head in heads]),
        "attempt": spread("attempts", has(Shape.TRIED), pa.int32()),
    }  # fmt: skip
    return pa.table(columns, schema=SCHEMA)


def _or_null(numbers: pa.Array) -> pa.Array:
    """0 stands for none."""
    return pc.if_else(pc.equal(numbers, 0), pa.scalar(None, numbers.type), numbers)


def _identifiers(
    heads: Sequence[Head], told: Any, messages: pa.Array, uniquifiers: pa.Array, manager: UUID
) -> pa.Array:
    """GUID and number: as it is named, else the manager's own and the number of the message here."""
    ours = str(manager)
    known = Shape.SUBJECT | Shape.NAMED
    lineages = told(
        [None if not head.shape & known else str(head.lineage) if head.lineage else ours for head in heads]
    )
    own = pc.bit_wise_and(messages, _UNIQUE)
    numbers = pc.coalesce(uniquifiers, own).cast(pa.string())
    return pc.binary_join_element_wise(lineages, numbers, "\\")


def _reason(head: Head) -> str | None:
    return _REASONS.get(head.reason, str(head.reason)) if head.reason else None


def _stream(head: Head) -> str | None:
    return f"{head.ordinal}.{head.timestamp}" if head.ordinal or head.timestamp else None


def _correlations(found: list[tuple[UUID, int]], where: pa.Array, count: int) -> pa.Array:
    if not found:
        return pa.nulls(count, pa.string())
    words = [f"{lineage}\\{uniquifier}" for lineage, uniquifier in found]
    return pc.replace_with_mask(pa.nulls(count, pa.string()), where, pa.array(words, pa.string()))


def read_rows(disk: Disk, first: bytes, limit: int) -> list[Numbered]:
    """Up to so many rows from this key on."""
    found = HISTORY.decode_all(disk.range(HISTORY.name, first, PAST_THE_END, limit=limit))
    return [(int.from_bytes(key), row) for key, row in found]


def rows_of(disk: Disk) -> pa.Table:
    """All events that are in a store and in no file yet; for tests, the simulator and small stores."""
    value = disk.get(MANAGER.name, ONLY)
    record = None if value is None else MANAGER.decode(ONLY, value)
    manager, name = (NO_GUID, "") if record is None else (record.identifier, record.computer_name)
    return table_of(read_rows(disk, b"", limit=2**31 - 1), manager, name)
