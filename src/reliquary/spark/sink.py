"""The sink: rows of Spark into queues, every batch once and as a whole.

    executors       write    stages its part under an attempt of its own; nobody sees it
    driver          commit   publishes all parts in the order of their partitions, in one write of the server,
                             which knows the last batch of each query: a second time nothing happens
    driver          abort    takes back what was staged, never what was published

Spark may call commit again for a batch that is there, and abort after a commit that worked and whose answer
was lost; both are harmless.  A stream is known by the id of its query, which lives in the checkpoint together
with the numbers of the batches; a batch write by its `runId`, or by a name drawn when it is planned.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from reliquary.client.errors import BadRequest, ReliquaryError
from reliquary.client.feed import FeedClient, StagePlace
from reliquary.spark.connection import connected
from reliquary.spark.errors import BadRow, SparkFault, explaining
from reliquary.spark.options import Access, Writing
from reliquary.spark.rows import shaped
from reliquary.spark.schema import arrow_schema

log = logging.getLogger(__name__)
Connect = Callable[[Access], FeedClient]


@dataclass(frozen=True)
class Part(WriterCommitMessage):
    """What one task staged."""

    query: str
    batch: int
    rows: int
    stage: int | None
    """None for a part without rows."""
    bad: int = 0


def stage_part(
    options: Writing,
    names: tuple[str, ...],
    batches: Iterator[pa.RecordBatch],
    place: StagePlace,
    connect: Connect,
) -> Part:
    """Send the rows of a task to the server, where nobody sees them yet."""
    schema = arrow_schema(names)
    rows = shaped(batches, schema)
    first = next(rows, None)
    if first is None:
        return Part(place.query, place.batch, 0, None)

    def all_rows() -> Iterator[pa.RecordBatch]:
        yield first
        yield from rows

    with explaining(f"writing part {place.part}"), connect(options.access) as client:
        try:
            staged = client.stage(options.queue, place, all_rows(), schema, bad=options.bad)
        except BadRequest as error:
            raise BadRow(
                f"{error.sentence}; nothing of the batch was published: correct the rows, or let a queue "
                "take such rows with badRows=dead:QUEUE"
            ) from error
    if staged.bad:
        log.warning("part %d: %d rows broke a rule and go to %s", place.part, staged.bad, options.bad)
    return Part(place.query, place.batch, staged.rows, staged.stage, staged.bad)


def publish(
    options: Writing, query: str, batch: int, parts: Sequence[WriterCommitMessage | None], connect: Connect
) -> None:
    """Put all parts into their queues, in their order, once."""
    with explaining(f"publishing batch {batch}"), connect(options.access) as client:
        published = client.publish(
            query, batch, _stages(parts), writer=options.writer, take_over=options.take_over
        )
    if published.already:
        log.warning("batch %d of %s was published before; nothing was written again", batch, query)


def take_back(options: Writing, parts: Sequence[WriterCommitMessage | None], connect: Connect) -> None:
    """Drop what was staged; the server's sweeper does it later if this fails."""
    stages = _stages(parts)
    if not stages:
        return
    try:
        with connect(options.access) as client:
            client.unstage(stages)
    except ReliquaryError as error:
        log.warning("%d staged parts are left to the server's sweeper: %s", len(stages), error)


def _stages(parts: Sequence[WriterCommitMessage | None]) -> list[int]:
    return [part.stage for part in parts if isinstance(part, Part) and part.stage is not None]


def new_name() -> str:
    """Sixteen letters that nobody has drawn before; there is no seed to repeat in a process of Spark."""
    return os.urandom(8).hex()


def query_of_checkpoint(location: str) -> str | None:
    """The id of a query, from the file in which Spark keeps it; None where that cannot be read from here."""
    parts = urlsplit(location)
    if not location or parts.scheme not in {"", "file"}:
        return None
    folder = Path(unquote(parts.path) if parts.scheme else location)
    try:
        written = msgspec.json.decode((folder / "metadata").read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        return None
    return written.get("id")


class StreamWriter(DataSourceStreamArrowWriter):
    """`df.writeStream`."""

    def __init__(self, options: Writing, names: tuple[str, ...], connect: Connect = connected) -> None:
        self._options = options
        self._names = names
        self._connect = connect

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Part:
        """Stage the rows of a task."""
        context = TaskContext.get()
        assert context is not None, "write runs in a task"
        query = context.getLocalProperty("sql.streaming.queryId")
        batch = context.getLocalProperty("streaming.sql.batchId")
        if query is None or batch is None:
            raise SparkFault(
                "Spark tells neither the query nor the batch of this task: is it a stream at all?"
            )
        attempt = f"{context.attemptNumber()}-{new_name()}"
        place = StagePlace(query, int(batch), context.partitionId(), attempt)
        return stage_part(self._options, self._names, iterator, place, self._connect)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Publish a batch, once."""
        query = next((part.query for part in messages if isinstance(part, Part)), None)
        query = query or query_of_checkpoint(self._options.checkpoint)
        if query is None:
            if _stages(messages):
                raise SparkFault(f"batch {batchId} does not say which query it is of")
            return  # no task, no rows: there is nothing to publish, now or in a second run of the batch
        publish(self._options, query, batchId, messages, self._connect)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Take back what was staged; a batch that was published stays."""
        del batchId
        take_back(self._options, messages, self._connect)


class Writer(DataSourceArrowWriter):
    """`df.write`: one batch, known by `runId` or by a name of its own."""

    def __init__(self, options: Writing, names: tuple[str, ...], connect: Connect = connected) -> None:
        self._options = options
        self._names = names
        self._connect = connect
        self._query = f"run.{options.run}" if options.run else f"write.{new_name()}"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Part:
        """Stage the rows of a task."""
        context = TaskContext.get()
        assert context is not None, "write runs in a task"
        attempt = f"{context.attemptNumber()}-{new_name()}"
        place = StagePlace(self._query, 0, context.partitionId(), attempt)
        return stage_part(self._options, self._names, iterator, place, self._connect)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Publish it."""
        publish(self._options, self._query, 0, messages, self._connect)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Take back what was staged."""
        take_back(self._options, messages, self._connect)
