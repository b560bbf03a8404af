"""Consumers: named readers of a feed, and how far each of them has come.

    feed      ...  o   o   o   o   o   o   o   o
    cursors            audit       lake    '-- the mark
                       '-- the lowest: nothing behind it is let go of

While a queue has a consumer, its messages are numbered (`numbering`) and kept for him (`retention`).
"""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import UsageError
from reliquary.queueing.model.names.pathnames import check_name
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.model.tables import Consumer

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
    pin(queue)


def pin(queue: QueueState) -> None:
    """Note the lowest cursor of a queue: what arrived later is kept."""
    queue.pinned = min((each.cursor for each in queue.consumers.values()), default=0)
