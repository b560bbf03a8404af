"""How far a batch goes, decided without Spark and without a network.

An *offset* names for each queue its incarnation and a place in its feed; a batch is for each queue the range

    after < place <= until          after = the place of the start, until = the place of the end

so that batches that follow each other cover every place once.  A queue that the end names and the start does
not is new to the query: its range begins at the cursor of its consumer, which does not move before the batch
is committed.  The same holds for one that was made anew.

`survey` compares an offset with what the server tells and names every trouble; `allot` divides the limits of
a batch among queues that have something:

    a queue that wants less than an equal share gets all it wants, and leaves the rest to the others;
    when there is not a row for each, the turn goes round from batch to batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

import msgspec

from reliquary.client.feed import Feed, Plan
from reliquary.spark.errors import BadOffset

VERSION: Final = 1


class Place(NamedTuple):
    """How far a queue was read."""

    incarnation: str
    id: int


Offset = Mapping[str, Place]


class _Written(msgspec.Struct):
    inc: str
    id: int


class _Offset(msgspec.Struct):
    v: int
    queues: dict[str, _Written]


def to_json(offset: Offset) -> dict[str, Any]:
    """An offset as Spark keeps it in a checkpoint; queues by name, so that equal offsets are equal texts."""
    queues = {queue: {"inc": place.incarnation, "id": place.id} for queue, place in sorted(offset.items())}
    return {"v": VERSION, "queues": queues}


def from_json(written: Mapping[str, Any]) -> dict[str, Place]:
    """An offset from a checkpoint."""
    try:
        offset = msgspec.convert(dict(written), _Offset)
    except msgspec.ValidationError as why:
        raise BadOffset(
            f"the checkpoint holds an offset that this source did not write ({why}): has the query another "
            "source now?  Start it with a new checkpoint"
        ) from why
    if offset.v != VERSION:
        raise BadOffset(
            f"the checkpoint holds an offset of version {offset.v}, and this is version {VERSION}: use the "
            "release that wrote it, or start with a new checkpoint"
        )
    return {queue: Place(place.inc, place.id) for queue, place in offset.queues.items()}


# --------------------------------------------------------------------------------------- survey


class Span(NamedTuple):
    """What may be read of a queue now."""

    queue: str
    incarnation: str
    after: int
    until: int


class Trouble(Enum):
    """Why a queue cannot simply be read on."""

    MISSING = "missing"
    """It was there and is not."""
    REPLACED = "replaced"
    """It is another queue of the same name."""
    UNKEPT = "unkept"
    """It has no consumer of this name."""
    LOST = "lost"
    """Its consumer is beyond the place where the query is."""
    REWOUND = "rewound"
    """The store was restored from a backup: what came later may be missing."""


class Finding(NamedTuple):
    """One trouble of one queue."""

    trouble: Trouble
    queue: str
    after: int = 0
    cursor: int = 0


class Survey(NamedTuple):
    """All queues of a query: those that can be read, new ones, and the troubles."""

    spans: tuple[Span, ...]
    new: tuple[Feed, ...]
    """Queues that the offset does not know yet; they need a consumer."""
    findings: tuple[Finding, ...]


def still_wanted(offset: Offset, feeds: Sequence[Feed], wanted: Sequence[str]) -> dict[str, Place]:
    """The queues of an offset that the query still reads: the option may name fewer than it did."""
    there = {feed.queue for feed in feeds}
    patterns = [name.lower() for name in wanted if "*" in name]
    return {
        queue: place
        for queue, place in offset.items()
        if queue in there or any(fnmatchcase(queue.lower(), pattern) for pattern in patterns)
    }


def survey(offset: Offset, feeds: Sequence[Feed]) -> Survey:
    """Compare what the query knows with what is there.  Changes nothing."""
    there = {feed.queue: feed for feed in feeds}
    spans: list[Span] = []
    findings: list[Finding] = []
    for queue, place in sorted(offset.items()):
        feed = there.get(queue)
        if feed is None:
            findings.append(Finding(Trouble.MISSING, queue, place.id))
        elif feed.incarnation != place.incarnation:
            restored = _queue_of(feed.incarnation) == _queue_of(place.incarnation)
            findings.append(Finding(Trouble.REWOUND if restored else Trouble.REPLACED, queue, place.id))
        elif feed.cursor is None:
            findings.append(Finding(Trouble.UNKEPT, queue, place.id))
        elif feed.cursor > place.id:
            findings.append(Finding(Trouble.LOST, queue, place.id, feed.cursor))
        elif feed.mark < place.id:
            findings.append(Finding(Trouble.REWOUND, queue, place.id, feed.cursor))
        else:
            spans.append(Span(queue, feed.incarnation, place.id, feed.mark))
    new = tuple(feed for queue, feed in sorted(there.items()) if queue not in offset)
    return Survey(tuple(spans), new, tuple(findings))


def _queue_of(incarnation: str) -> str:
    """Return the identifier of the queue, without the era of its manager."""
    return incarnation.partition("@")[0]


# --------------------------------------------------------------------------------------- limits


class Limit(NamedTuple):
    """How much a batch may hold; None is no limit."""

    rows: int | None = None
    bytes: int | None = None

    def fits(self, plan: Plan) -> bool:
        """Whether so much is allowed."""
        return (self.rows is None or plan.rows <= self.rows) and (
            self.bytes is None or plan.bytes <= self.bytes
        )

    def share(self, among: int) -> Limit:
        """An equal share, a row and a byte at least."""
        return Limit(
            None if self.rows is None else max(1, self.rows // among),
            None if self.bytes is None else max(1, self.bytes // among),
        )

    def without(self, plan: Plan) -> Limit:
        """What is left."""
        return Limit(
            None if self.rows is None else self.rows - plan.rows,
            None if self.bytes is None else self.bytes - plan.bytes,
        )

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
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
            continue  # one row that is larger than what is left
        given[index] = plan
        left, something = left.without(plan), True
    return given


def _order(limit: Limit, wants: Sequence[Plan], turn: int) -> list[int]:
    """Who is served first: whoever wants least, and in turns when there is not enough for all."""
    count = len(wants)
    rotated = [(turn + step) % count for step in range(count)]
    if limit.rows is not None and limit.rows < count:
        return rotated

    def part(index: int) -> float:
        rows = wants[index].rows / limit.rows if limit.rows else 0.0
        size = wants[index].bytes / limit.bytes if limit.bytes else 0.0
        return max(rows, size)

    return sorted(rotated, key=part)
