"""Finds the interval that the history of each manager covers, and missing events.

Events of a manager are numbered without a gap, so missing ones are recognized.  The numbers are counted
in blocks:

    block      0          1          2          4
    numbers    ########   ####..##   ########   ###
                              '-- missing --'       '-- the end: its time is the watermark
                              (a hole from the time before to the time after)

A gap that the manager itself reports makes a hole too.  Counts and sums of two sets of files add up, so
blocks of several runs merge; a repeated event makes a block too large, and is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.arrays import Ints
from reliquary.spark.pipelines.audit.verdicts import Reason

REASONS: Final = tuple(Reason)
"""The number of a reason in a column is its index here; -1 means none."""

SIZE: Final = 4096
"""The number of message numbers in a block."""


@dataclass(frozen=True)
class Block:
    """The counts of the events whose numbers begin at SIZE * number."""

    manager: str
    number: int
    count: int
    total: int
    """The sum of the numbers; together with their count it shows whether each came once."""
    first: int
    last: int
    since: int
    until: int
    gap: int | None = None
    """The time of the last event that reports a gap before it."""

    @property
    def key(self) -> tuple[str, int]:
        """The key of the block; parts with equal keys belong to one block."""
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
        """Whether an event came twice, as far as count and sum show it."""
        span = self.last - self.first + 1
        return self.count > span or (self.count == span and not self._adds_up)


Hole = tuple[int, int]
"""The two times between which events are missing."""


@dataclass(frozen=True)
class CoveredInterval:
    """The interval that a history covers."""

    since: int | None
    """The beginning; None: from the very first event on."""
    until: int
    """The watermark: all events before it are in the history."""
    holes: tuple[Hole, ...] = ()
    events: int = 0
    begins: int = 0
    """The time of its first event."""

    def uncovered(self, since: Ints, until: Ints) -> Ints:
        """Return the reasons why these intervals are not covered, as indexes of REASONS; -1 if one is."""
        why = np.full(len(since), -1, np.int64)
        for begin, end in self.holes:
            why[(begin <= until) & (end >= since)] = REASONS.index(Reason.MISSING)
        if self.since is not None:
            why[since < self.since] = REASONS.index(Reason.TOO_OLD)
        why[until > self.until] = REASONS.index(Reason.TOO_RECENT)
        return why

    def __and__(self, other: CoveredInterval) -> CoveredInterval:
        """Return the interval that both cover."""
        begins = [each for each in (self.since, other.since) if each is not None]
        return CoveredInterval(
            max(begins, default=None),
            min(self.until, other.until),
            tuple(sorted({*self.holes, *other.holes})),
            self.events + other.events,
            min(self.begins, other.begins),
        )


def merge(blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks with the parts of each block merged into one."""
    whole: dict[tuple[str, int], Block] = {}
    for block in blocks:
        known = whole.get(block.key)
        whole[block.key] = block if known is None else known + block
    return [whole[key] for key in sorted(whole)]


def stretches(blocks: Iterable[Block]) -> dict[str, CoveredInterval]:
    """Return the interval that the history of each manager covers."""
    managers: dict[str, list[Block]] = defaultdict(list)
    for block in merge(blocks):
        if block.has_doubles:
            raise UsageError(
                f"events {block.first} to {block.last} of manager {block.manager} came more than once: "
                "give each "
                "history folder once, and start with an empty folder for the state if files were rewritten"
            )
        managers[block.manager].append(block)
    return {manager: _stretch(spans) for manager, spans in managers.items()}


def _stretch(blocks: list[Block]) -> CoveredInterval:
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
    return CoveredInterval(
        since,
        reached,
        tuple(holes),
        sum(block.count for block in blocks),
        min(block.since for block in blocks),
    )


def together(managers: Iterable[str], known: Mapping[str, CoveredInterval]) -> CoveredInterval | None:
    """Return the interval that the histories of all these managers cover; None if one has none."""
    whole: CoveredInterval | None = None
    for manager in managers:
        covered = known.get(manager)
        if covered is None:
            return None
        whole = covered if whole is None else whole & covered
    return whole


# -- names


@dataclass(frozen=True)
class TracedQueue:
    """A queue of a manager, and the number by which traces name it."""

    hashed: int
    manager_hash: int
    manager: str
    manager_name: str
    queue: str
    kind: str

    @property
    def text(self) -> str:
        """The names of manager and queue in readable form."""
        return f"{self.manager_name or self.manager}: {self.queue}"


@dataclass(frozen=True)
class Survey:
    """The blocks that a set of events covers, and the names in it."""

    blocks: tuple[Block, ...] = ()
    places: tuple[TracedQueue, ...] = ()


def combined(surveys: Sequence[Survey]) -> Survey:
    """Return the survey of several sets of events together."""
    names = {place.hashed: place for survey in surveys for place in survey.places}
    blocks = merge(block for survey in surveys for block in survey.blocks)
    return Survey(tuple(blocks), tuple(names[each] for each in sorted(names)))
