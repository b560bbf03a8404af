"""Consumers: named readers of a feed, and how far each of them has come.

    feed      ...  o   o   o   o   o   o   o   o
    cursors            audit       lake    '-- the mark
                       '-- the lowest: nothing behind it is let go of

While a queue has a consumer, its messages are numbered (`numbering`) and kept for him (`retention`).
"""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import UsageError
from reliquary.queueing.feed.facts import ConsumerDropped, ConsumerPlaced
from reliquary.queueing.model.names.pathnames import check_name
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.model.tables import CONSUMERS, Consumer, consumer_key

NAME_LIMIT: Final = 120
CONSUMER_LIMIT: Final = 1000
"""Consumers of one queue."""


def check_consumer(queue: QueueState, name: str) -> None:
    """Refuse a consumer that a queue cannot have."""
    check_name("the name of a consumer", name, NAME_LIMIT)
    if len(queue.consumers) >= CONSUMER_LIMIT:
        raise UsageError(
            f"a queue has at most {CONSUMER_LIMIT} consumers: drop those of queries that will not come back"
        )


def adopt_consumer(state: State, key: bytes, record: Consumer) -> None:
    """Know a reader again after a restart; every number that an earlier process gave out is told."""
    queue = state.queues[int.from_bytes(key[:4])]
    queue.consumers[key[4:].decode()] = record
    queue.mark = state.sequence
    _pin(queue)


def consumer_placed(state: State, fact: ConsumerPlaced) -> None:
    """Apply: he is here now."""
    queue = state.queues[fact.queue]
    state.rows.put(CONSUMERS, consumer_key(fact.queue, fact.name), fact.record)
    queue.consumers[fact.name] = fact.record
    queue.mark = queue.mark or state.sequence or state.next_sequence()  # 0 is for queues that nobody reads
    _pin(queue)


def consumer_dropped(state: State, fact: ConsumerDropped) -> None:
    """Apply: nobody waits for him any more."""
    queue = state.queues[fact.queue]
    state.rows.delete(CONSUMERS, consumer_key(fact.queue, fact.name))
    del queue.consumers[fact.name]
    _pin(queue)
    if not queue.consumers:
        queue.mark = 0


def _pin(queue: QueueState) -> None:
    queue.pinned = min((each.cursor for each in queue.consumers.values()), default=0)
