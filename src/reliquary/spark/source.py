"""The source of a batch read: what lies in queues now, without taking anything away.

The driver cuts the feeds of the queues into ranges, and a task of an executor reads one of them.  What is
decided lies in `options`, `schema`, `push` and `rows`; here Spark's calls meet the server's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from reliquary.client.feed import NO_BOUNDS, Bounds, FeedClient
from reliquary.spark import push
from reliquary.spark.connection import connected
from reliquary.spark.errors import explaining
from reliquary.spark.options import Access, Push, Reading
from reliquary.spark.rows import fetched, read_range

PUSHING_WORKER: Final = "pyspark.sql.worker.data_source_pushdown_filters"
"""The program in which Spark plans a read whose filters it wants to push."""

Connect = Callable[[Access], FeedClient]


@dataclass(frozen=True)
class Range(InputPartition):
    """What one task reads: after < place <= until."""

    queue: str
    incarnation: str
    after: int
    until: int
    bounds: Bounds = NO_BOUNDS


def read_part(
    options: Reading, names: tuple[str, ...], part: InputPartition, connect: Connect
) -> Iterator[pa.RecordBatch]:
    """The rows of a range, in a process of an executor."""
    if not isinstance(part, Range):  # Spark's own word for "no partitions"
        return
    with explaining(f"reading the queue {part.queue!r}"), connect(options.access) as client:

        def read(after: int) -> Iterator[pa.RecordBatch]:
            return client.read(
                part.queue,
                after,
                part.until,
                columns=fetched(names),
                consumer=options.consumer,
                incarnation=part.incarnation,
                bounds=part.bounds,
            )

        yield from read_range(part.after, names, read)


class Reader(DataSourceReader):
    """`spark.read`: what lies in the queues now."""

    def __init__(self, options: Reading, names: tuple[str, ...], connect: Connect = connected) -> None:
        self._options = options
        self._names = names
        self._connect = connect
        self._bounds = Bounds()

    def partitions(self) -> list[InputPartition]:
        """Ranges of all queues, in the order of their names and of arrival."""
        options = self._options
        if push.is_empty(self._bounds):
            return []
        ranges: list[InputPartition] = []
        with explaining("planning the read"), self._connect(options.access) as client:
            for feed in client.feeds(options.queues):
                plan = client.plan(
                    feed.queue,
                    0,
                    feed.mark,
                    parts=options.partitions,
                    incarnation=feed.incarnation,
                    bounds=self._bounds,
                )
                ranges += (
                    Range(feed.queue, feed.incarnation, part.after, part.until, self._bounds)
                    for part in plan.parts
                )
        return ranges

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a range."""
        return read_part(self._options, self._names, partition, self._connect)


class PushingReader(Reader):
    """The same, with filters that the server applies."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Take what the server can do; the rest stays with Spark."""
        self._bounds, left = push.push(filters, self._bounds)
        return left


def batch_reader(options: Reading, names: tuple[str, ...]) -> Reader:
    """A reader that pushes filters, if that is wanted and possible.

    Spark refuses a reader that can push while the session's setting is off.  Nobody tells the setting, but
    with it on Spark plans in a program of its own.
    """
    wanted = options.push is Push.YES or (options.push is Push.AUTO and _in_pushing_worker())
    return (PushingReader if wanted else Reader)(options, names)


def _in_pushing_worker() -> bool:
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return PUSHING_WORKER in sys.modules or getattr(main, "name", "") == PUSHING_WORKER
