"""Facts made true: in memory and, unless they concern an express message, in the rows."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from typing import Any, Final

from reliquary.base.turn import Fact
from reliquary.queueing import facts
from reliquary.queueing.message import Position
from reliquary.queueing.order import Order
from reliquary.queueing.queue import Queue
from reliquary.queueing.state import QueueState, State
from reliquary.queueing.tables import (
    COUNTERS,
    EXPIRY,
    MANAGER,
    ONLY,
    POSITIONS,
    QUEUES,
    SEQUENCE,
    TRANSACTIONS,
    Counters,
    Expiry,
    Sequence,
    expiry_key,
    position_key,
    queue_key,
    transaction_key,
)


def apply(state: State, fact: Fact) -> None:
    """Make a fact true and say it in this turn."""
    _APPLY[type(fact)](state, fact)
    state.draft.state(fact)


def settle(state: State) -> None:
    """Stage what is kept once a batch: counters, and the numbers that are spoken for."""
    for queue in state.dirty:
        queue.dirty = False
        counters = Counters(queue.stored, queue.stored_size, queue.order.floors())
        state.rows.put(COUNTERS, queue_key(queue.number), counters)
    state.dirty.clear()
    if state.sequence_dirty:
        state.sequence_dirty = False
        state.rows.put(SEQUENCE, ONLY, Sequence(state.ceiling, state.expiry_floor))


def adopt(state: State, record: Queue, counters: Counters, *, locked: int = 0) -> None:
    """Take a queue into memory; `locked` of its rows belong to prepared transactions."""
    order = Order(state.rows, record.number, stored=counters.count - locked, floors=counters.floors)
    state.queues[record.number] = QueueState(record, order, counters.count, counters.size)
    state.total_bytes += counters.size
    state.last_number = max(state.last_number, record.number)
    if not record.is_journal and not record.deleting:
        state.names[state.parse(record.pathname).key] = record.number
        if record.parent is not None:
            state.queues[record.parent].subqueues.add(record.number)


# -- queues


def _manager_named(state: State, fact: facts.ManagerNamed) -> None:
    state.record = fact.record
    state.rows.put(MANAGER, ONLY, fact.record)


def _queue_created(state: State, fact: facts.QueueCreated) -> None:
    state.rows.put(QUEUES, queue_key(fact.queue.number), fact.queue)
    adopt(state, fact.queue, Counters())


def _queue_changed(state: State, fact: facts.QueueChanged) -> None:
    state.rows.put(QUEUES, queue_key(fact.queue.number), fact.queue)
    queue = state.queues[fact.queue.number]
    queue.record = fact.queue
    if fact.queue.deleting:
        _forget_name(state, fact.queue)


def _queue_deleted(state: State, fact: facts.QueueDeleted) -> None:
    queue = state.queues.pop(fact.number)
    assert not queue.stored, f"queue {fact.number} still holds {queue.stored} messages"
    _forget_name(state, queue.record)
    state.rows.delete(QUEUES, queue_key(fact.number))
    state.rows.delete(COUNTERS, queue_key(fact.number))
    if queue.dirty:
        state.dirty.remove(queue)


def _forget_name(state: State, record: Queue) -> None:
    key = state.parse(record.pathname).key
    if state.names.get(key) == record.number:
        del state.names[key]
    if record.parent is not None and record.parent in state.queues:
        state.queues[record.parent].subqueues.discard(record.number)


# -- messages and positions


def _message_stored(state: State, fact: facts.MessageStored) -> None:
    state.shelf.put(fact.position, fact.message, fresh=not fact.prepared)
    queue = state.queues[fact.queue]
    if fact.prepared:
        queue.order.remove(fact.position.lookup_id)
    _place(state, queue, fact.position, fresh=not fact.prepared)


def _position_copied(state: State, fact: facts.PositionCopied) -> None:
    state.shelf.share(fact.position)
    _place(state, state.queues[fact.queue], fact.position, fresh=True)


def _position_moved(state: State, fact: facts.PositionMoved) -> None:
    _displace(state, state.queues[fact.source], fact.position.lookup_id)
    _place(state, state.queues[fact.target], fact.position, fresh=False)


def _position_removed(state: State, fact: facts.PositionRemoved) -> None:
    position = _displace(state, state.queues[fact.queue], fact.position.lookup_id)
    state.shelf.drop(position)


def _place(state: State, queue: QueueState, position: Position, *, fresh: bool) -> None:
    """Put an available position into a queue; `fresh` when there is no such row."""
    number = queue.record.number
    if position.express:
        queue.express_size += position.size
        if position.expires:
            heappush(state.express_expiry, (position.expires, number, position.lookup_id))
    else:
        state.rows.put(POSITIONS, position_key(number, position.lookup_id), position, fresh=fresh)
        if position.expires:
            state.rows.put(EXPIRY, expiry_key(position.expires, number, position.lookup_id), Expiry())
            if position.expires < state.expiry_floor:
                state.expiry_floor = position.expires
                state.sequence_dirty = True
        queue.stored += 1
        queue.stored_size += position.size
        _touch(state, queue)
    state.total_bytes += position.size
    queue.order.add(position)
    state.wake(queue, position.lookup_id)


def _displace(state: State, queue: QueueState, lookup_id: int) -> Position:
    """Take a position out of a queue, available or locked."""
    position = queue.order.remove(lookup_id)
    number = queue.record.number
    if position.express:
        queue.express_size -= position.size
    else:
        state.rows.delete(POSITIONS, position_key(number, lookup_id))
        if position.expires:
            state.rows.delete(EXPIRY, expiry_key(position.expires, number, lookup_id))
        queue.stored -= 1
        queue.stored_size -= position.size
        _touch(state, queue)
    state.total_bytes -= position.size
    if queue.purge_pending:
        queue.purge_pending.discard(lookup_id)
    return position


def _touch(state: State, queue: QueueState) -> None:
    if not queue.dirty:
        queue.dirty = True
        state.dirty.append(queue)


# -- transactions


def _transaction_prepared(state: State, fact: facts.TransactionPrepared) -> None:
    sent = [operation for operation in fact.record.operations if operation.kind == "enqueue"]
    for operation, message in zip(sent, fact.messages, strict=True):
        position = operation.position
        state.shelf.put(position, message)
        state.rows.put(POSITIONS, position_key(operation.queue, position.lookup_id), position, fresh=True)
        state.queues[operation.queue].order.hold(position)
    state.rows.put(TRANSACTIONS, transaction_key(fact.identifier), fact.record)


def _transaction_ended(state: State, fact: facts.TransactionEnded) -> None:
    state.rows.delete(TRANSACTIONS, transaction_key(fact.identifier))


def _prepared_dropped(state: State, fact: facts.PreparedMessageDropped) -> None:
    position = state.queues[fact.queue].order.remove(fact.position.lookup_id)
    state.rows.delete(POSITIONS, position_key(fact.queue, position.lookup_id))
    state.shelf.drop(position)


_APPLY: Final[dict[type[Fact], Callable[[State, Any], None]]] = {
    facts.ManagerNamed: _manager_named,
    facts.QueueCreated: _queue_created,
    facts.QueueChanged: _queue_changed,
    facts.QueueDeleted: _queue_deleted,
    facts.MessageStored: _message_stored,
    facts.PositionCopied: _position_copied,
    facts.PositionMoved: _position_moved,
    facts.PositionRemoved: _position_removed,
    facts.TransactionPrepared: _transaction_prepared,
    facts.TransactionEnded: _transaction_ended,
    facts.PreparedMessageDropped: _prepared_dropped,
}
