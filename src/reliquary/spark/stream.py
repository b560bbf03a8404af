"""Reads a stream of everything that arrives in queues, once, without removing messages.

The decisions are in `options`, `offsets`, `plan` and `rows`, and the managers are asked by `planning` and
`cursors`; this module answers Spark's calls.

    driver, one process a query          executors, a process a task
    initialOffset   opens the consumers  read   a range, as record batches
    latestOffset    how far a batch goes
    partitions      cuts it into ranges
    commit          moves the consumers

A batch that begins at an offset follows batches that are done up to there, and so does the first look of a
run: consumers move then too.  So a query that fell before Spark could call `commit` leaves nothing behind.

Spark does not store the offset at which a query begins.  If the first batch is run again, Spark calls
`initialOffset` anew, and `latest` would be behind the batch.  So the consumers are moved to the beginning
before the first batch is logged, and a first batch that is run again begins at them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
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

from reliquary.client.feed import Feed, Part, Plan
from reliquary.spark import errors
from reliquary.spark.connection import connected
from reliquary.spark.cursors import Cursors
from reliquary.spark.errors import explaining
from reliquary.spark.looking import Look, look
from reliquary.spark.managers import Connect, Managers
from reliquary.spark.offsets import (
    Offset,
    QueueKey,
    QueueOffset,
    check_managers,
    from_json,
    identifier_of,
    renamed,
    to_json,
)
from reliquary.spark.options import Reading
from reliquary.spark.plan import (
    Finding,
    Limit,
    QueueProblem,
    Span,
    first_unread,
    still_wanted,
    survey,
    unless_paused,
)
from reliquary.spark.planning import Planning
from reliquary.spark.positions import Moment, Positions
from reliquary.spark.report import Report
from reliquary.spark.source import Range, read_part

IDLE: Final = 0.2
"""The seconds between two checks of idle queues; Spark itself would check a hundred times."""


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The reader of `spark.readStream`.

    Everything that arrives, once, with a consumer that keeps unread messages.
    """

    def __init__(
        self,
        options: Reading,
        names: tuple[str, ...],
        connect: Connect = connected,
        wait: Callable[[float], None] = time.sleep,  # noqa: TID251 - no event shows that something arrives
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._names = names
        self._connect = connect
        self._wait = wait
        self._clock = clock
        self._idle = False
        self._managers = Managers(options.managers, options.gone, connect, wait, clock)
        self._initial: dict[QueueKey, QueueOffset] | None = None
        self._target: dict[QueueKey, QueueOffset] | None = None
        self._planned: dict[QueueKey, tuple[Span, tuple[Part, ...]]] = {}
        self._marks: dict[QueueKey, QueueOffset] = {}
        self._end: dict[QueueKey, QueueOffset] = {}
        self._resuming = True
        self._cursors = Cursors(self._managers, options.consumer)
        self._planning = Planning(self._managers, options)
        self._report = Report(self._managers, options.consumer)
        self._last_batch = clock()

    # -- where to begin, and how far to go

    def initialOffset(self) -> dict[str, Any]:
        """Open the consumers and return the first offset; Spark calls it twice and gets equal answers."""
        if self._initial is None:
            start = self._options.start
            with explaining("starting the stream"):
                # a manager that is skipped is read from its beginning later, which must equal the
                # requested one
                found = self._look(insist=start != Positions())
                if found.missing:
                    raise errors.queue_missing(self._called(found.missing[0]))
                start.check(found.by_manager(self._managers.names), "startingOffset")
                self._initial = self._managers.by_queue(
                    found.feeds, lambda key: self._first(key, found.feeds[key])
                )
        return to_json(self._initial)

    def _first(self, key: QueueKey, feed: Feed) -> QueueOffset:
        at = self._options.start.of(key)
        if not isinstance(at, Moment):
            return self._cursors.begin(key, at, feed.mark)
        moment = at.microseconds
        place = self._managers.insist(
            key.manager, lambda client: client.place_of(key.queue, moment, feed.incarnation), key.queue
        )
        return self._cursors.begin(key, place, feed.mark)

    def prepareForTriggerAvailableNow(self) -> None:
        """Limit this run to the present messages."""
        with explaining("asking how far the queues go"):
            feeds = self._look().feeds
        self._target = {key: QueueOffset(feed.incarnation, feed.mark) for key, feed in feeds.items()}

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return the limit of the options; Spark has one, and `latestOffset` applies both."""
        if self._options.max_rows is not None:
            return ReadMaxRows(self._options.max_rows)
        if self._options.max_bytes is not None:
            return ReadMaxBytes(self._options.max_bytes)
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Return the end of the next batch, which is its start if there are no messages."""
        places = from_json(start, self._managers.names)
        if self._idle and self._target is None:
            self._wait(IDLE)
        with explaining("planning a batch"):
            found = self._look()
            places = renamed(places, found.incarnations, self._managers.names)
            check_managers(places, self._managers.names, all_there=not self._managers.away)
            spans = self._spans(places, found)
            if self._resuming:
                sound = {span.key: QueueOffset(span.incarnation, span.after) for span in spans}
                self._settle(sound, places)
            plans = self._planning.plans(spans, self._limit(limit))
        end = dict(places)
        self._planned = {}
        for span, plan in zip(spans, plans, strict=True):
            if plan is not None and plan.rows:
                end[span.key] = QueueOffset(span.incarnation, plan.until)
                self._planned[span.key] = (span, plan.parts)
            elif places.get(span.key) != QueueOffset(span.incarnation, span.after):
                end[span.key] = QueueOffset(span.incarnation, span.after)  # it begins there, and is empty
                self._planned[span.key] = (span, ())
        if self._waits_for_more(spans, plans):
            end = dict(places)
        self._end = end
        self._report.planned(self._marks, end)
        self._idle = end == places
        if self._idle:
            return start
        self._last_batch = self._clock()
        return to_json(end)

    def _waits_for_more(self, spans: list[Span], plans: list[Plan | None]) -> bool:
        """Return whether a batch with all present messages is too small to be read now."""
        rows = sum(plan.rows for plan in plans if plan is not None)
        return (
            self._target is None
            and 0 < rows < self._options.min_rows
            and self._clock() - self._last_batch < self._options.max_delay
            and all(
                plan is not None and plan.until >= span.until
                for span, plan in zip(spans, plans, strict=True)
                if span.until > span.after
            )
        )

    def _limit(self, limit: ReadLimit) -> Limit:
        if isinstance(limit, ReadAllAvailable):
            return Limit()
        rows = [self._options.max_rows, getattr(limit, "max_rows", None)]
        sizes = [self._options.max_bytes, getattr(limit, "max_bytes", None)]
        return Limit(
            min((each for each in rows if each is not None), default=None),
            min((each for each in sizes if each is not None), default=None),
        )

    def _spans(self, places: Offset, found: Look) -> list[Span]:
        """Return the range of each readable queue; troubles stop the query, or are logged."""
        for key in found.missing:
            fault = errors.queue_missing(self._called(key))
            if self._options.fail_on_loss:
                raise fault
            self._report.hole(key, fault)
        wanted = still_wanted(places, found.feeds, found.managers, self._options.queues)
        surveyed = survey(wanted, found.feeds)
        self._marks = {key: QueueOffset(feed.incarnation, feed.mark) for key, feed in found.feeds.items()}
        spans: list[Span | None] = list(surveyed.spans)
        spans += (self._past(finding, places[finding.key]) for finding in surveyed.findings)
        spans += (self._opened(key) for key in surveyed.new if self._wants(key))
        return [
            unless_paused(self._up_to_target(span), found.feeds[span.key])
            for span in spans
            if span is not None
        ]

    def _wants(self, key: QueueKey) -> bool:
        """Return whether a queue that is new to the query is read in this run."""
        return self._target is None or key in self._target

    def _opened(self, key: QueueKey, at: int = 0) -> Span | None:
        feed = self._cursors.open(key, at)
        if feed is None:
            return None
        return Span(key, feed.incarnation, max(at, feed.cursor or 0), feed.mark)

    def _up_to_target(self, span: Span) -> Span:
        if self._target is None:
            return span
        target = self._target.get(span.key)
        until = span.after if target is None or target.incarnation != span.incarnation else target.id
        return span._replace(until=min(span.until, max(until, span.after)))

    def _past(self, finding: Finding, place: QueueOffset) -> Span | None:
        """Return the remaining range for a query that may lose data, after the loss was logged."""
        self._tell(finding)
        match finding.trouble:
            case QueueProblem.MISSING:
                return None
            case QueueProblem.LOST:
                mark = self._marks[finding.key].id
                return Span(finding.key, place.incarnation, finding.cursor, max(finding.cursor, mark))
            case QueueProblem.REWOUND:
                # no number is given out twice, so what was read is not read again
                mark = self._marks[finding.key].id
                return self._opened(finding.key, min(place.id, mark))
            case QueueProblem.UNKEPT:
                return self._opened(finding.key, place.id)
            case QueueProblem.REPLACED:
                return self._opened(finding.key)

    def _tell(self, finding: Finding) -> None:
        """Stop the query because of a trouble, or note the hole."""
        fault = finding.fault(self._called(finding.key), self._options.consumer)
        if self._options.fail_on_loss:
            raise fault
        self._report.hole(finding.key, fault)

    def _called(self, key: QueueKey) -> str:
        return self._managers.called(key.manager, key.queue)

    def reportLatestOffset(self) -> dict[str, Any] | None:
        """Return the positions, the backlog, the gaps, and the skipped managers."""
        return self._report.made()

    # -- a batch

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Return the ranges of a batch; after a restart the ranges may differ, with equal rows."""
        with explaining("planning a batch"):
            first, last = self._settled(start, end)
            first = self._as_planned(first, last)
            wanted = [key for key, place in sorted(last.items()) if first.get(key) != place]
            parts = self._parts(wanted, first, last)
            ranges: list[InputPartition] = [
                Range(key.manager, key.queue, last[key].incarnation, part.after, part.until)
                for key in wanted
                for part in parts.get(key, ())
            ]
        self._settle({key: place for key, place in first.items() if not self._report.has_hole(key)}, first)
        return ranges

    def _settled(
        self, start: dict[str, Any], end: dict[str, Any]
    ) -> tuple[dict[QueueKey, QueueOffset], dict[QueueKey, QueueOffset]]:
        """Return the offsets of a batch, by the present names of the managers."""
        names = self._managers.names
        first, last = from_json(start, names), from_json(end, names)
        wanted = {key: place for key, place in last.items() if first.get(key) != place}
        planned = all(key in self._planned and self._end.get(key) == place for key, place in wanted.items())
        if not planned and not self._are_there(wanted):
            last = renamed(last, self._look(insist=True).incarnations, names)
        first = renamed(first, {key: place.incarnation for key, place in last.items()}, names)
        for key, place in last.items():
            if key.manager not in names and first.get(key) != place:
                raise errors.manager_not_named(key.manager, key.queue)
        return first, last

    def _as_planned(
        self, first: dict[QueueKey, QueueOffset], last: dict[QueueKey, QueueOffset]
    ) -> dict[QueueKey, QueueOffset]:
        """Return the start of a batch; for the first batch of a query, the start when it was planned."""
        if first != self._initial or self._end == last:
            return first
        feeds = self._look(insist=True).feeds
        return {key: place._replace(id=first_unread(feeds.get(key))) for key, place in first.items()}

    def _are_there(self, places: Offset) -> bool:
        """Return whether each of these queues is at the manager that the offset names."""
        managers = tuple({key.manager: None for key in places})
        if not {*managers} <= {*self._managers.names}:
            return False
        found = self._look(managers=managers, insist=True).incarnations
        return all(place.identifier == identifier_of(found.get(key, "")) for key, place in places.items())

    def _parts(
        self, keys: Sequence[QueueKey], first: Offset, last: Offset
    ) -> dict[QueueKey, tuple[Part, ...]]:
        """Return the parts of these queues in a batch: those that were planned, or as many planned again."""
        parts: dict[QueueKey, tuple[Part, ...]] = {}
        for key in keys:
            span, planned = self._planned.get(key, (None, ()))
            if (
                span is not None
                and span.incarnation == last[key].incarnation
                and self._end.get(key) == last[key]
            ):
                parts[key] = planned
        found = self._managers.by_queue(
            (key for key in keys if key not in parts),
            lambda key: self._replay(key, first.get(key), last[key]),
        )
        again = {key: each for key, each in found.items() if each is not None}
        spans = {key: span for key, (span, _) in again.items()}
        plans = self._planning.finer(spans, {key: plan for key, (_, plan) in again.items()})
        return parts | {key: plan.parts for key, plan in plans.items()}

    def _replay(
        self, key: QueueKey, first: QueueOffset | None, last: QueueOffset
    ) -> tuple[Span, Plan] | None:
        """Return the range of a queue in a batch that this process did not plan; None if there is none."""
        feeds = self._look((key.queue,), (key.manager,), insist=True).feeds
        if first is None or first.incarnation != last.incarnation:  # new to the query
            first = QueueOffset(last.incarnation, first_unread(feeds.get(key)))
        after = first.id
        for finding in survey({key: first}, feeds).findings:
            self._tell(finding)
            if finding.trouble is not QueueProblem.LOST:
                return None
            after = finding.cursor
        if after >= last.id:
            return None
        span = Span(key, last.incarnation, after, last.id)
        return span, self._planning.again(span)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a range."""
        return read_part(self._options, self._names, partition, self._connect)

    def commit(self, end: dict[str, Any]) -> None:
        """Report to the servers that everything up to here is done, so that they may delete it.

        A queue or consumer that is gone meanwhile stops the next batch, which can say more about it.  A
        manager that the query does not name now, or that does not answer, keeps its messages longer.
        """
        self._cursors.move(from_json(end, self._managers.names))

    def _settle(self, sound: Offset, start: Offset) -> None:
        self._resuming = False
        self._cursors.settle(sound, start)

    def stop(self) -> None:
        """Close the connections to all managers."""
        self._managers.close()

    def _look(
        self, queues: tuple[str, ...] = (), managers: tuple[str, ...] = (), *, insist: bool = False
    ) -> Look:
        """Return the feeds of the query's queues, or of these, at all managers or at these."""
        return look(
            self._managers,
            managers or self._managers.names,
            queues or self._options.queues,
            self._options.consumer,
            insist=insist,
        )
