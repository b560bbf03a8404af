"""The names of queues as administrators read and write them."""

from __future__ import annotations

from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State


def name_of(state: State, queue: QueueState) -> str:
    """Return the short name of a queue; for an outgoing queue, the whole name of its destination."""
    if queue.record.outgoing:
        return queue.record.pathname
    return str(state.parse(queue.record.pathname)).removeprefix("private$\\")
