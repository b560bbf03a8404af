"""Checks of the owners of messages: each locked message has one owner."""

from __future__ import annotations

from collections import Counter

from reliquary.queueing.model.state import State


def check_locks(state: State) -> None:
    """Check that each position of an owner is locked, and has no other owner."""
    owners: Counter[tuple[int, int]] = Counter()
    for descriptor in state.open.handles.values():
        if descriptor.queue is not None:
            owners.update((descriptor.queue, lookup_id) for lookup_id in descriptor.locked)
    for queue in state.queues.values():
        if queue.link is not None:
            for lookup_id in (*queue.link.sending, *queue.link.accepted, *queue.link.reached):
                owners[queue.number, lookup_id] += 1
    for each in state.transactions.open.values():
        for operation in each.operations:
            if operation.kind != "enqueue" or each.prepared:
                owners[operation.queue, operation.position.lookup_id] += 1
    for reservation in state.travel.reservations.values():
        there = state.queues[reservation.queue].order.locked if reservation.queue in state.queues else {}
        owners.update(
            (reservation.queue, lookup_id) for lookup_id in reservation.lookup_ids if lookup_id in there
        )
    locked = {
        (number, each)
        for number, queue in state.queues.items()
        for each in queue.order.locked
        if not queue.record.deleting
    }
    assert all(count == 1 for count in owners.values()), "held twice"
    assert locked <= set(owners), f"locked for ever: {locked - set(owners)}"
