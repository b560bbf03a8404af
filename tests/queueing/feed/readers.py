"""Readers of feeds beside a life of the manager: what each of them must see, told by the facts alone.

    arrivals    a message becomes visible in a queue: it is owed to every reader of that queue, once
    memory      what a reader was given under which number; it outlives every crash, as he does

A reader looks (and what he is told is on disk), reads in small pages, and finds exactly what is owed to
him; what he read before and has not passed, he finds again under the same numbers.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field

from reliquary.base.turn import Fact
from reliquary.queueing import facts
from reliquary.queueing.feed import events
from reliquary.queueing.feed.facts import ConsumerDropped, ConsumerPlaced
from reliquary.queueing.feed.numbering import arrival_of
from reliquary.queueing.message import Position
from tests.queueing.manager_harness import Bench

PAGE = 2
Row = tuple[int, int]
"""LookupIdentifier and message."""


@dataclass
class Reader:
    """One consumer, as the facts tell of him."""

    identity: int
    cursor: int
    owed: list[Row] = field(default_factory=list)


class Readers:
    """All consumers of one bench."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._followed = 0
        self._last = 0
        self._known: dict[tuple[int, str], Reader] = {}
        self._put_off: set[tuple[int, int]] = set()
        self._safe = deepcopy((self._known, self._put_off))
        self._memory: dict[int, dict[int, Row]] = {}

    # -- what is owed

    def follow(self) -> None:
        """Take the facts of all turns since the last call."""
        for turn in self.bench.turns[self._followed :]:
            for fact in turn.facts:
                self._hear(fact)
        self._followed = len(self.bench.turns)

    def flushed(self) -> None:
        """A crash will lead back here."""
        self.follow()
        self._safe = deepcopy((self._known, self._put_off))

    def crashed(self) -> None:
        """What came after the last flush never was."""
        self._followed = len(self.bench.turns)
        self._known, self._put_off = deepcopy(self._safe)

    def _hear(self, fact: Fact) -> None:
        match fact:
            case ConsumerPlaced(queue, name, record):
                if (queue, name) in self._known:
                    self._known[queue, name].cursor = record.cursor
                else:
                    self._last += 1
                    self._known[queue, name] = Reader(self._last, record.cursor)
            case ConsumerDropped(queue, name):
                del self._known[queue, name]
            case facts.MessagesStored(queue, positions):
                self._arrive(queue, [each for each in positions if not each.due])
            case facts.PositionCopied(queue, position):
                self._arrive(queue, [position])
            case facts.PositionMoved(_, target, position):
                self._arrive(target, [position])
            case facts.PositionsDelayed(queue, positions):
                if self._of(queue):
                    self._put_off |= {(queue, each.lookup_id) for each in positions}
            case facts.PositionsDue(queue, positions):
                self._arrive(
                    queue, [each for each in positions if (queue, each.lookup_id) not in self._put_off]
                )
                self._put_off -= {(queue, each.lookup_id) for each in positions}
            case _:
                pass

    def _arrive(self, queue: int, positions: list[Position]) -> None:
        for reader in self._of(queue):
            reader.owed += [(each.lookup_id, each.message) for each in positions if not each.express]

    def _of(self, queue: int) -> list[Reader]:
        return [reader for (number, _), reader in self._known.items() if number == queue]

    # -- what is seen

    def begin_early(self, path: str, name: str) -> None:
        """A reader who was opened at the beginning is owed what is there; all of the queue is."""
        self.follow()
        queue = self.bench.queue(path)
        rows = self._range(path, name, 0, queue.mark)
        there = self._range(path, "", 0, self.bench.state.sequence)
        assert set(there.items()) <= set(rows.items())
        self._known[queue.number, name].owed = list(rows.values())
        self.flushed()

    def read(self, path: str, name: str, mark: int) -> None:
        """Read all up to a mark that was told and is on disk, and compare."""
        self.follow()
        reader = self._known[self.bench.queue(path).number, name]
        before = self._memory.setdefault(reader.identity, {})
        rows = self._range(path, name, reader.cursor, mark)
        passed = {number: row for number, row in before.items() if number <= reader.cursor}
        again = {number: row for number, row in before.items() if number > reader.cursor}
        assert again.items() <= rows.items(), "a row that was read is another now, or gone"
        assert not rows.keys() - again.keys() or min(rows.keys() - again.keys()) > max(again, default=0), (
            "something new came before what was read"
        )
        self._memory[reader.identity] = passed | rows
        assert Counter((passed | rows).values()) == Counter(reader.owed), "lost or doubled"

    def _range(self, path: str, name: str, after: int, until: int) -> dict[int, Row]:
        """A range, page by page."""
        found: list[tuple[int, Row]] = []
        more = True
        while more:
            page = self.bench.ask(events.ReadFeed(0, path, after, until, PAGE, name))
            assert isinstance(page, events.FeedRead), page
            assert len(page.positions) <= PAGE
            assert after < page.reached <= until or (not page.more and page.reached == until)
            numbers = [arrival_of(each) for each in page.positions]
            assert all(after < number <= page.reached for number in numbers)
            found += zip(numbers, [(each.lookup_id, each.message) for each in page.positions], strict=True)
            after, more = page.reached, page.more
        numbers = [number for number, _ in found]
        assert numbers == sorted(set(numbers))
        return dict(found)
