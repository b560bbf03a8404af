"""Keep the consumers of queues: named readers of a feed, each with a cursor up to which it has read.

    feed      ...  o   o   o   o   o   o   o   o
    cursors            audit       lake    '-- the mark
                       '-- the lowest cursor: messages after it are kept

While a queue has a consumer, its messages are numbered (`numbering`) and retained (`retention`).
"""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.names.pathnames import check_name
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Consumer

NAME_LIMIT: Final = 120
CONSUMER_LIMIT: Final = 1000
"""The largest number of consumers of one queue."""


def check_consumer(queue: QueueState, name: str) -> None:
    """Refuse a consumer if its name is not allowed or the queue has too many consumers."""
    check_name("the name of a consumer", name, NAME_LIMIT)
    if len(queue.feed.consumers) >= CONSUMER_LIMIT:
        raise UsageError(
            f"a queue has at most {CONSUMER_LIMIT} consumers: drop those of queries that will not come back"
        )


def adopt_consumer(state: State, key: bytes, record: Consumer) -> None:
    """Load a consumer after a restart; the mark covers every number that an earlier process assigned."""
    queue = state.queues[int.from_bytes(key[:4])]
    queue.feed.consumers[key[4:].decode()] = record
    queue.feed.mark = state.numbers.sequence
    pin(state, queue)


def limit_of(state: State, queue: QueueState, record: Consumer) -> Keep:
    """Return the limit of a consumer: its own, or that of its queue, or that of the settings."""
    if record.keep is not None:
        return record.keep
    return state.sizes.keep if queue.feed.keep is None else queue.feed.keep


def pin(state: State, queue: QueueState) -> None:
    """Note the lowest cursor of a queue, after which messages are kept, and the limits of its consumers."""
    consumers = queue.feed.consumers.values()
    queue.feed.pinned = lowest = min((each.cursor for each in consumers), default=0)
    limits = {limit_of(state, queue, each) for each in consumers if each.cursor == lowest}
    bounded = all(each.bytes or each.count for each in limits)
    queue.feed.limits = tuple(sorted(limits, key=msgspec.structs.astuple)) if bounded else ()
