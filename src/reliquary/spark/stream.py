"""The source of a stream: everything that arrives in queues, once, without taking anything away.

What is decided lies in `options`, `schema`, `plan` and `rows`; here Spark's calls meet the server's.

    driver, one process a query          executors, a process a task
    initialOffset   opens the consumers  read   a range, as record batches
    latestOffset    how far a batch goes
    partitions      cuts it into ranges
    commit          moves the consumers
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from reliquary.client.errors import QueueNotFound, ReliquaryError
from reliquary.client.feed import Feed, Part, Plan
from reliquary.spark import errors
from reliquary.spark.connection import connected
from reliquary.spark.errors import BadOption, SparkFault, explaining
from reliquary.spark.options import Reading
from reliquary.spark.plan import (
    Finding,
    Limit,
    Offset,
    Place,
    Span,
    Trouble,
    allot,
    from_json,
    still_wanted,
    survey,
    to_json,
)
from reliquary.spark.source import Connect, Range, read_part

BEHIND_LIMIT: Final = 10_000
"""Up to so many messages are counted that the query is behind."""

IDLE: Final = 0.2
"""Seconds between two looks at queues in which nothing arrives: Spark itself would look a hundred times."""

log = logging.getLogger(__name__)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """`spark.readStream`: everything that arrives, once, behind a consumer that pins what is not read yet."""

    def __init__(
        self,
        options: Reading,
        names: tuple[str, ...],
        connect: Connect = connected,
        wait: Callable[[float], None] = time.sleep,  # noqa: TID251 - nobody tells when something arrives
    ) -> None:
        self._options = options
        self._names = names
        self._connect = connect
        self._wait = wait
        self._idle = False
        self._client = connect(options.access)
        self._initial: dict[str, Place] | None = None
        self._target: dict[str, Place] | None = None
        self._planned: dict[str, tuple[Span, tuple[Part, ...]]] = {}
        self._marks: dict[str, Place] = {}
        self._end: dict[str, Place] = {}
        self._committed: dict[str, Place] = {}
        self._holes: dict[str, list[str]] = {}
        self._turn = 0

    # -- where to begin, and how far to go

    def initialOffset(self) -> dict[str, Any]:
        """Open the consumers; asked twice by Spark, and answered the same."""
        if self._initial is None:
            start = self._options.start
            with explaining("starting the stream"):
                feeds, missing = self._feeds(self._options.queues)
                if missing:
                    raise errors.queue_missing(missing[0])
                if isinstance(start, dict):
                    _check_start(start, feeds)
                self._initial = {feed.queue: self._first(feed) for feed in feeds}
        return to_json(self._initial)

    def _first(self, feed: Feed) -> Place:
        start = self._options.start
        at: int | str = start.get(feed.queue, "earliest") if isinstance(start, dict) else start
        opened = self._client.open_consumer(feed.queue, self._options.consumer, at)  # type: ignore[arg-type]
        cursor = opened.cursor or 0
        if at == "latest":
            return Place(opened.incarnation, max(cursor, feed.mark))
        return Place(opened.incarnation, at if isinstance(at, int) else cursor)

    def prepareForTriggerAvailableNow(self) -> None:
        """What is there now is all that the query reads in this run."""
        with explaining("asking how far the queues go"):
            feeds, _ = self._feeds(self._options.queues)
        self._target = {feed.queue: Place(feed.incarnation, feed.mark) for feed in feeds}

    def getDefaultReadLimit(self) -> ReadLimit:
        """The limit of the options; Spark knows one, and `latestOffset` holds to both."""
        if self._options.max_rows is not None:
            return ReadMaxRows(self._options.max_rows)
        if self._options.max_bytes is not None:
            return ReadMaxBytes(self._options.max_bytes)
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """How far the next batch goes; the same as the start when there is nothing."""
        places = from_json(start)
        if self._idle and self._target is None:
            self._wait(IDLE)
        with explaining("planning a batch"):
            spans = self._spans(places)
            plans = self._plans(spans, self._limit(limit))
        end = dict(places)
        self._planned = {}
        for span, plan in zip(spans, plans, strict=True):
            if plan is not None and plan.rows:
                end[span.queue] = Place(span.incarnation, plan.until)
                self._planned[span.queue] = (span, plan.parts)
            elif places.get(span.queue) != Place(span.incarnation, span.after):
                end[span.queue] = Place(span.incarnation, span.after)  # it begins there, and is empty
                self._planned[span.queue] = (span, ())
        self._end = end
        self._idle = end == places
        return to_json(end)

    def _limit(self, limit: ReadLimit) -> Limit:
        if isinstance(limit, ReadAllAvailable):
            return Limit()
        rows = [self._options.max_rows, getattr(limit, "max_rows", None)]
        sizes = [self._options.max_bytes, getattr(limit, "max_bytes", None)]
        return Limit(
            min((each for each in rows if each is not None), default=None),
            min((each for each in sizes if each is not None), default=None),
        )

    def _spans(self, places: Offset) -> list[Span]:
        """What can be read of each queue; troubles stop the query, or are told and passed over."""
        feeds, missing = self._feeds(self._options.queues)
        if missing and self._options.fail_on_loss:
            raise errors.queue_missing(missing[0])
        for name in missing:
            self._tell_hole(name, str(errors.queue_missing(name)))
        found = survey(still_wanted(places, feeds, self._options.queues), feeds)
        self._marks = {feed.queue: Place(feed.incarnation, feed.mark) for feed in feeds}
        spans = list(found.spans)
        for finding in found.findings:
            spans += self._past(finding, places[finding.queue])
        spans += (self._opened(feed.queue) for feed in found.new if self._wants(feed))
        return [self._up_to_target(span) for span in spans]

    def _wants(self, feed: Feed) -> bool:
        """Whether a queue that is new to the query is read in this run."""
        return self._target is None or feed.queue in self._target

    def _opened(self, queue: str, at: int = 0) -> Span:
        feed = self._client.open_consumer(queue, self._options.consumer, at)
        return Span(queue, feed.incarnation, max(at, feed.cursor or 0), feed.mark)

    def _up_to_target(self, span: Span) -> Span:
        if self._target is None:
            return span
        target = self._target.get(span.queue)
        until = span.after if target is None or target.incarnation != span.incarnation else target.id
        return span._replace(until=min(span.until, max(until, span.after)))

    def _past(self, finding: Finding, place: Place) -> list[Span]:
        """How a query goes on that may lose data: with what is left, after it was told."""
        fault = self._fault(finding)
        if self._options.fail_on_loss:
            raise fault
        self._tell_hole(finding.queue, str(fault))
        match finding.trouble:
            case Trouble.MISSING:
                return []
            case Trouble.LOST:
                mark = self._marks[finding.queue].id
                return [Span(finding.queue, place.incarnation, finding.cursor, max(finding.cursor, mark))]
            case Trouble.REWOUND:
                # no number is given out twice, so what was read is not read again
                mark = self._marks[finding.queue].id
                return [self._opened(finding.queue, min(place.id, mark))]
            case Trouble.UNKEPT:
                return [self._opened(finding.queue, place.id)]
            case Trouble.REPLACED:
                return [self._opened(finding.queue)]

    def _fault(self, finding: Finding) -> SparkFault:
        consumer = self._options.consumer
        match finding.trouble:
            case Trouble.MISSING:
                return errors.queue_missing(finding.queue)
            case Trouble.REPLACED:
                return errors.queue_replaced(finding.queue)
            case Trouble.UNKEPT:
                return errors.consumer_missing(finding.queue, consumer)
            case Trouble.LOST:
                return errors.data_lost(finding.queue, consumer, finding.after, finding.cursor)
            case Trouble.REWOUND:
                return errors.feed_rewound(finding.queue, finding.after)

    def _tell_hole(self, queue: str, sentence: str) -> None:
        holes = self._holes.setdefault(queue, [])
        if sentence not in holes:
            holes.append(sentence)
            log.warning("failOnDataLoss=false, so the query goes on: %s", sentence)

    def _plans(self, spans: list[Span], limit: Limit) -> list[Plan | None]:
        """What the batch takes of each queue; None for nothing."""
        wants: list[Plan | None] = [
            self._plan(span, limit) if span.until > span.after else None for span in spans
        ]
        having = [index for index, want in enumerate(wants) if want is not None and want.rows]
        if limit == Limit() or not having:
            return wants
        given = allot(
            limit,
            [want for want in wants if want is not None and want.rows],
            self._turn,
            lambda index, share: self._plan(spans[having[index]], share),
        )
        self._turn += 1
        plans: list[Plan | None] = [None] * len(spans)
        for index, plan in zip(having, given, strict=True):
            plans[index] = plan
        return plans

    def _plan(self, span: Span, limit: Limit) -> Plan:
        return self._client.plan(
            span.queue,
            span.after,
            span.until,
            rows=limit.rows,
            bytes=limit.bytes,
            parts=self._options.partitions,
            consumer=self._options.consumer,
            incarnation=span.incarnation,
        )

    def reportLatestOffset(self) -> dict[str, Any] | None:
        """How far the queues go, how many messages the query is behind (counted up to a limit), and holes."""
        report = to_json(self._marks)
        report["behind"] = {queue: self._behind(queue, mark) for queue, mark in self._marks.items()}
        if self._holes:
            report["holes"] = self._holes
        return report

    def _behind(self, queue: str, mark: Place) -> int:
        """How many messages the batch at hand leaves; a report that cannot be made stops nobody."""
        end = self._end.get(queue)
        if end is None or end.incarnation != mark.incarnation or end.id >= mark.id:
            return 0
        try:
            return self._plan(Span(queue, *end, mark.id), Limit(BEHIND_LIMIT)).rows
        except ReliquaryError as error:
            log.warning("what is left of %r could not be counted: %s", queue, error)
            return 0

    # -- a batch

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """The ranges of a batch; after a restart they may be cut otherwise, and hold the same rows."""
        first, last = from_json(start), from_json(end)
        ranges: list[InputPartition] = []
        with explaining("planning a batch"):
            for queue, place in sorted(last.items()):
                if first.get(queue) == place:
                    continue
                ranges += (
                    Range(queue, place.incarnation, part.after, part.until)
                    for part in self._parts(queue, first.get(queue), place)
                )
        return ranges

    def _parts(self, queue: str, first: Place | None, last: Place) -> tuple[Part, ...]:
        span, parts = self._planned.get(queue, (None, ()))
        if span is not None and span.incarnation == last.incarnation and self._end.get(queue) == last:
            return parts
        feeds, _ = self._feeds((queue,))
        if (
            first is None or first.incarnation != last.incarnation
        ):  # new to the query: it begins at the cursor
            cursor = feeds[0].cursor if feeds else None
            first = Place(last.incarnation, cursor or 0)
        after = first.id
        for finding in survey({queue: first}, feeds).findings:
            fault = self._fault(finding)
            if self._options.fail_on_loss:
                raise fault
            self._tell_hole(queue, str(fault))
            if finding.trouble is not Trouble.LOST:
                return ()
            after = finding.cursor
        if after >= last.id:
            return ()
        return self._plan(Span(queue, last.incarnation, after, last.id), Limit()).parts

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a range."""
        return read_part(self._options, self._names, partition, self._connect)

    def commit(self, end: dict[str, Any]) -> None:
        """Everything up to here is done: let the server let go of it.

        A queue or consumer that is gone meanwhile stops the next batch, which can say more about it.
        """
        for queue, place in from_json(end).items():
            if self._committed.get(queue) == place:
                continue
            try:
                self._client.move_consumer(queue, self._options.consumer, place.id, place.incarnation)
            except ReliquaryError as error:
                if error.code not in {"QUEUE_NOT_FOUND", "OTHER_QUEUE", "DATA_LOST"}:
                    raise errors.explained(error, "moving the consumer") from error
                log.warning("the consumer of %r could not be moved: %s", queue, error)
            self._committed[queue] = place

    def stop(self) -> None:
        """Hang up."""
        self._client.close()

    # -- asking

    def _feeds(self, names: tuple[str, ...]) -> tuple[list[Feed], list[str]]:
        """The feeds of names and patterns, and the names that are missing."""
        consumer = self._options.consumer
        if not names:
            return [], []
        try:
            return self._client.feeds(names, consumer), []
        except QueueNotFound:
            pass
        found: dict[str, Feed] = {}
        missing: list[str] = []
        for name in names:
            try:
                found |= {feed.queue: feed for feed in self._client.feeds((name,), consumer)}
            except QueueNotFound:
                missing.append(name)
        return list(found.values()), missing


def _check_start(start: dict[str, int | str], feeds: list[Feed]) -> None:
    unknown = sorted(set(start) - {feed.queue for feed in feeds})
    if unknown:
        told = ", ".join(feed.queue for feed in feeds) or "no queue"
        raise BadOption(f"the option startingOffset names {unknown[0]!r}, and the query reads {told}")
