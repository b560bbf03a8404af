"""Counters against rows: whether the rows of each queue add up to what its counters say.

Opening a store believes the counters, so that it takes as long as there are queues; `store verify` counts.

    counters of a queue      the rows that they count
    count                    positions, without those that prepared transactions will send
    delayed                  positions that nobody sees yet
    size                     the bytes of both
    retained, retained_size  positions that left, and that a consumer has yet to read
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Final, NamedTuple

from reliquary.base.rows import CHUNK, Record, Rows, Table, every
from reliquary.queueing.model.tables import (
    COUNTERS,
    DELAYED,
    PAST_THE_END,
    POSITIONS,
    QUEUES,
    RETAINED,
    TABLES,
    TRANSACTIONS,
    Counters,
    position_key,
    queue_key,
)

TABLES_THAT_COUNT: Final = frozenset(TABLES)
"""A store with these tables belongs to a queue manager."""


class CounterFault(NamedTuple):
    """The counters of one queue do not fit its rows."""

    queue: int
    why: str


@dataclass(slots=True)
class Sums:
    """What the rows of a queue add up to, by the names of `Counters`."""

    count: int = 0
    delayed: int = 0
    size: int = 0
    retained: int = 0
    retained_size: int = 0


def counter_faults(rows: Rows) -> Iterator[CounterFault]:
    """Count the rows of all queues, and name each queue whose counters say something else."""
    found = _counted(rows)
    counters = {_number(key): record for key, record in _pages(rows, COUNTERS)}
    names = {_number(key): record.pathname for key, record in _pages(rows, QUEUES)}
    for queue in sorted({*found, *counters, *names}):
        rows_say, told = found.get(queue, Sums()), _told(counters.get(queue, Counters()))
        wrong = [
            f"{field} is {said}, and the rows make {counted}"
            for field, said, counted in zip(Sums.__slots__, astuple(told), astuple(rows_say), strict=True)
            if said != counted
        ]
        if wrong:
            name = names.get(queue)
            whose = f"the queue {name}" if name is not None else f"queue {queue}, which has no row of its own"
            yield CounterFault(queue, f"{whose}: {'; '.join(wrong)}")


def _told(counters: Counters) -> Sums:
    return Sums(counters.count, counters.delayed, counters.size, counters.retained, counters.retained_size)


def _counted(rows: Rows) -> dict[int, Sums]:
    found: dict[int, Sums] = {}
    prepared = {
        position_key(operation.queue, operation.position.lookup_id)
        for _, transaction in every(rows, TRANSACTIONS)
        for operation in transaction.operations
        if operation.kind == "enqueue"
    }
    for key, position in _pages(rows, POSITIONS):
        if key not in prepared:
            sums = found.setdefault(_number(key), Sums())
            sums.count += 1
            sums.size += position.size
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
    """The number of the queue, with which all these keys begin."""
    return int.from_bytes(key[:_QUEUE_BYTES])


def _pages(rows: Rows, table: Table[Record]) -> Iterator[tuple[bytes, Record]]:
    """All rows of a table that may be large, some at a time."""
    first = b""
    while chunk := rows.range(table, first, PAST_THE_END, limit=CHUNK):
        yield from chunk
        first = chunk[-1][0] + b"\0"
