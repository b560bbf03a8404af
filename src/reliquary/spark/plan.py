"""Plans the end of a batch, without Spark and without a network.

An offset (`offsets`) has for each queue of each manager its incarnation and a place in its feed; a batch is
for each queue the range

    after < place <= until          after = the place of the start, until = the place of the end

so that batches that follow each other cover every place once.  A queue that the end names and the start does
not is new to the query: its range begins at the cursor of its consumer, which does not move before the batch
is committed.  This is also true for a queue that was created anew.

`survey` compares an offset with what the servers answer and names every trouble; `allot` divides the limits
of a batch among queues that have something:

    a queue with fewer rows than an equal share gets all, and the others share the rest;
    when there is not a row for each, the turn goes round from batch to batch.

`cuts` returns the number of parts of each queue in a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from fnmatch import fnmatchcase
from typing import NamedTuple

from reliquary.client.feed import Feed, Loss, Plan
from reliquary.spark import errors
from reliquary.spark.errors import SparkFault
from reliquary.spark.offsets import Offset, QueueKey, QueueOffset, identifier_of

Feeds = Mapping[QueueKey, Feed]
"""The feeds that servers report for the queues of a query."""

# --------------------------------------------------------------------------------------- survey


class Span(NamedTuple):
    """The range of a queue that may be read now."""

    key: QueueKey
    incarnation: str
    after: int
    until: int


class QueueProblem(Enum):
    """The reasons why a queue cannot simply be read further."""

    MISSING = "missing"
    """The queue was deleted."""
    REPLACED = "replaced"
    """Another queue has the name now."""
    UNKEPT = "unkept"
    """The queue has no consumer of this name."""
    LOST = "lost"
    """The consumer is beyond the position of the query."""
    REWOUND = "rewound"
    """The store was restored from a backup, so later messages may be missing."""


class Finding(NamedTuple):
    """One trouble of one queue."""

    trouble: QueueProblem
    key: QueueKey
    after: int = 0
    cursor: int = 0
    loss: Loss | None = None
    """The messages that the consumer lost, if its limit was exceeded."""

    def fault(self, queue: str, consumer: str) -> SparkFault:
        """Return the error about it; `queue` is the name of the queue in the error."""
        match self.trouble:
            case QueueProblem.MISSING:
                return errors.queue_missing(queue)
            case QueueProblem.REPLACED:
                return errors.queue_replaced(queue)
            case QueueProblem.UNKEPT:
                return errors.consumer_missing(queue, consumer)
            case QueueProblem.LOST:
                return errors.data_lost(queue, consumer, self.after, self.cursor, self.loss)
            case QueueProblem.REWOUND:
                return errors.feed_rewound(queue, self.after)


class Survey(NamedTuple):
    """All queues of a query: the readable ones, new ones, and the troubles."""

    spans: tuple[Span, ...]
    new: tuple[QueueKey, ...]
    """Queues that the offset does not contain yet; they need a consumer."""
    findings: tuple[Finding, ...]


def still_wanted(
    offset: Offset, feeds: Feeds, managers: Sequence[str], wanted: Sequence[str]
) -> dict[QueueKey, QueueOffset]:
    """Return the queues of an offset that the query still reads, of the managers that answered.

    The option may name fewer queues than it did.
    """
    patterns = [name.lower() for name in wanted if "*" in name]
    return {
        key: place
        for key, place in offset.items()
        if key in feeds
        or (key.manager in managers and any(fnmatchcase(key.queue.lower(), pattern) for pattern in patterns))
    }


def survey(offset: Offset, feeds: Feeds) -> Survey:
    """Compare an offset with the feeds of the servers; nothing is changed."""
    spans: list[Span] = []
    findings: list[Finding] = []
    for key, place in sorted(offset.items()):
        feed = feeds.get(key)
        if feed is None:
            findings.append(Finding(QueueProblem.MISSING, key, place.id))
        elif feed.incarnation != place.incarnation:
            restored = identifier_of(feed.incarnation) == place.identifier
            findings.append(
                Finding(QueueProblem.REWOUND if restored else QueueProblem.REPLACED, key, place.id)
            )
        elif feed.cursor is None:
            findings.append(Finding(QueueProblem.UNKEPT, key, place.id))
        elif feed.cursor > place.id:
            findings.append(Finding(QueueProblem.LOST, key, place.id, feed.cursor, feed.loss))
        elif feed.mark < place.id:
            findings.append(Finding(QueueProblem.REWOUND, key, place.id, feed.cursor))
        else:
            spans.append(Span(key, feed.incarnation, place.id, feed.mark))
    new = tuple(key for key in sorted(feeds) if key not in offset)
    return Survey(tuple(spans), new, tuple(findings))


def unless_paused(span: Span, feed: Feed) -> Span:
    """Return the range of a queue; an empty one if the consumer is paused, for which nothing new is begun."""
    return span._replace(until=span.after) if feed.paused else span


def first_unread(feed: Feed | None) -> int:
    """Return the place after which the first batch of a queue begins.

    It is the cursor.  If the consumer has lost the messages before its cursor, the batch may have had them,
    so it is the place before the loss.
    """
    if feed is None:
        return 0
    if feed.loss is not None and feed.loss.until == feed.cursor:
        return feed.loss.after
    return feed.cursor or 0


# --------------------------------------------------------------------------------------- limits


class Limit(NamedTuple):
    """The limits of a batch; None means no limit."""

    rows: int | None = None
    bytes: int | None = None

    def fits(self, plan: Plan) -> bool:
        """Return whether the limit allows these rows and bytes."""
        return (self.rows is None or plan.rows <= self.rows) and (
            self.bytes is None or plan.bytes <= self.bytes
        )

    def share(self, among: int) -> Limit:
        """Return an equal share, at least a row and a byte."""
        return Limit(
            None if self.rows is None else max(1, self.rows // among),
            None if self.bytes is None else max(1, self.bytes // among),
        )

    def without(self, plan: Plan) -> Limit:
        """Return the limit that is left after these rows and bytes."""
        return Limit(
            None if self.rows is None else self.rows - plan.rows,
            None if self.bytes is None else self.bytes - plan.bytes,
        )

    @property
    def spent(self) -> bool:
        """Whether nothing of the limit is left."""
        return (self.rows is not None and self.rows <= 0) or (self.bytes is not None and self.bytes <= 0)


def allot(
    limit: Limit, wants: Sequence[Plan], turn: int, again: Callable[[int, Limit], Plan]
) -> list[Plan | None]:
    """Divide a limit among queues; None for one that has to wait.

    Each plan says what a queue has within the whole limit, one row at least; `again` plans one with less.
    All together are within the limit, in rows and in bytes, but for a message that alone is larger.
    """
    order = _order(limit, wants, turn)
    given: list[Plan | None] = [None] * len(wants)
    left, something = limit, False
    for done, index in enumerate(order):
        if left.spent:
            break
        share = left.share(len(order) - done)
        plan = wants[index]
        if not share.fits(plan):
            plan = again(index, share)
        if something and not left.fits(plan):
            continue  # one row that is larger than the rest
        given[index] = plan
        left, something = left.without(plan), True
    return given


def _order(limit: Limit, wants: Sequence[Plan], turn: int) -> list[int]:
    """Return the order of queues: those with few rows first, in turns if there is not enough for all."""
    count = len(wants)
    rotated = [(turn + step) % count for step in range(count)]
    if limit.rows is not None and limit.rows < count:
        return rotated

    def part(index: int) -> float:
        rows = wants[index].rows / limit.rows if limit.rows else 0.0
        size = wants[index].bytes / limit.bytes if limit.bytes else 0.0
        return max(rows, size)

    return sorted(rotated, key=part)


def cuts(rows: Sequence[int], most: int, least: int | None) -> list[int]:
    """Return the number of parts for each queue, of which a batch has these rows.

    Each has up to `most` parts.  If all together have fewer than `least`, each gets more, by its rows; no
    part is without a row.
    """
    parts = [min(most, count) for count in rows]
    if least is None or sum(parts) >= least:
        return parts
    total = sum(rows)
    return [
        min(count, max(part, -(-least * count // total))) for part, count in zip(parts, rows, strict=True)
    ]
