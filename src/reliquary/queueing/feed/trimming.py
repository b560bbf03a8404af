"""Delete retained messages that every consumer has passed, and those beyond all limits, some in each turn.

The work continues after a restart.
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.base.turn import Continue
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.feed import ages, limits
from reliquary.queueing.feed.events import TrimFeed
from reliquary.queueing.feed.facts import ConsumerDropped, QueueKept, RetainedDropped
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import RETAINED, SEQUENCE_MASK, arrival_key


def trim(state: State, queue: QueueState, now: Instant) -> None:
    """Delete retained positions that no consumer reads any more: some now, the rest in later turns."""
    if not queue.feed.retained:
        return
    more = trim_some(state, queue)
    if not more and queue.feed.consumers and limits.lose_some(state, queue, now):
        more = trim_some(state, queue) or bool(queue.feed.retained)
    if more:
        state.draft.ask(Continue(TrimFeed(queue.number)))


def empty_overfull(state: State, now: Instant) -> None:
    """Bring queues within the limits of their consumers that passed them in this turn."""
    overfull, state.turn.overfull = state.turn.overfull, {}
    for number, queue in overfull.items():
        if number in state.queues:
            trim(state, queue, now)


def on_look(state: State, now: Instant) -> None:
    """Delete what is too old, as far as the consumers have a limit by age."""
    for queue in ages.look(state, now):
        trim(state, queue, now)


def trim_some(state: State, queue: QueueState) -> bool:
    """Delete as many retained positions as one turn may delete; return whether more may be left."""
    passed = queue.feed.pinned if queue.feed.consumers else SEQUENCE_MASK
    first, last = arrival_key(queue.number, queue.feed.trimmed + 1), arrival_key(queue.number, passed + 1)
    rows = state.rows.range(RETAINED, first, last, limit=state.sizes.at_once)
    if rows:
        apply(state, RetainedDropped(queue.number, tuple([position for _, position in rows])))
    return len(rows) == state.sizes.at_once


def go_on(state: State, event: TrimFeed, now: Instant) -> None:
    """Continue to trim a queue in a later turn, if the queue still exists."""
    queue = state.queues.get(event.queue)
    if queue is not None:
        trim(state, queue, now)


def resume(state: State) -> None:
    """Ask for a turn of trimming for each queue with retained positions, and begin to look at ages."""
    for queue in state.queues.values():
        if queue.feed.retained:
            state.draft.ask(Continue(TrimFeed(queue.number)))
    ages.begin(state)


def end_feed(state: State, queue: QueueState) -> None:
    """Drop all consumers of a queue that is being deleted, and their limit."""
    for name in list(queue.feed.consumers):
        apply(state, ConsumerDropped(queue.number, name))
    if queue.feed.keep is not None:
        apply(state, QueueKept(queue.number, None))
