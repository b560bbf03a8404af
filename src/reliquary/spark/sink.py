"""Writes rows of Spark into queues, every batch once and as a whole.

    executors       write    stages its part under an attempt of its own; not visible yet
    driver          commit   publishes all parts in the order of their partitions, in one write of the server,
                             which knows the last batch of each query: a second time nothing happens
    driver          abort    takes back what was staged, never what was published

With several managers each row goes to one of them (`spread`), and the commit publishes on all of them at
once: Spark takes the batch for done when all have it.  If the driver falls in between, the batch is run
again, and the managers that have it change nothing.

Spark may call commit again for a batch that is there, and abort after a commit that worked and whose answer
was lost; both are harmless.  A stream is known by the id of its query, which is in the checkpoint together
with the numbers of the batches; a batch write by its `runId`, or by a name drawn when it is planned.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar
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
from reliquary.client.feed import FeedClient, Staged, StageKey
from reliquary.client.feed import Writer as WriterInfo
from reliquary.spark.access import Access, Gone
from reliquary.spark.connection import connected
from reliquary.spark.errors import BadOption, BadRow, QueueMissing, SparkFault, explaining, placed
from reliquary.spark.lanes import StageRows, stage_all
from reliquary.spark.managers import PAUSE, SILENT, Connect
from reliquary.spark.options import Writing
from reliquary.spark.rows import shaped
from reliquary.spark.schema import arrow_schema
from reliquary.spark.spread import Spread, spread_of
from reliquary.spark.together import Together

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class Part(WriterCommitMessage):
    """The result of one task: the parts that it staged."""

    query: str
    batch: int
    rows: int
    stages: tuple[tuple[str, int], ...] = ()
    """The names of managers, and the stage on each; none for a part without rows."""
    bad: int = 0
    fault: SparkFault | None = None
    """The reason why the batch cannot be published: a row violates a rule, or a queue does not exist."""


def stage_part(
    options: Writing,
    names: tuple[str, ...],
    batches: Iterator[pa.RecordBatch],
    place: StageKey,
    connect: Connect,
) -> Part:
    """Send the rows of a task to the managers, where they are not visible yet.

    A row that breaks a rule and a queue that does not exist are noted in the part, and the commit raises the
    error: raised in the task, it would only let Spark try the task again.
    """
    schema = arrow_schema(names)

    def stage(manager: str, rows: Iterator[pa.RecordBatch]) -> Staged:
        with placed(options.names, manager, options.queue), connect(_access(options, manager)) as client:
            _wait_for(client, options, place.query)
            return client.stage(options.queue, place, rows, schema, bad=options.bad)

    try:
        with explaining(f"writing part {place.part}"):
            staged = _stage_rows(options, shaped(batches, schema, options.key), stage)
    except (BadRow, QueueMissing) as fault:
        return Part(place.query, place.batch, 0, fault=fault)
    bad_rows = sum(each.bad for each in staged.values())
    if bad_rows:
        log.warning("part %d: %d rows broke a rule and go to %s", place.part, bad_rows, options.bad)
    return Part(
        place.query,
        place.batch,
        sum(each.rows for each in staged.values()),
        tuple((manager, each.stage) for manager, each in staged.items()),
        bad_rows,
    )


def _stage_rows(
    options: Writing, rows: Iterator[tuple[pa.RecordBatch, pa.Array | None]], stage: StageRows
) -> dict[str, Staged]:
    """Stage rows on each manager that gets some; a single manager needs no thread."""
    first = next(rows, None)
    if first is None:
        return {}
    everything = chain((first,), rows)
    try:
        if len(options.managers) == 1:
            name = options.managers[0].name
            return {name: stage(name, (batch for batch, _ in everything))}
        spread = Spread(options.names)
        return stage_all((piece for batch, keys in everything for piece in spread.split(keys, batch)), stage)
    except BadRequest as error:
        raise BadRow(
            f"{error.sentence}; nothing of the batch was published: correct the rows, or let a queue "
            "take these rows with badRows=dead:QUEUE"
        ) from error


def _access(options: Writing, manager: str) -> Access:
    return next(each for each in options.managers if each.name == manager)


def _wait_for(client: FeedClient, options: Writing, query: str) -> None:
    """Wait until the manager answers, if the option requires it: rows can be sent only once."""
    if options.gone is Gone.WAIT:
        _until_it_answers(lambda: client.writer(query))


def _until_it_answers(work: Callable[[], T], together: Together | None = None) -> T:
    """Return the answer of a manager, when it comes; the error of another manager ends the wait."""
    waits = False
    while True:
        try:
            return work()
        except SILENT as silence:
            if together is not None and together.broken:
                raise
            if not waits:
                log.warning("the sink waits for a manager: %s", silence)
            waits = True
        time.sleep(PAUSE)  # noqa: TID251 - no event shows that a server comes back


def publish(
    options: Writing, query: str, batch: int, parts: Sequence[WriterCommitMessage | None], connect: Connect
) -> None:
    """Put all parts into their queues, in their order, once on each manager.

    A manager that has the batch already changes nothing, so this may be called again until all have it.
    """
    for part in parts:
        if isinstance(part, Part) and part.fault:
            raise part.fault
    spread = spread_of(options.names, options.key)
    with explaining(f"publishing batch {batch}"), ExitStack() as stack:
        clients = {access.name: stack.enter_context(connect(access)) for access in options.managers}

        def send(manager: str) -> None:
            published = clients[manager].publish(
                query,
                batch,
                _stages(parts, manager),
                writer=options.writer,
                take_over=options.take_over,
                spread=spread,
            )
            if published.already:
                log.warning(
                    "batch %d of %s was published on %s before; nothing was written again",
                    batch,
                    query,
                    manager,
                )

        def check(manager: str) -> None:
            _check_spread(manager, clients[manager].writer(query), batch, spread)

        if spread:  # before the first one publishes: one may have the batch, spread in another way
            _on_all(options, check)
        _on_all(options, send)


def _on_all(options: Writing, work: Callable[[str], None]) -> None:
    """Do work that may be done again with all managers at once."""
    together = Together()

    def ask(manager: str) -> None:
        with placed(options.names, manager, options.queue):
            if options.gone is Gone.WAIT:
                _until_it_answers(lambda: work(manager), together)
            else:
                work(manager)

    together.ask(options.names, str, ask)


def _check_spread(manager: str, known: WriterInfo | None, batch: int, spread: str) -> None:
    """Refuse a batch that a manager has already, if its rows were spread in another way then."""
    if known is not None and known.batch == batch and known.spread != spread:
        raise BadOption(
            f"batch {batch} was published on {manager} when its rows were spread over other managers, or "
            "by another column: start the query once with url and partitionBy as they were, until the "
            "batch has ended"
        )


def take_back(options: Writing, parts: Sequence[WriterCommitMessage | None], connect: Connect) -> None:
    """Drop staged parts; the servers remove them later if this fails."""
    for access in options.managers:
        stages = _stages(parts, access.name)
        if not stages:
            continue
        try:
            with connect(access) as client:
                client.unstage(stages)
        except ReliquaryError as error:
            log.warning("%d staged parts are left to the sweeper of %s: %s", len(stages), access.name, error)


def _stages(parts: Sequence[WriterCommitMessage | None], manager: str) -> list[int]:
    return [
        stage for part in parts if isinstance(part, Part) for name, stage in part.stages if name == manager
    ]


def new_name() -> str:
    """Return sixteen random letters; a process of Spark has no seed to repeat."""
    return os.urandom(8).hex()


def query_of_checkpoint(location: str) -> str | None:
    """Return the id of a query from the file where Spark keeps it; None if it cannot be read here."""
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
    """The writer of `df.writeStream`: each batch is published once."""

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
                "Spark names neither the query nor the batch of this task: write with writeStream"
            )
        attempt = f"{context.attemptNumber()}-{new_name()}"
        place = StageKey(query, int(batch), context.partitionId(), attempt)
        return stage_part(self._options, self._names, iterator, place, self._connect)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Publish a batch; a second call changes nothing."""
        query = next((part.query for part in messages if isinstance(part, Part)), None)
        query = query or query_of_checkpoint(self._options.checkpoint)
        if query is None:
            if any(isinstance(part, Part) and part.stages for part in messages):
                raise SparkFault(f"batch {batchId} does not say which query it is of")
            return  # without a task there are no rows: nothing is to be published, now or in a repetition
        publish(self._options, query, batchId, messages, self._connect)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        """Drop staged parts; a published batch stays."""
        del batchId
        take_back(self._options, messages, self._connect)


class Writer(DataSourceArrowWriter):
    """The writer of `df.write`: one batch, identified by `runId` or by a random name."""

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
        place = StageKey(self._query, 0, context.partitionId(), attempt)
        return stage_part(self._options, self._names, iterator, place, self._connect)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Publish the staged parts of all tasks."""
        publish(self._options, self._query, 0, messages, self._connect)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Drop staged parts."""
        take_back(self._options, messages, self._connect)
