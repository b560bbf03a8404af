"""Checks that the counters of each queue agree with its rows, for `store verify`.

To open a store, the counters are trusted, so that the time depends on the number of queues and not of
rows.

    counters of a queue      the rows that they count
    count                    positions, without those that prepared transactions will send
    delayed                  positions that readers do not see yet
    size                     the bytes of both
    retained, retained_size  removed positions that a consumer has not read
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Final, NamedTuple

from reliquary.base.rows import CHUNK, Record, Rows, Table, every
from reliquary.queueing.model.tables import (
    COUNTERS,
    DELAYED,
    ONLY,
    PAST_THE_END,
    POSITIONS_ALONE,
    PUBLISHING,
    QUEUES,
    RETAINED,
    SEQUENCE_MASK,
    TABLES,
    TRANSACTIONS,
    Counters,
    position_key,
    queue_key,
)

TABLES_THAT_COUNT: Final = frozenset(TABLES)
"""The tables that a store of a queue manager has."""


class CounterFault(NamedTuple):
    """A queue whose counters do not agree with its rows."""

    queue: int
    why: str


@dataclass(slots=True)
class Sums:
    """The sums of a queue's rows, with the field names of `Counters`."""

    count: int = 0
    delayed: int = 0
    size: int = 0
    retained: int = 0
    retained_size: int = 0


def counter_faults(rows: Rows) -> Iterator[CounterFault]:
    """Count the rows of all queues, and yield a fault for each queue whose counters differ."""
    found = _counted(rows)
    counters = {_number(key): record for key, record in _pages(rows, COUNTERS)}
    names = {_number(key): record.pathname for key, record in _pages(rows, QUEUES)}
    for queue in sorted({*found, *counters, *names}):
        rows_say, stored = found.get(queue, Sums()), _stored(counters.get(queue, Counters()))
        wrong = [
            f"{field} is {said}, and the rows make {counted}"
            for field, said, counted in zip(Sums.__slots__, astuple(stored), astuple(rows_say), strict=True)
            if said != counted
        ]
        if wrong:
            name = names.get(queue)
            whose = f"the queue {name}" if name is not None else f"queue {queue}, which has no row of its own"
            yield CounterFault(queue, f"{whose}: {'; '.join(wrong)}")


def _stored(counters: Counters) -> Sums:
    return Sums(counters.count, counters.delayed, counters.size, counters.retained, counters.retained_size)


def _counted(rows: Rows) -> dict[int, Sums]:
    found: dict[int, Sums] = {}
    prepared = {
        position_key(operation.queue, operation.position.lookup_id)
        for _, transaction in every(rows, TRANSACTIONS)
        for operation in transaction.operations
        if operation.kind == "enqueue"
    }
    publishing = rows.get(PUBLISHING, ONLY)
    hidden = range(publishing.first, publishing.first + publishing.messages) if publishing else range(0)
    for key, place in _pages(rows, POSITIONS_ALONE):
        if key not in prepared and place.position.lookup_id & SEQUENCE_MASK not in hidden:
            sums = found.setdefault(_number(key), Sums())
            sums.count += 1
            sums.size += place.position.size
    for key, position in _pages(rows, DELAYED):
        sums = found.setdefault(_number(key), Sums())
        sums.delayed += 1
        sums.size += position.size
    for key, position in _pages(rows, RETAINED):
        sums = found.setdefault(_number(key), Sums())
        sums.retained += 1
        sums.retained_size += position.size
    return found


_QUEUE_BYTES: Final = len(queue_key(0))


def _number(key: bytes) -> int:
    """Return the number of the queue, with which all these keys begin."""
    return int.from_bytes(key[:_QUEUE_BYTES])


def _pages(rows: Rows, table: Table[Record]) -> Iterator[tuple[bytes, Record]]:
    """Yield all rows of a table that may be large, reading some at a time."""
    first = b""
    while chunk := rows.range(table, first, PAST_THE_END, limit=CHUNK):
        yield from chunk
        first = chunk[-1][0] + b"\0"
