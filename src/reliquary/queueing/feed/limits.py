"""Let consumers lose the oldest messages, when more is kept for them than their limits allow.

    kept            o   o   o   o   o   o   o            messages that left the queue, by their numbers
    cursors     lake    audit       '-- until here       lake and audit have passed their limits
                    '------------------>'

A message is deleted when each consumer has read it or has passed its limit with it, so that no consumer loses
what would be kept in any case.  Then the cursors move behind it.  Messages before it that still wait in the
queue stay there for applications, but the consumer does not read them any more.  Every loss is a fact, is in
the record of the consumer, and becomes a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.numbering import arrival_of, known_until
from reliquary.queueing.feed import ages, reading
from reliquary.queueing.feed.consumers import limit_of
from reliquary.queueing.feed.facts import ConsumerLost
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import RETAINED, SEQUENCE_MASK, Consumer, Loss, arrival_key


def lose_some(state: State, queue: QueueState, now: Instant) -> bool:
    """Let consumers lose as much beyond their limits as one turn may; return whether they lost anything.

    All that every consumer has passed must be deleted before, because it is still counted.
    """
    until = _beyond(state, queue)
    if not until:
        return False
    after, found = queue.feed.pinned, reading.Page([], queue.feed.pinned)
    while not found.positions:  # the last position of the range is one of them
        found = reading.read(state, queue, after, until, state.sizes.at_once, whole=True)
        after = found.reached
    for name, record in list(queue.feed.consumers.items()):
        lost = [each for each in found.positions if arrival_of(each) > record.cursor]
        if lost:
            apply(state, ConsumerLost(queue.number, name, lessened(record, lost, found.reached, now)))
            state.draft.ask(_warning(state, queue, name, len(lost)))
    return True


def _beyond(state: State, queue: QueueState) -> int:
    """Return the number up to which kept messages have passed all limits, or 0; of a turn's rows at most."""
    readers = [_reader(state, queue, each) for each in queue.feed.consumers.values()]
    if not all(each.limit.is_limit for each in readers if each.cursor == queue.feed.pinned):
        return 0
    first = arrival_key(queue.number, queue.feed.pinned + 1)
    # a cursor stays before a batch that is hidden
    last = arrival_key(queue.number, known_until(queue, SEQUENCE_MASK - 1) + 1)
    kept, size = queue.feed.retained, queue.feed.retained_size
    until = 0
    for _, position in state.rows.range(RETAINED, first, last, limit=state.sizes.at_once):
        number = arrival_of(position)
        if not all(each.may_lose(number, kept, size) for each in readers if each.cursor < number):
            break
        kept, size, until = kept - 1, size - position.size, number
    return until


class _Reader(NamedTuple):
    cursor: int
    limit: Keep
    outdated: int
    """The highest number that has passed the limit by age."""

    def may_lose(self, number: int, kept: int, size: int) -> bool:
        """Return whether a message has passed the limit; `kept` and `size` count the messages from it on."""
        limit = self.limit
        return 0 < limit.count < kept or 0 < limit.bytes < size or number <= self.outdated


def _reader(state: State, queue: QueueState, record: Consumer) -> _Reader:
    limit = limit_of(state, queue, record)
    return _Reader(record.cursor, limit, ages.outdated(state.ages.moments, limit.age) if limit.age else 0)


def lessened(record: Consumer, lost: Sequence[Position], until: int, now: Instant) -> Consumer:
    """Return the record of a consumer that lost messages; losses one after the other become one."""
    size = sum(each.size for each in lost)
    loss, before = Loss(record.cursor, until, len(lost), size, now), record.loss
    if before is not None and before.until == record.cursor:
        loss = Loss(before.after, until, before.messages + len(lost), before.bytes + size, now)
    return msgspec.structs.replace(
        record,
        cursor=until,
        moved=now,
        loss=loss,
        lost=record.lost + len(lost),
        lost_bytes=record.lost_bytes + size,
    )


def _warning(state: State, queue: QueueState, name: str, count: int) -> Warn:
    record = queue.feed.consumers[name]
    assert record.loss is not None
    why = (
        f"consumer {name!r} has passed its limit {limit_of(state, queue, record)}: of what came after"
        f" {record.loss.after} it lost {record.loss.messages} messages, up to {record.loss.until}"
    )
    return Warn(queue.record.pathname, "messages lost for a consumer", why, count)
