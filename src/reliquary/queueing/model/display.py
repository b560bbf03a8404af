"""Names of queues as administrators read and write them."""

from __future__ import annotations

from reliquary.queueing.model.state import QueueState, State


def name_of(state: State, queue: QueueState) -> str:
    """The short name of a queue; of an outgoing queue, its destination's whole name."""
    if queue.record.outgoing:
        return queue.record.pathname
    return str(state.parse(queue.record.pathname)).removeprefix("private$\\")
