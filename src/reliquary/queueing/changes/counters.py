"""Counters of queues and reserved numbers, which are written once a batch, and the copies that were lost."""

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
    """Stage what is kept once a batch: counters, and the numbers that are spoken for."""
    for queue in state.dirty:
        queue.dirty = False
        floors = queue.order.floors()
        kept = queue.retained, queue.retained_size
        counters = Counters(queue.stored, queue.stored_size, floors, queue.lost, queue.delayed, *kept)
        state.rows.put(COUNTERS, queue_key(queue.number), counters)
    state.dirty.clear()
    if state.sequence_dirty:
        state.sequence_dirty = False
        sequence = tables.Sequence(state.ceiling, state.expiry_floor, state.last_number, state.lost)
        state.rows.put(SEQUENCE, ONLY, sequence)
    if state.history is not None:
        keep(state, state.history)


def _copy_lost(state: State, fact: facts.CopyLost) -> None:
    queue = state.queues.get(fact.queue)
    one = tuple(int(each is fact.copy) for each in Copy)
    if queue is not None:
        queue.lost = add_losses(queue.lost, one)
        state.touch(queue)
    else:
        state.lost = add_losses(state.lost, one)
        state.sequence_dirty = True


def add_losses(some: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
    """Add two counts of lost copies, kind by kind."""
    return tuple(map(sum, zip_longest(some, more, fillvalue=0)))


APPLIERS: Final[dict[type[Fact], Applier]] = {
    facts.CopyLost: _copy_lost,
}
