"""Which stretch of time the history of each manager covers, and where events are missing.

Events of a manager are numbered without a gap, so what is missing shows.  The numbers are counted in blocks:

    block      0          1          2          4
    numbers    ########   ####..##   ########   ###
                              '-- missing --'       '-- the end: its time is the watermark
                              (a hole from the time before to the time after)

A gap that the manager itself tells of makes a hole too.  Counts and sums of two sets of files add up, so
blocks of several runs merge; an event that came twice gives a block too much, and is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.rules import Reason
from reliquary.wire.history import VERSION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SIZE: Final = 4096
"""Numbers in a block."""


@dataclass(frozen=True)
class Block:
    """What is there of the events with the numbers SIZE * number and following."""

    manager: str
    number: int
    count: int
    total: int
    """The sum of the numbers that are there: with their count it tells whether each came once."""
    first: int
    last: int
    since: int
    until: int
    gap: int | None = None
    """When the last event was that tells of a gap before it."""

    @property
    def key(self) -> tuple[str, int]:
        """Blocks with the same key are parts of one."""
        return self.manager, self.number

    def __add__(self, other: Block) -> Block:
        return replace(
            self,
            count=self.count + other.count,
            total=self.total + other.total,
            first=min(self.first, other.first),
            last=max(self.last, other.last),
            since=min(self.since, other.since),
            until=max(self.until, other.until),
            gap=max((each for each in (self.gap, other.gap) if each is not None), default=None),
        )

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing between its first and its last event."""
        return self.count == self.last - self.first + 1 and self._adds_up

    @property
    def _adds_up(self) -> bool:
        return 2 * self.total == (self.first + self.last) * self.count

    @property
    def has_doubles(self) -> bool:
        """Whether an event came twice, as far as count and sum can tell."""
        span = self.last - self.first + 1
        return self.count > span or (self.count == span and not self._adds_up)


Hole = tuple[int, int]
"""From one moment to another."""


@dataclass(frozen=True)
class Stretch:
    """What a history covers."""

    since: int | None
    """None: from the very first event on."""
    until: int
    """The watermark: what happened before is told."""
    holes: tuple[Hole, ...] = ()
    events: int = 0
    begins: int = 0
    """When its first event was."""

    def uncovered(self, since: int, until: int) -> Reason | None:
        """Why this span is not covered; None when it is."""
        if until > self.until:
            return Reason.TOO_RECENT
        if self.since is not None and since < self.since:
            return Reason.TOO_OLD
        if any(begin <= until and end >= since for begin, end in self.holes):
            return Reason.MISSING
        return None

    def __and__(self, other: Stretch) -> Stretch:
        """What both cover."""
        begins = [each for each in (self.since, other.since) if each is not None]
        return Stretch(
            max(begins, default=None),
            min(self.until, other.until),
            tuple(sorted({*self.holes, *other.holes})),
            self.events + other.events,
            min(self.begins, other.begins),
        )


def merge(blocks: Iterable[Block]) -> list[Block]:
    """Parts of the same block as one."""
    whole: dict[tuple[str, int], Block] = {}
    for block in blocks:
        known = whole.get(block.key)
        whole[block.key] = block if known is None else known + block
    return [whole[key] for key in sorted(whole)]


def stretches(blocks: Iterable[Block]) -> dict[str, Stretch]:
    """What the history of each manager covers."""
    managers: dict[str, list[Block]] = defaultdict(list)
    for block in merge(blocks):
        if block.has_doubles:
            raise UsageError(
                f"events {block.first} to {block.last} of manager {block.manager} came more than once: "
                "give each "
                "history folder once, and start with an empty folder for the state if files were rewritten"
            )
        managers[block.manager].append(block)
    return {manager: _stretch(its) for manager, its in managers.items()}


def _stretch(blocks: list[Block]) -> Stretch:
    holes: list[Hole] = []
    before: Block | None = None
    reached = blocks[0].since
    for block in blocks:
        if before is not None and block.first != before.last + 1:
            holes.append((reached, max(reached, block.since)))
        if not block.is_whole:
            holes.append((min(reached, block.since), block.until))
        elif block.gap is not None:
            holes.append((min(reached, block.since) if before is not None else 0, block.gap))
        reached = max(reached, block.until)
        before = block
    since = None if blocks[0].first <= 1 else blocks[0].since
    return Stretch(
        since,
        reached,
        tuple(holes),
        sum(block.count for block in blocks),
        min(block.since for block in blocks),
    )


def together(managers: Iterable[str], known: Mapping[str, Stretch]) -> Stretch | None:
    """What the histories of all these managers cover; None when one has none."""
    whole: Stretch | None = None
    for manager in managers:
        its = known.get(manager)
        if its is None:
            return None
        whole = its if whole is None else whole & its
    return whole


# -- from events


@dataclass(frozen=True)
class Place:
    """A queue of a manager, and the number by which traces name it."""

    hashed: int
    manager_hash: int
    manager: str
    manager_name: str
    queue: str
    kind: str

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.manager_name or self.manager}: {self.queue}"


@dataclass(frozen=True)
class Survey:
    """What a set of events covers, and the names in it."""

    blocks: tuple[Block, ...] = ()
    places: tuple[Place, ...] = ()

    def __add__(self, other: Survey) -> Survey:
        names = {place.hashed: place for place in (*self.places, *other.places)}
        return Survey(
            tuple(merge((*self.blocks, *other.blocks))), tuple(names[each] for each in sorted(names))
        )


def survey(events: DataFrame) -> Survey:
    """Count the events of each block, and note the names of managers and queues."""
    from pyspark.sql import functions as f

    counted = (
        events.groupBy("manager", "queue", "queue_kind", f.expr(f"event_id div {SIZE}").alias("number"))
        .agg(
            f.count("*").alias("count"),
            f.sum("event_id").alias("total"),
            f.min("event_id").alias("first"),
            f.max("event_id").alias("last"),
            f.min(f.expr("unix_micros(time)")).alias("since"),
            f.max(f.expr("unix_micros(time)")).alias("until"),
            f.max(f.expr("if(event = 'gap', unix_micros(time), null)")).alias("gap"),
            f.max("version").alias("version"),
            # of one manager all names are the same, or the last one counts
            f.max("manager_name").alias("manager_name"),
        )
        .select(
            "*",
            f.expr("xxhash64(manager)").alias("manager_hash"),
            f.expr("xxhash64(manager, queue)").alias("hashed"),
        )
        .toArrow()
        .to_pylist()
    )
    newest = max((row["version"] or VERSION for row in counted), default=VERSION)
    if newest > VERSION:
        raise UsageError(
            f"a history of version {newest} was written by a newer release: this one reads {VERSION}"
        )
    names: dict[str, str] = {}
    for row in counted:
        names[row["manager"]] = max(names.get(row["manager"], ""), row["manager_name"] or "")
    parts = Block.__dataclass_fields__
    return Survey() + Survey(
        tuple(Block(**{name: row[name] for name in parts}) for row in counted),
        tuple(
            Place(
                row["hashed"],
                row["manager_hash"],
                row["manager"],
                names[row["manager"]],
                row["queue"] or "",
                row["queue_kind"] or "",
            )
            for row in counted
        ),
    )
