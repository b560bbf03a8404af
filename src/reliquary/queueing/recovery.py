"""Builds the state of the manager from the rows of the store when the process starts.

Its time depends on the number of queues, prepared transactions, reserved messages and parts of batches,
and not on the number of messages: a row of counters has the totals of each queue, and the order of a queue
reads its rows at the first request for them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import Table, every
from reliquary.queueing.changes import hand_outs
from reliquary.queueing.changes import history as history_rows
from reliquary.queueing.changes.queues import adopt
from reliquary.queueing.feed.consumers import adopt_consumer
from reliquary.queueing.model.history.history import History
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.parts.transactions import Transaction
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import (
    CONSUMERS,
    COUNTERS,
    DIRECTORY,
    KEEPS,
    LEDGER,
    MANAGER,
    MESSAGES,
    MOMENTS,
    ONLY,
    OUTCOMES,
    PAST_THE_END,
    POSITIONS_ALONE,
    PUBLISHING,
    QUEUES,
    RELEASED,
    RESERVATIONS,
    SEQUENCE,
    STAGES,
    TRANSACTIONS,
    WRITERS,
    Counters,
    Moments,
    Operation,
    PreparedTransaction,
    Reservation,
    Sequence,
    expiry_key,
    message_key,
    position_key,
)
from reliquary.queueing.staging import turns


def recover(state: State, *, history: bool = False) -> None:
    """Load the manager's record, the queues, and the transactions and reservations that wait for their
    outcome."""
    known = state.rows.get(MANAGER, ONLY)
    if known is not None:
        state.manager.know(known)  # DM-002
    if history:
        state.history = History(state.sizes.history)
        history_rows.recover(state, state.history)
    else:
        history_rows.leave_off(state.rows)
    if state.manager.record is None:
        _must_be_empty(state)
        return
    sequence = state.rows.get(SEQUENCE, ONLY) or Sequence()
    state.numbers.sequence = state.numbers.ceiling = sequence.ceiling
    state.deadlines.scan = expiry_key(sequence.expiry_floor, 0, 0)
    state.numbers.last_queue = sequence.last_queue
    state.totals.lost = sequence.lost
    hand_outs.recover(state.rows)
    prepared = every(state.rows, TRANSACTIONS)
    locked = _locked(state, [record for _, record in prepared])
    state.travel.reservations = dict(every(state.rows, RESERVATIONS))
    reserved = _reserved_positions(state, state.travel.reservations.values())
    for number, positions in reserved.items():
        locked[number] = locked.get(number, 0) + len(positions)
    for key, record in every(state.rows, QUEUES):
        counters = state.rows.get(COUNTERS, key) or Counters()
        adopt(state, record, counters, locked=locked.get(record.number, 0))  # DM-004
    for key, keep in every(state.rows, KEEPS):
        state.queues[int.from_bytes(key)].feed.keep = keep
    state.ages.moments = state.rows.get(MOMENTS, ONLY) or Moments()
    for key, consumer in every(state.rows, CONSUMERS):
        adopt_consumer(state, key, consumer)
    for number, positions in reserved.items():
        for position in positions:
            state.queues[number].order.add_locked(position, peekable=position.peekable)
    for _, row in every(state.rows, DIRECTORY):
        state.directory.put(row.object)
    for key, transaction in prepared:
        _resume(state, UUID(bytes=key), transaction)
    ended = sorted(every(state.rows, OUTCOMES), key=lambda row: (row[1].ended, row[0]))
    state.messages.bodies.recover()
    state.transactions.outcomes = {UUID(bytes=key): outcome for key, outcome in ended}
    _recover_staging(state)


def _must_be_empty(state: State) -> None:
    """Raise StoreDamage if there are queues or messages, but the record of the manager is lost."""
    tables: tuple[Table[Any], ...] = (QUEUES, COUNTERS, POSITIONS_ALONE, MESSAGES)
    for table in tables:
        if state.rows.range(table, b"", PAST_THE_END, limit=1):
            raise StoreDamage(f"there are rows in {table.name}, but none says whose they are")


def _recover_staging(state: State) -> None:
    """Load the parts of batches, the writers, and the ledger with the longest unused entries first."""
    for key, stage in every(state.rows, STAGES):
        state.staging.put(int.from_bytes(key), stage)
    last = sorted(every(state.rows, LEDGER), key=lambda row: (row[1].moment, row[0]))
    state.staging.ledger = {key.decode(): record for key, record in last}
    state.staging.writers = {key.decode(): writer.query for key, writer in every(state.rows, WRITERS)}
    state.staging.released = {key.decode(): row.era for key, row in every(state.rows, RELEASED)}
    publishing = state.rows.get(PUBLISHING, ONLY)
    if publishing is not None:
        turns.recover(state, publishing)


def _locked(state: State, prepared: list[PreparedTransaction]) -> dict[int, int]:
    """Return for each queue how many of its committed messages prepared transactions have locked."""
    locked: dict[int, int] = {}
    for transaction in prepared:
        for operation in transaction.operations:
            # messages of a queue that was deleted meanwhile are gone
            if operation.kind != "enqueue" and _is_there(state, operation):
                locked[operation.queue] = locked.get(operation.queue, 0) + 1
    return locked


def _reserved_positions(state: State, reservations: Iterable[Reservation]) -> dict[int, list[Position]]:
    """Return the positions that carriers reserved, by queue, without those of queues deleted meanwhile."""
    reserved: dict[int, list[Position]] = {}
    for reservation in reservations:
        found = [_position(state, reservation.queue, each) for each in reservation.lookup_ids]
        reserved.setdefault(reservation.queue, []).extend(filter(None, found))
    return {number: positions for number, positions in reserved.items() if positions}


def _is_there(state: State, operation: Operation) -> bool:
    """Return whether the message of an operation is still in its queue."""
    return _row(state, operation) is not None


def _row(state: State, operation: Operation) -> Position | None:
    """Return the present position of an operation: a purge may have marked it after the prepare."""
    return _position(state, operation.queue, operation.position.lookup_id)


def _position(state: State, queue: int, lookup_id: int) -> Position | None:
    row = state.rows.get(POSITIONS_ALONE, position_key(queue, lookup_id))
    return None if row is None else row.position


def _resume(state: State, identifier: UUID, record: PreparedTransaction) -> None:
    """Restore a prepared transaction, with the locks and the messages that it had."""
    transaction = Transaction(
        identifier,
        state.numbers.next_handle(),
        begun=record.begun,
        owner=record.owner,
        user=record.user,
        external=record.external,
        prepared_at=record.prepared,
    )
    transaction.operations = list(record.operations)
    transaction.prepared = True
    transaction.single_phase = record.single_phase
    for operation in record.operations:
        queue, position = state.queues.get(operation.queue), operation.position
        there = _row(state, operation)
        if queue is not None and there is not None:
            queue.order.add_locked(there, peekable=operation.kind != "enqueue" and there.peekable)
        if operation.kind == "enqueue":
            message = state.rows.get(MESSAGES, message_key(position.message))
            if message is None:
                raise StoreDamage(f"message {position.message} was prepared and has no row")
            transaction.messages[position.message] = message
            transaction.size += position.size
            if queue is not None:
                queue.counts.reserved += position.size
    state.transactions.open[identifier] = transaction
