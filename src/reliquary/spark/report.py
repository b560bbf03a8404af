"""Makes the report of a stream for each batch: `query.lastProgress["sources"][0]["latestOffset"]`.

    managers   the end of the feed of each queue
    behind     how many messages the batch leaves unread, counted up to a limit
    lag        how many seconds ago the oldest of them arrived
    holes      the gaps that were skipped with failOnDataLoss=false
    away       managers that are skipped now

Everything but `away` is by manager and queue.  A report that cannot be made stops no query.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from reliquary.client.errors import ReliquaryError
from reliquary.client.feed import FeedClient
from reliquary.spark.errors import SparkFault
from reliquary.spark.managers import Managers
from reliquary.spark.offsets import Offset, QueueKey, QueueOffset, to_json

BEHIND_LIMIT: Final = 10_000
"""The largest number of messages that is counted."""

log = logging.getLogger(__name__)


class Report:
    """The state of a query for people."""

    def __init__(
        self,
        managers: Managers,
        consumer: str,
        now: Callable[[], float] = time.time,  # noqa: TID251 - the age of a message is of the real clock
    ) -> None:
        self._managers = managers
        self._consumer = consumer
        self._now = now
        self._marks: Offset = {}
        self._end: Offset = {}
        self._holes: dict[QueueKey, list[str]] = {}

    def planned(self, marks: Mapping[QueueKey, QueueOffset], end: Mapping[QueueKey, QueueOffset]) -> None:
        """Record the marks of the feeds, and the end of the planned batch."""
        self._marks, self._end = dict(marks), dict(end)

    def hole(self, key: QueueKey, fault: SparkFault) -> None:
        """Record a gap that is skipped, and log it once."""
        holes = self._holes.setdefault(key, [])
        if str(fault) not in holes:
            holes.append(str(fault))
            log.warning("failOnDataLoss=false, so the query goes on: %s", fault)

    def has_hole(self, key: QueueKey) -> bool:
        """Return whether messages of a queue were skipped."""
        return key in self._holes

    def made(self) -> dict[str, Any]:
        """Return the report for the progress of Spark: positions, backlog, lag and gaps."""
        report = to_json(self._marks)
        unread = self._managers.by_queue(self._marks, lambda key: self._unread(key, self._marks[key]))
        report["behind"] = _nested({key: behind for key, (behind, _) in unread.items()})
        report["lag"] = _nested({key: lag for key, (_, lag) in unread.items()})
        if self._holes:
            report["holes"] = _nested(self._holes)
        if self._managers.away:
            report["away"] = list(self._managers.away)
        return report

    def _unread(self, key: QueueKey, mark: QueueOffset) -> tuple[int, float]:
        """Return how many messages the batch leaves, and how old the first of them is in seconds."""
        end = self._end.get(key)
        if end is None or end.incarnation != mark.incarnation or end.id >= mark.id:
            return 0, 0.0
        try:
            counted = self._managers.offer(
                key.manager, lambda client: self._count(client, key, end, mark), key.queue
            )
            return counted or (0, 0.0)
        except ReliquaryError as error:
            called = self._managers.called(key.manager, key.queue)
            log.warning("what is left of %r could not be counted: %s", called, error)
            return 0, 0.0

    def _count(
        self, client: FeedClient, key: QueueKey, end: QueueOffset, mark: QueueOffset
    ) -> tuple[int, float]:
        how = {"consumer": self._consumer, "incarnation": mark.incarnation}
        plan = client.plan(key.queue, end.id, mark.id, rows=BEHIND_LIMIT, **how)  # type: ignore[arg-type]
        if not plan.rows:
            return 0, 0.0
        first = client.plan(key.queue, end.id, mark.id, rows=1, **how)  # type: ignore[arg-type]
        for batch in client.read(key.queue, end.id, first.until, columns=("arrived",), **how):  # type: ignore[arg-type]
            if batch.num_rows:
                arrived = batch.column("arrived")[0].value / 1_000_000
                return plan.rows, round(max(self._now() - arrived, 0.0), 3)
        return plan.rows, 0.0


def _nested(by_key: Mapping[QueueKey, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for key, value in sorted(by_key.items()):
        found.setdefault(key.manager, {})[key.queue] = value
    return found
