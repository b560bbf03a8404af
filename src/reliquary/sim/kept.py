"""Computes a second time which messages are kept for readers of feeds: none within a limit is lost, and a
loss is reported.

It takes from the facts alone which messages left their queue, and how often feeds were looked at since
each of them became visible.  It decides by counting, where the manager decides by cursors and marks.  The
number of a message that becomes visible and leaves in one turn is in no fact; it is taken for the
highest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from reliquary.base.turn import Event, Fact
from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.feed.events import MoveConsumer, ResetConsumer
from reliquary.queueing.feed.facts import (
    ConsumerDropped,
    ConsumerLost,
    ConsumerPlaced,
    FeedsLooked,
    QueueKept,
    RetainedDropped,
)
from reliquary.queueing.model import facts
from reliquary.queueing.model.keep import EVERYTHING, Keep
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import Consumer
from reliquary.queueing.staging.facts import StagePublished
from reliquary.sim.history import Violation

UNKNOWN: Final = 1 << 60


@dataclass(slots=True)
class _Message:
    """A message that left its queue."""

    number: int
    size: int
    looks: int
    """The number of looks at feeds before it became visible."""


@dataclass(slots=True)
class _Feed:
    """One queue with its readers."""

    readers: dict[str, Consumer] = field(default_factory=dict)
    keep: Keep | None = None
    visible: dict[int, int] = field(default_factory=dict)
    """For each message in the queue: the number of looks at feeds before it became visible."""
    kept: dict[tuple[int, int], _Message] = field(default_factory=dict)
    """The messages that left the queue, by LookupIdentifier and number."""


class Kept:
    """All feeds of a manager."""

    def __init__(self, default: Keep = EVERYTHING) -> None:
        self._default = default
        self._feeds: dict[int, _Feed] = {}
        self._looks: list[int] = []
        """The time that each look recorded."""
        self._new: set[tuple[int, int]] = set()
        """The messages that became visible in this turn."""

    def begin_turn(self) -> None:
        """Begin a turn: the facts that follow belong to it."""
        self._new.clear()

    def apply(self, fact: Fact, event: Event | None = None) -> None:
        """Apply a fact that is on disk, or will be; `event` is the event of its turn, if that is known."""
        match fact:
            case ConsumerPlaced(queue, name, record):
                self._place(queue, name, record, event)
            case ConsumerLost(queue, name, record):
                self._lose(queue, name, record)
            case ConsumerDropped(queue, name):
                del self._of(queue).readers[name]
            case QueueKept(queue, keep):
                self._of(queue).keep = keep
            case FeedsLooked(moments):
                self._looks.append(moments.elapsed)
            case RetainedDropped(queue, positions):
                self._drop(queue, positions)
            case facts.MessagesStored(queue, positions) | StagePublished(queue=queue, positions=positions):
                self._arrive(queue, [each for each in positions if not each.due])
            case facts.PositionsDue(queue, positions):
                self._arrive(queue, positions)
            case facts.PositionCopied(queue, position):
                self._arrive(queue, [position])
            case facts.PositionMoved(source, target, position):
                self._leave(source, [position])
                self._arrive(target, [position])
            case facts.PositionsRemoved(queue, positions):
                self._leave(queue, positions)
            case _:
                pass

    def _of(self, queue: int) -> _Feed:
        return self._feeds.setdefault(queue, _Feed())

    def _arrive(self, queue: int, positions: list[Position] | tuple[Position, ...]) -> None:
        visible = self._of(queue).visible
        for each in positions:
            if each.lookup_id not in visible:
                visible[each.lookup_id] = len(self._looks)
                self._new.add((queue, each.lookup_id))

    def _leave(self, queue: int, positions: list[Position] | tuple[Position, ...]) -> None:
        feed = self._of(queue)
        lowest = min((each.cursor for each in feed.readers.values()), default=None)
        for each in positions:
            number = UNKNOWN if (queue, each.lookup_id) in self._new else arrival_of(each)
            looks = feed.visible.pop(each.lookup_id, len(self._looks))
            if lowest is not None and number > lowest and not each.express:
                feed.kept[each.lookup_id, number] = _Message(number, each.size, looks)

    def _place(self, queue: int, name: str, record: Consumer, event: Event | None) -> None:
        before = self._of(queue).readers.get(name)
        asked = event is None or isinstance(event, MoveConsumer | ResetConsumer)
        if before is not None and before.cursor != record.cursor and not asked:
            raise Violation(f"feed: {name} of {queue} was moved without a loss, from {before} to {record}")
        self._of(queue).readers[name] = record

    def _lose(self, queue: int, name: str, record: Consumer) -> None:
        feed = self._of(queue)
        before = feed.readers[name]
        own = feed.keep if record.keep is None else record.keep
        limit = self._default if own is None else own
        lost = [each for each in feed.kept.values() if before.cursor < each.number <= record.cursor]
        within = [each for each in lost if not self._is_beyond(feed, limit, each)]
        if within:
            raise Violation(
                f"feed: {name} of queue {queue} lost {within}, which are within its limit {limit}"
            )
        reported = record.lost - before.lost
        if record.loss is None or record.loss.until != record.cursor or not len(lost) <= reported > 0:
            raise Violation(f"feed: {name} of queue {queue} lost {lost}, and its record says only {record}")
        feed.readers[name] = record

    def _is_beyond(self, feed: _Feed, limit: Keep, message: _Message) -> bool:
        rest = [each for each in feed.kept.values() if each.number >= message.number]
        seen = self._looks[message.looks :]
        return (
            0 < limit.count < len(rest)
            or 0 < limit.bytes < sum(each.size for each in rest)
            or (limit.age > 0 and bool(seen) and self._looks[-1] - seen[0] >= limit.age)
        )

    def _drop(self, queue: int, positions: tuple[Position, ...]) -> None:
        feed = self._of(queue)
        for position in positions:
            number = arrival_of(position)
            unread = [name for name, record in feed.readers.items() if record.cursor < number]
            if unread:
                raise Violation(
                    f"feed: {number} of queue {queue} is gone, which {unread} neither read nor lost"
                )
            known = (position.lookup_id, number)
            feed.kept.pop(known if known in feed.kept else (position.lookup_id, UNKNOWN), None)
