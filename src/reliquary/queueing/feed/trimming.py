"""Delete retained messages that every consumer has passed, some in each turn.

The work continues after a restart.
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Continue
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.feed.events import TrimFeed
from reliquary.queueing.feed.facts import ConsumerDropped, RetainedDropped
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import RETAINED, SEQUENCE_MASK, arrival_key


def trim(state: State, queue: QueueState) -> None:
    """Delete retained positions that every consumer has passed: some now, the rest in later turns."""
    if queue.feed.retained and trim_some(state, queue):
        state.draft.ask(Continue(TrimFeed(queue.number)))


def trim_some(state: State, queue: QueueState) -> bool:
    """Delete as many retained positions as one turn may; return whether there may be more."""
    passed = queue.feed.pinned if queue.feed.consumers else SEQUENCE_MASK
    first, last = arrival_key(queue.number, queue.feed.trimmed + 1), arrival_key(queue.number, passed + 1)
    rows = state.rows.range(RETAINED, first, last, limit=state.sizes.at_once)
    if rows:
        apply(state, RetainedDropped(queue.number, tuple([position for _, position in rows])))
    return len(rows) == state.sizes.at_once


def go_on(state: State, event: TrimFeed, now: Instant) -> None:
    """Continue to trim a queue in a later turn, if the queue still exists."""
    del now
    queue = state.queues.get(event.queue)
    if queue is not None:
        trim(state, queue)


def resume(state: State) -> None:
    """Ask for a turn of trimming for each queue in which an earlier process left retained positions."""
    for queue in state.queues.values():
        if queue.feed.retained:
            state.draft.ask(Continue(TrimFeed(queue.number)))


def end_feed(state: State, queue: QueueState) -> None:
    """Drop all consumers of a queue that is being deleted."""
    for name in list(queue.feed.consumers):
        apply(state, ConsumerDropped(queue.number, name))
