"""Compares the running manager with a second one that is built from a copy of the disk.

Express messages, open handles and transactions that are only active exist in the process alone: they are
left out, and messages that they locked are available in the second manager.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.parts.transactions import Transaction
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Consumer
from reliquary.queueing.rules.expiry import some_delayed
from reliquary.sim.history import Violation, named, shown
from reliquary.sim.ledger import Key, Ledger


@dataclass(frozen=True, slots=True)
class DurableState:
    """The state that must survive a process."""

    manager: object
    names: dict[str, int]
    queues: dict[int, object]
    subqueues: dict[int, set[int]]
    counters: dict[int, tuple[int, ...]]
    lost: dict[int, tuple[int, ...]]
    """Copies that could not be kept, by queue; 0 is for deleted queues."""
    positions: dict[int, list[Position]]
    """Committed positions in their order, locked or not."""
    hidden: dict[int, set[int]]
    """The messages that prepared transactions and carriers have locked."""
    transactions: dict[UUID, Any]
    outcomes: dict[UUID, Any]
    """The outcomes of the last prepared transactions."""
    staging: object
    """Parts of batches, the ledger, and the owners of writer names."""
    total_bytes: int
    consumers: dict[int, tuple[dict[str, Consumer], bool, Keep | None]]
    """The readers of each feed, whether arrivals are numbered for them, and their limits."""
    moments: object
    """The ages of the messages of feeds."""


Walk = dict[int, list[Position]]
"""The receivable messages of each queue, in its order."""


def walk(state: State) -> Walk:
    """Return the receivable messages of all queues."""
    return {number: list(available(queue)) for number, queue in sorted(state.queues.items())}


def available(queue: QueueState) -> Iterator[Position]:
    """Yield the receivable messages in order; they are read from the end, so that no window is loaded."""
    place = 0
    while (position := queue.order.after(place)) is not None:
        yield position
        place = position.lookup_id


def picture(state: State, walked: Walk) -> DurableState:
    """Return the durable part of a manager's state."""
    prepared = {each.identifier: each for each in state.transactions.open.values() if each.prepared}
    uncommitted = _positions(prepared.values(), "enqueue")
    taken = _positions(prepared.values(), "dequeue", "move") | uncommitted
    taken |= {
        (reservation.queue, each)
        for reservation in state.travel.reservations.values()
        for each in reservation.lookup_ids
    }
    queues = {number: state.queues[number] for number in walked}
    return DurableState(
        manager=state.manager.record,
        names=state.names.by_path,
        queues={number: queue.record for number, queue in queues.items()},
        subqueues={number: queue.subqueues for number, queue in queues.items()},
        counters={
            number: (
                queue.counts.stored,
                queue.counts.stored_size,
                queue.feed.retained,
                queue.feed.retained_size,
            )
            for number, queue in queues.items()
        },
        consumers={
            number: (queue.feed.consumers, queue.feed.mark > 0, queue.feed.keep)
            for number, queue in queues.items()
        },
        moments=state.ages.moments,
        lost={0: state.totals.lost} | {number: queue.counts.lost for number, queue in queues.items()},
        positions={
            number: [
                each
                for each in _held(queue, walked[number])
                if not each.express and (number, each.lookup_id) not in uncommitted
            ]
            for number, queue in queues.items()
        },
        hidden={
            number: {
                each
                for each, position in queue.order.locked.items()
                if (number, each) in taken and not position.express
            }
            for number, queue in queues.items()
        },
        transactions={
            identifier: (each.single_phase, each.owner, each.begun, _kept(each), each.messages)
            for identifier, each in prepared.items()
        },
        outcomes=dict(state.transactions.outcomes),
        staging=(
            state.staging.stages,
            state.staging.ledger,
            state.staging.writers,
            state.staging.batches,
            state.staging.current,
            state.staging.reserved,
            {number: queue.order.hidden for number, queue in queues.items()},
        ),
        total_bytes=sum(queue.counts.stored_size for queue in queues.values()),
    )


def _held(queue: QueueState, walked: list[Position]) -> list[Position]:
    """Return all messages of a queue, available or locked, in its order."""
    return sorted([*walked, *queue.order.locked.values()], key=lambda each: each.lookup_id)


def _kept(transaction: Transaction) -> list[object]:
    return [operation for operation in transaction.operations if not operation.position.express]


def _positions(transactions: Any, *kinds: str) -> set[Key]:
    return {
        (operation.queue, operation.position.lookup_id)
        for transaction in transactions
        for operation in transaction.operations
        if operation.kind in kinds and not operation.position.express
    }


def compare_managers(live: QueueManager, walked: Walk, rebuilt: QueueManager) -> None:
    """Check that the recovered state equals the state of the running manager."""
    again = walk(rebuilt.state)
    one, other = picture(live.state, walked), picture(rebuilt.state, again)
    for name in DurableState.__dataclass_fields__:
        if getattr(one, name) != getattr(other, name):
            raise Violation(
                f"recovery: {name} would come back as {getattr(other, name)}, and is {getattr(one, name)}"
            )
    if rebuilt.state.numbers.sequence < live.state.numbers.sequence:
        raise Violation(
            f"recovery: numbers would go on from {rebuilt.state.numbers.sequence},"
            f" when {live.state.numbers.sequence} are given out"
        )
    for number, queue in rebuilt.state.queues.items():
        if len(queue.order) != len(again[number]):
            raise Violation(f"recovery: queue {number} counts {len(queue.order)}, has {len(again[number])}")


def compare_with_ledger(live: QueueManager, walked: Walk, ledger: Ledger) -> None:
    """Check that the manager's messages are the sum of its facts, express messages included."""
    state = live.state
    hidden = _positions([each for each in state.transactions.open.values() if each.prepared], "enqueue")
    held = {
        number: _held(queue, [*walked[number], *some_delayed(state, queue, -1, limit=1_000_000)])
        for number, queue in state.queues.items()
    }
    found = {
        (number, each.lookup_id): named(state.messages.get(each))
        for number, positions in held.items()
        for each in positions
        if (number, each.lookup_id) not in hidden
    }
    stated = {key: place.body for key, place in ledger.places.items()}
    if found != stated:
        missing = [f"{shown(body)} at {key}" for key, body in stated.items() if found.get(key) != body]
        extra = [f"{shown(body)} at {key}" for key, body in found.items() if stated.get(key) != body]
        raise Violation(f"the manager's queues and its facts differ: missing {missing}, too many {extra}")
    for number, queue in state.queues.items():
        express = sum(each.size for each in held[number] if each.express)
        if (queue.counts.express_size, len(queue.order)) != (express, len(walked[number])):
            raise Violation(f"queue {number} counts its express messages or its length wrongly")
