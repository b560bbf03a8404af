"""Reads the current messages of queues in a batch, without removing them.

The driver cuts the feeds of the queues into ranges, and a task of an executor reads one of them.  The
decisions are in `options`, `schema`, `push` and `rows`; this module connects Spark's calls with the
server's.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from reliquary.client.feed import NO_BOUNDS, Bounds, Feed, Plan
from reliquary.spark import errors, push
from reliquary.spark.access import Gone
from reliquary.spark.connection import connected
from reliquary.spark.errors import explaining
from reliquary.spark.looking import look
from reliquary.spark.managers import Connect, Managers
from reliquary.spark.offsets import QueueKey
from reliquary.spark.options import Push, Reading
from reliquary.spark.plan import cuts
from reliquary.spark.positions import LATEST, Moment, Position
from reliquary.spark.rows import TRIES, fetched, read_range
from reliquary.spark.schema import added, of_the_server

PUSHING_WORKER: Final = "pyspark.sql.worker.data_source_pushdown_filters"
"""The program in which Spark plans a read whose filters it wants to push."""


@dataclass(frozen=True)
class Range(InputPartition):
    """The range that one task reads: after < place <= until."""

    manager: str
    queue: str
    incarnation: str
    after: int
    until: int
    bounds: Bounds = NO_BOUNDS


def read_part(
    options: Reading, names: tuple[str, ...], part: InputPartition, connect: Connect
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a range, in a process of an executor.

    The rows of a batch are fixed, so a manager that goes away now is waited for unless the option is `fail`.
    """
    if not isinstance(part, Range):  # Spark's own value for "no partitions"
        return
    access = next(each for each in options.managers if each.name == part.manager)
    columns = of_the_server(names)
    tries = TRIES if options.gone is Gone.FAIL else None
    queue = errors.called(options.names, part.manager, part.queue)
    with explaining(f"reading the queue {queue!r}"), connect(access) as client:

        def read(after: int) -> Iterator[pa.RecordBatch]:
            return client.read(
                part.queue,
                after,
                part.until,
                columns=fetched(columns),
                consumer=options.consumer,
                incarnation=part.incarnation,
                bounds=part.bounds,
            )

        for batch in read_range(part.after, columns, read, tries):
            yield added(batch, names, part.manager)


class Reader(DataSourceReader):
    """The reader of `spark.read`, for the current messages of the queues."""

    def __init__(
        self,
        options: Reading,
        names: tuple[str, ...],
        connect: Connect = connected,
        wait: Callable[[float], None] = time.sleep,  # noqa: TID251 - no event shows that a server comes back
    ) -> None:
        self._options = options
        self._names = names
        self._connect = connect
        self._wait = wait
        self._bounds = Bounds()

    def partitions(self) -> list[InputPartition]:
        """Return the ranges of all queues, in the order of managers, names and arrival."""
        options = self._options
        if push.is_empty(self._bounds):
            return []
        managers = Managers(options.managers, options.gone, self._connect, self._wait, time.monotonic)
        with explaining("planning the read"), closing(managers):
            found = look(managers, managers.names, options.queues, "")
            if found.missing:
                raise errors.queue_missing(managers.called(*found.missing[0]))
            there = found.by_manager(managers.names)
            options.start.check(there, "startingOffset")
            options.end.check(there, "endingOffset")
            edges = {key: self._edges(key, feed) for key, feed in found.feeds.items()}
            return self._ranges(managers, found.feeds, edges)

    def _edges(self, key: QueueKey, feed: Feed) -> tuple[int, int, Bounds]:
        """Return where the read of one queue begins and ends, and the bounds of its rows."""
        bounds = self._bounds
        start, end = self._options.start.of(key), self._options.end.of(key)
        if isinstance(start, Moment):
            bounds = push.between_times(bounds, start.microseconds, None)
        if isinstance(end, Moment):
            bounds = push.between_times(bounds, None, end.microseconds - 1)
        return _number(start, feed, 0), min(_number(end, feed, feed.mark), feed.mark), bounds

    def _ranges(
        self,
        managers: Managers,
        feeds: dict[QueueKey, Feed],
        edges: dict[QueueKey, tuple[int, int, Bounds]],
    ) -> list[InputPartition]:
        """Return the ranges of all queues, with more parts if there are fewer than `minPartitions`."""
        options = self._options
        wanted = {
            key: edge for key, edge in edges.items() if edge[0] < edge[1] and not push.is_empty(edge[2])
        }

        def plan(key: QueueKey, parts: int) -> Plan | None:
            after, until, bounds = wanted[key]
            return managers.ask(
                key.manager,
                lambda client: client.plan(
                    key.queue, after, until, parts=parts, incarnation=feeds[key].incarnation, bounds=bounds
                ),
                key.queue,
            )

        def first_plan(key: QueueKey) -> Plan | None:
            return plan(key, options.partitions)

        def finer_plan(key: QueueKey) -> Plan:
            parts = numbers[key]
            return (plan(key, parts) if parts > len(plans[key].parts) else None) or plans[key]

        planned = managers.by_queue(wanted, first_plan)
        plans = {key: each for key, each in planned.items() if each is not None and each.rows}
        parts = cuts([each.rows for each in plans.values()], options.partitions, options.min_partitions)
        numbers = dict(zip(plans, parts, strict=True))
        return [
            Range(*key, feeds[key].incarnation, part.after, part.until, wanted[key][2])
            for key, each in managers.by_queue(plans, finer_plan).items()
            for part in each.parts
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a range."""
        return read_part(self._options, self._names, partition, self._connect)


def _number(position: Position, feed: Feed, default: int) -> int:
    """Return the number of a position that is not a time; times are bounds of a batch read."""
    if isinstance(position, int):
        return position
    return feed.mark if position == LATEST else default


class PushingReader(Reader):
    """A batch reader with filters that the server applies."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Take the filters that the server can apply; Spark applies the others."""
        self._bounds, left = push.push(filters, self._bounds)
        return left


def batch_reader(options: Reading, names: tuple[str, ...]) -> Reader:
    """Return a reader, with pushed filters if that is wanted and possible.

    Spark refuses a reader that can push while the session's setting is off.  The setting is not shown, but
    with it on Spark plans in a program of its own.
    """
    wanted = options.push is Push.YES or (options.push is Push.AUTO and _in_pushing_worker())
    return (PushingReader if wanted else Reader)(options, names)


def _in_pushing_worker() -> bool:
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return PUSHING_WORKER in sys.modules or getattr(main, "name", "") == PUSHING_WORKER
