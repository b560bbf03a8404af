"""Write the counters of queues, the reserved numbers and the counts of lost copies, once a batch."""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

from reliquary.base.turn import Fact
from reliquary.queueing.changes.history import keep
from reliquary.queueing.model import facts, tables
from reliquary.queueing.model.feature import Applier
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import COUNTERS, ONLY, SEQUENCE, Copy, Counters, queue_key


def settle(state: State) -> None:
    """Stage the rows that are written once a batch: counters of queues, reserved numbers, the history."""
    for queue in state.totals.dirty:
        queue.counts.dirty = False
        floors = queue.order.floors()
        kept = queue.feed.retained, queue.feed.retained_size
        counters = Counters(
            queue.counts.stored,
            queue.counts.stored_size,
            floors,
            queue.counts.lost,
            queue.counts.delayed,
            *kept,
        )
        state.rows.put(COUNTERS, queue_key(queue.number), counters)
    state.totals.dirty.clear()
    if state.numbers.dirty:
        state.numbers.dirty = False
        sequence = tables.Sequence(
            state.numbers.ceiling, state.deadlines.floor, state.numbers.last_queue, state.totals.lost
        )
        state.rows.put(SEQUENCE, ONLY, sequence)
    if state.history is not None:
        keep(state, state.history)


def _copy_lost(state: State, fact: facts.CopyLost) -> None:
    queue = state.queues.get(fact.queue)
    one = tuple(int(each is fact.copy) for each in Copy)
    if queue is not None:
        queue.counts.lost = add_losses(queue.counts.lost, one)
        state.touch(queue)
    else:
        state.totals.lost = add_losses(state.totals.lost, one)
        state.numbers.dirty = True


def add_losses(some: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
    """Add two counts of lost copies, kind by kind."""
    return tuple(map(sum, zip_longest(some, more, fillvalue=0)))


APPLIERS: Final[dict[type[Fact], Applier]] = {
    facts.CopyLost: _copy_lost,
}
