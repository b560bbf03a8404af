"""Apply facts about consumers and the messages that are kept for them, in memory and in the rows."""

from __future__ import annotations

from typing import Final

from reliquary.base.turn import Fact
from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.changes.retention import count_retained
from reliquary.queueing.feed.consumers import pin
from reliquary.queueing.feed.facts import (
    ConsumerDropped,
    ConsumerLost,
    ConsumerPlaced,
    FeedsLooked,
    QueueKept,
    RetainedDropped,
)
from reliquary.queueing.model.feature import Applier
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import (
    CONSUMERS,
    KEEPS,
    MOMENTS,
    ONLY,
    RETAINED,
    arrival_key,
    consumer_key,
    queue_key,
)


def _consumer_placed(state: State, fact: ConsumerPlaced | ConsumerLost) -> None:
    queue = state.queues[fact.queue]
    state.rows.put(CONSUMERS, consumer_key(fact.queue, fact.name), fact.record)
    queue.feed.consumers[fact.name] = fact.record
    queue.feed.mark = (
        queue.feed.mark or state.numbers.sequence or state.numbers.next_sequence()
    )  # 0 means: no consumers
    pin(state, queue)


def _consumer_dropped(state: State, fact: ConsumerDropped) -> None:
    queue = state.queues[fact.queue]
    state.rows.delete(CONSUMERS, consumer_key(fact.queue, fact.name))
    del queue.feed.consumers[fact.name]
    pin(state, queue)
    if not queue.feed.consumers:
        queue.feed.mark = 0


def _queue_kept(state: State, fact: QueueKept) -> None:
    queue = state.queues[fact.queue]
    if fact.keep is None:
        state.rows.delete(KEEPS, queue_key(fact.queue))
    else:
        state.rows.put(KEEPS, queue_key(fact.queue), fact.keep)
    queue.feed.keep = fact.keep
    pin(state, queue)


def _feeds_looked(state: State, fact: FeedsLooked) -> None:
    state.rows.put(MOMENTS, ONLY, fact.moments)
    state.ages.moments = fact.moments


def _retained_dropped(state: State, fact: RetainedDropped) -> None:
    queue = state.queues[fact.queue]
    keys = [arrival_key(fact.queue, arrival_of(position)) for position in fact.positions]
    state.rows.delete_all(RETAINED, keys)
    queue.feed.trimmed = arrival_of(fact.positions[-1])
    count_retained(state, queue, fact.positions, -1)
    state.messages.drop(fact.positions)


APPLIERS: Final[dict[type[Fact], Applier]] = {
    ConsumerPlaced: _consumer_placed,
    ConsumerLost: _consumer_placed,
    QueueKept: _queue_kept,
    FeedsLooked: _feeds_looked,
    ConsumerDropped: _consumer_dropped,
    RetainedDropped: _retained_dropped,
}
