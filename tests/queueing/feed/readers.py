"""Readers of feeds for the tests of random runs: they compare what they read with what the facts say.

    arrivals    the messages that every reader of a queue must see (`sim.feeds`)
    kept        what is kept for readers within their limits, and nothing of it may be lost (`sim.kept`)
    memory      the messages that a reader got, with their numbers; a crash of the manager does not change it

A reader asks for the mark, whose messages are on disk, and reads in small pages.  It must find exactly the
messages in `arrivals`.  Messages that it read before and has not passed must have their old numbers.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy

from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.feed import events
from reliquary.sim.feeds import Arrivals, Row, row_of
from reliquary.sim.kept import Kept
from tests.queueing.manager_harness import Bench

PAGE = 2


class Readers:
    """All consumers of one bench."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self._followed = 0
        self._arrivals = Arrivals()
        self._kept = Kept()
        self._safe = deepcopy((self._arrivals, self._kept))
        self._memory: dict[int, dict[int, Row]] = {}

    # -- what is owed

    def follow(self) -> None:
        """Take the facts of all turns since the last call."""
        for turn in self.bench.turns[self._followed :]:
            self._kept.begin_turn()
            for fact in turn.facts:
                self._arrivals.apply(fact)
                self._kept.apply(fact)
        self._followed = len(self.bench.turns)

    def flushed(self) -> None:
        """Note the state to which a crash would lead back."""
        self.follow()
        self._safe = deepcopy((self._arrivals, self._kept))

    def crashed(self) -> None:
        """Forget everything that came after the last flush."""
        self._followed = len(self.bench.turns)
        self._arrivals, self._kept = deepcopy(self._safe)

    # -- what is seen

    def begin_early(self, path: str, name: str) -> None:
        """Note the messages that a reader at the beginning must get: all of the queue."""
        self.follow()
        queue = self.bench.queue(path)
        rows = self._range(path, name, 0, queue.feed.mark)
        there = self._range(path, "", 0, self.bench.state.numbers.sequence)
        assert set(there.items()) <= set(rows.items())
        self._arrivals.owed[queue.number, name].rows = list(rows.values())
        self.flushed()

    def read(self, path: str, name: str, mark: int) -> None:
        """Read everything up to a mark that was answered and is on disk, and compare."""
        self.follow()
        owed = self._arrivals.owed[self.bench.queue(path).number, name]
        before = self._memory.setdefault(owed.identity, {})
        rows = self._range(path, name, owed.cursor, mark)
        passed = {number: row for number, row in before.items() if number <= owed.cursor}
        again = {number: row for number, row in before.items() if number > owed.cursor}
        new = rows.keys() - again.keys()
        assert again.items() <= rows.items(), "a row that was read is another now, or gone"
        assert not new or min(new) > max(again, default=0), "something new came before what was read"
        self._memory[owed.identity] = passed | rows
        given, due = Counter((passed | rows).values()), Counter(owed.rows)
        assert not given - due, "doubled"
        assert (due - given).total() <= owed.lost, "lost without a report"

    def _range(self, path: str, name: str, after: int, until: int) -> dict[int, Row]:
        """Return a range, page by page."""
        found: list[tuple[int, Row]] = []
        more = True
        while more:
            page = self.bench.ask(events.ReadFeed(0, path, after, until, PAGE, name))
            assert isinstance(page, events.FeedRead), page
            assert len(page.positions) <= PAGE
            assert after < page.reached <= until or (not page.more and page.reached == until)
            numbers = [arrival_of(each) for each in page.positions]
            assert all(after < number <= page.reached for number in numbers)
            found += zip(numbers, map(row_of, page.positions), strict=True)
            after, more = page.reached, page.more
        numbers = [number for number, _ in found]
        assert numbers == sorted(set(numbers))
        return dict(found)
