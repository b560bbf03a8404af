"""Simulates readers of feeds, and checks the messages that they get.

    Arrivals     from the facts alone: what became visible in which queue while a reader exists
    FeedReader   looks, reads in pages, commits its progress, and remembers all messages that it ever got
    check_feeds  the reader got exactly the arrivals, in spite of crashes

The message of a number, and everything up to a mark that was read, never changes; each page is checked
for this.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.base.turn import Fact
from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.feed.events import (
    DropConsumer,
    FeedRead,
    LookAtFeeds,
    MoveConsumer,
    OpenConsumer,
    ReadFeed,
    SetConsumer,
)
from reliquary.queueing.feed.facts import ConsumerDropped, ConsumerLost, ConsumerPlaced
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.keep import EVERYTHING, Keep
from reliquary.queueing.model.message import Position
from reliquary.queueing.staging.facts import BatchBegun, BatchPublished, StagePublished
from reliquary.sim.administrators import SPARE
from reliquary.sim.applications import (
    Application,
    ApplicationContext,
    Call,
    Part,
    Script,
    answer_of,
    succeeded,
)
from reliquary.sim.hidden import HiddenPositions
from reliquary.sim.history import History, Violation
from reliquary.sim.kept import Kept
from reliquary.sim.network import Outcome

Row: TypeAlias = tuple[int, int]
"""The LookupIdentifier and the number of a message."""
LIMITS = (
    None,
    EVERYTHING,
    Keep(count=3),
    Keep(bytes=900),
    Keep(age=seconds(5)),
    Keep(age=seconds(20), count=9),
)
FEEDS = ("orders", "ledger", SPARE, "orders;journal", "system$;deadletter")


def row_of(position: Position) -> Row:
    """Return the identity of a message in a feed; a message may come into one queue more than once."""
    return position.lookup_id, position.message


# -- what is owed


@dataclass(slots=True)
class Owed:
    """The messages that one consumer must get."""

    identity: int
    """A number that differs for each time that a consumer of this name is opened."""
    cursor: int
    rows: list[Row] = field(default_factory=list)
    earlier: list[Row] = field(default_factory=list)
    """Messages that it may get: they arrived while a large batch was hidden, and before the consumer was
    opened."""
    lost: int = 0
    """The number of messages that the reader lost because its limit was passed."""


class Arrivals:
    """A second computation of feeds, which has no numbers."""

    def __init__(self) -> None:
        self.owed: dict[tuple[int, str], Owed] = {}
        """The messages that a consumer must still get, by queue and consumer."""
        self.ended: list[tuple[int, str, Owed]] = []
        """The readers that ended, or whose queue was deleted."""
        self._put_off: set[tuple[int, int]] = set()
        self._came: dict[int, list[Row]] = {}
        """All messages that ever arrived, by queue."""
        self._placing: tuple[str, set[int]] = ("", set())
        """The query whose large batch is hidden, and the queues of the batch."""
        self._last = 0

    def apply(self, fact: Fact) -> None:
        """Apply a fact that is on disk, or will be."""
        match fact:
            case ConsumerPlaced(queue, name, record):
                if (queue, name) in self.owed:
                    self.owed[queue, name].cursor = record.cursor
                else:
                    self._last += 1
                    earlier = list(self._came.get(queue, [])) if queue in self._placing[1] else []
                    self.owed[queue, name] = Owed(self._last, record.cursor, earlier=earlier)
            case BatchBegun(record=batch, chunks=chunks):
                self._placing = (batch.query, {numbered.chunk.queue for numbered in chunks})
            case BatchPublished(query=query) if query == self._placing[0]:
                self._placing = ("", set())
            case ConsumerLost(queue, name, record):
                self.owed[queue, name].cursor = record.cursor
                self.owed[queue, name].lost = record.lost
            case ConsumerDropped(queue, name):
                self.ended.append((queue, name, self.owed.pop((queue, name))))
            case facts.MessagesStored(queue, positions) | StagePublished(queue=queue, positions=positions):
                self._arrive(queue, [each for each in positions if not each.due])
            case facts.PositionCopied(queue, position):
                self._arrive(queue, [position])
            case facts.PositionMoved(_, target, position):
                self._arrive(target, [position])
            case facts.PositionsDelayed(queue, positions):
                if self._of(queue):
                    self._put_off |= {(queue, each.lookup_id) for each in positions}
            case facts.PositionsDue(queue, positions):
                new = [each for each in positions if (queue, each.lookup_id) not in self._put_off]
                self._arrive(queue, new)
                self._put_off -= {(queue, each.lookup_id) for each in positions}
            case _:
                pass

    def _arrive(self, queue: int, positions: list[Position]) -> None:
        self._came.setdefault(queue, []).extend([row_of(each) for each in positions])
        for owed in self._of(queue):
            owed.rows += [row_of(each) for each in positions if not each.express]

    def _of(self, queue: int) -> list[Owed]:
        return [owed for (number, _), owed in self.owed.items() if number == queue]


def check_feeds(history: History) -> None:
    """Check that every reader got every message of its queue once, or was notified of its loss."""
    arrivals, kept, hidden = Arrivals(), Kept(), HiddenPositions()
    for turned in history.turns:
        kept.begin_turn()
        for stated in turned.facts if turned.kept else ():
            for fact in hidden.visible(stated):
                arrivals.apply(fact)
                kept.apply(fact, turned.event)
    if arrivals.owed:
        raise Violation(f"feed: a reader is still active: {list(arrivals.owed)}")
    for queue, name, owed in arrivals.ended:
        given, due = Counter(history.feeds.get((queue, name), {}).values()), Counter(owed.rows)
        if given - due - Counter(owed.earlier):
            raise Violation(f"feed: {name} was given what never came into queue {queue}: {given - due}")
        if (queue, name) in history.read_to_the_end and (due - given).total() > owed.lost:
            raise Violation(f"feed: {name} was never given these of queue {queue}: {due - given}")


# -- who reads


@dataclass(slots=True)
class _ReaderPosition:
    """The position of a reader in one queue, as the reader has recorded it."""

    incarnation: str
    cursor: int
    read: int
    """The number up to which the reader got all messages."""
    asked: int
    """The number up to which the reader may have committed: its last request may have had no answer."""


class FeedReader(Application):
    """Reads feeds while other applications work."""

    def __init__(self, name: str, context: ApplicationContext) -> None:
        super().__init__(name, context)
        self._places: dict[str, _ReaderPosition] = {}

    def script(self) -> Script:
        """When all applications finish and no messages are sent any more, read to the end and remove the
        consumer."""
        if not self.context.finishing:
            yield from super().script()
            return
        for queue in FEEDS:
            yield from self._finish(queue)

    def act(self) -> Script:
        """Look at one queue, and read its new messages."""
        yield from self._read_on(self.chance.pick(FEEDS))

    def _finish(self, queue: str) -> Script:
        there = yield from self.ask_until_answered(lambda to: LookAtFeeds(to, (queue,)))
        if not succeeded(there):
            return
        number = None
        while number is None:
            number = yield from self._read_on(queue)
        self.history.read_to_the_end.add((number, self.name))
        yield from self.ask_until_answered(lambda to: DropConsumer(to, queue, self.name))

    def _read_on(self, queue: str) -> Part[int | None]:
        """Continue to read; return the number of the queue when the reader is at its mark."""
        place = self._places.get(queue)
        if place is None:
            yield from self._open(queue)
            return None
        look = yield Call(lambda to: LookAtFeeds(to, (queue,), self.name))
        self.note(look)
        if not succeeded(look) or self._is_outdated(look):
            return None
        [view] = answer_of(look).feeds
        if view.incarnation != place.incarnation:
            del self._places[queue]
            return None
        # the reader is notified, and continues after the loss
        if view.loss is not None and view.cursor == view.loss.until:
            place.cursor, place.asked = max(place.cursor, view.cursor), max(place.asked, view.cursor)
            place.read = max(place.read, view.cursor)
        if view.cursor is None:
            raise Violation(f"feed: {queue} has forgotten {self.name}")
        number = yield from self._read(queue, place, view.mark)
        if number is not None and self.chance.happens(0.5):
            yield from self._pass(queue, place)
        elif self.chance.happens(0.1):
            yield from self._limit(queue)
        return number

    def _limit(self, queue: str) -> Script:
        keep = self.chance.pick(LIMITS)
        outcome = yield Call(lambda to: SetConsumer(to, queue, self.name, keep, inherit=keep is None))
        self.note(outcome)

    def _open(self, queue: str) -> Script:
        outcome = yield Call(lambda to: OpenConsumer(to, queue, self.name))
        self.note(outcome)
        if succeeded(outcome) and not self._is_outdated(outcome):
            view = answer_of(outcome)
            self._places[queue] = _ReaderPosition(view.incarnation, view.cursor, view.cursor, view.cursor)

    def _pass(self, queue: str, place: _ReaderPosition) -> Script:
        place.asked = place.read
        outcome = yield Call(lambda to: MoveConsumer(to, queue, self.name, place.asked, place.incarnation))
        self.note(outcome)
        if succeeded(outcome):
            place.cursor = place.asked

    def _read(self, queue: str, place: _ReaderPosition, mark: int) -> Part[int | None]:
        """Read all messages up to the mark; sometimes read again those that were not committed."""
        after = place.cursor if self.chance.happens(0.4) else place.read
        while True:
            start, limit = after, self.chance.pick((1, 2, 5, 100))
            outcome = yield Call(
                lambda to: ReadFeed(to, queue, start, mark, limit, self.name, place.incarnation)  # noqa: B023
            )
            self.note(outcome)
            if self._is_outdated(outcome):
                return None
            if not succeeded(outcome):
                if outcome.answer is not None and outcome.answer.status is HResult.DATA_LOST:
                    self._refused(outcome.answer, place, after)
                return None
            page: FeedRead = answer_of(outcome)
            self._remember(place, page, after, outcome.turn)
            after = page.reached
            if not page.more:
                place.read = max(place.read, mark)
                return page.queue

    def _is_outdated(self, outcome: Outcome) -> bool:
        """Return whether an answer comes from a store that was replaced by a backup before the answer
        arrived."""
        return self.history.is_forgotten(outcome.turn)

    def _refused(self, answer: Answer, place: _ReaderPosition, after: int) -> None:
        """Check a refusal: it is allowed only after a commit whose answer was lost, or with a
        reported loss."""
        if after >= place.asked and "its limit was passed" in answer.why:
            return
        if after >= place.asked:
            raise Violation(f"feed: {self.name} is refused messages that were kept for it: {answer.why}")
        place.cursor = place.asked

    def _remember(self, place: _ReaderPosition, page: FeedRead, after: int, turn: int) -> None:
        memory = self.history.feeds.get((page.queue, self.name), {})
        rows = {arrival_of(each): row_of(each) for each in page.positions}
        numbers = [arrival_of(each) for each in page.positions]
        if numbers != sorted(set(numbers)) or not all(after < each <= page.reached for each in numbers):
            raise Violation(f"feed: {numbers} is no page of what came after {after} up to {page.reached}")
        before = {number: row for number, row in memory.items() if after < number <= page.reached}
        changed = [number for number, row in before.items() if rows.get(number) != row]
        if changed:
            raise Violation(f"feed: what {self.name} was given under {changed} is another now, or gone")
        late = [number for number in rows if number not in memory and number <= place.read]
        if late:
            raise Violation(f"feed: {late} came to queue {page.queue} when {place.read} was read already")
        self.history.read_feed(page.queue, self.name, rows, turn)
