"""Transactions, [MS-MQDMPR] 3.1.4.3 to 3.1.4.5 and 3.1.7.1.8.

          prepare                       what an active transaction sent is in memory only:
ACTIVE --------------> PREPARED         until prepare or commit there is nothing to sync and
  |                       |             nothing to undo after a crash
  '--- commit, abort ---> (gone) <------'  survives a restart unless it is single-phase (DM-097)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.chance import new_guid
from reliquary.base.hresult import HResult
from reliquary.base.time import Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.queueing import facts
from reliquary.queueing.access import end_wait
from reliquary.queueing.apply import apply
from reliquary.queueing.enqueue import admit
from reliquary.queueing.events import FOREVER_WAIT
from reliquary.queueing.expiry import expire, is_over, release
from reliquary.queueing.leave import bury, leave
from reliquary.queueing.message import MessageClass
from reliquary.queueing.state import QueueState, State, Transaction
from reliquary.queueing.tables import Operation, PreparedTransaction


class Stage(Enum):
    """Where a transaction stands; one that is not known has ended or never was."""

    ACTIVE = "active"
    PREPARED = "prepared"
    UNKNOWN = "unknown"


class Step(Enum):
    """What can be asked of a transaction."""

    USE = "use"
    PREPARE = "prepare"
    COMMIT = "commit"
    ABORT = "abort"


ALLOWED: Final[Mapping[tuple[Stage, Step], bool]] = {
    (Stage.ACTIVE, Step.USE): True,
    (Stage.ACTIVE, Step.PREPARE): True,
    (Stage.ACTIVE, Step.COMMIT): True,
    (Stage.ACTIVE, Step.ABORT): True,
    (Stage.PREPARED, Step.USE): False,
    (Stage.PREPARED, Step.PREPARE): True,  # asked again after a lost answer: nothing to do
    (Stage.PREPARED, Step.COMMIT): True,
    (Stage.PREPARED, Step.ABORT): True,
    (Stage.UNKNOWN, Step.USE): False,
    (Stage.UNKNOWN, Step.PREPARE): False,  # DM-101
    (Stage.UNKNOWN, Step.COMMIT): False,  # DM-106
    (Stage.UNKNOWN, Step.ABORT): False,  # DM-112
}


def stage(transaction: Transaction | None) -> Stage:
    """Where a transaction stands."""
    if transaction is None:
        return Stage.UNKNOWN
    return Stage.PREPARED if transaction.prepared else Stage.ACTIVE


def begin(state: State, timeout: Duration, identifier: UUID | None = None) -> Transaction:
    """Create Transaction (DM-186); an id that is known already names the same one (AN-30)."""
    identifier = identifier or new_guid(state.chance)
    known = state.transactions.get(identifier)
    if known is not None:
        return known
    transaction = Transaction(identifier, state.next_handle(), timeout)
    state.transactions[identifier] = transaction
    _renew(state, transaction)
    return transaction


def find(state: State, identifier: UUID, step: Step) -> Transaction | None:
    """The transaction, if this may be asked of it; else MQ_ERROR_TRANSACTION_SEQUENCE is due."""
    transaction = state.transactions.get(identifier)
    if not ALLOWED[stage(transaction), step]:
        return None
    assert transaction is not None
    _renew(state, transaction)
    return transaction


def _renew(state: State, transaction: Transaction) -> None:
    if transaction.timeout != FOREVER_WAIT:
        state.draft.ask(SetTimer(("transaction", transaction.timer), transaction.timeout))


def on_timer(state: State, timer: int, now: Instant) -> None:
    """Nobody touched an active transaction for too long; a prepared one waits for its outcome."""
    for transaction in list(state.transactions.values()):
        if transaction.timer == timer and not transaction.prepared:
            abort(state, transaction, now)


def prepare(state: State, transaction: Transaction, now: Instant, *, single_phase: bool) -> None:
    """Transaction Prepare: everything it did is on disk, and shows only when it commits."""
    if transaction.prepared:
        return
    # DEPARTS from 3.1.4.3 (AN-29): the transaction is known before SinglePhase is set, and the
    # flags go to the first and the last message it sent, because a receive carries none.
    transaction.single_phase = single_phase  # DM-102
    _mark_ends(transaction)
    kept = tuple(operation for operation in transaction.operations if not operation.position.express)
    messages = tuple(
        transaction.messages[operation.position.message] for operation in kept if operation.kind == "enqueue"
    )
    record = PreparedTransaction(kept, single_phase, now)
    apply(state, facts.TransactionPrepared(transaction.identifier, record, messages))
    transaction.prepared = True
    _end_waits(state, transaction)  # what they received would not be in the record
    if transaction.timeout != FOREVER_WAIT:
        state.draft.ask(CancelTimer(("transaction", transaction.timer)))


def _mark_ends(transaction: Transaction) -> None:
    """FirstInTransaction and LastInTransaction (DM-103, DM-104)."""
    numbers = list(transaction.messages)
    if not numbers:
        return
    first, last = numbers[0], numbers[-1]
    replace = msgspec.structs.replace
    transaction.messages[first] = replace(transaction.messages[first], first_in_transaction=True)
    transaction.messages[last] = replace(transaction.messages[last], last_in_transaction=True)


def commit(state: State, transaction: Transaction, now: Instant) -> None:
    """Transaction Commit: the operations take effect, first in, first out (DM-107)."""
    if not transaction.prepared:
        _mark_ends(transaction)
    _detach(state, transaction, committed=True)
    for operation in transaction.operations:
        _COMMIT[operation.kind](state, transaction, operation, now)


def abort(state: State, transaction: Transaction, now: Instant) -> None:
    """Transaction Abort: the operations are undone (DM-116)."""
    _detach(state, transaction, committed=False)
    for operation in transaction.operations:
        queue = state.queues.get(operation.queue)
        if operation.kind == "enqueue":
            if queue is not None:
                queue.reserved -= operation.position.size
            if transaction.prepared:
                apply(state, facts.PreparedMessageDropped(operation.queue, operation.position))  # DM-115
        elif queue is not None and operation.position.lookup_id in queue.order.locked:
            release(state, queue, operation.position.lookup_id, now)


def mark_purged(state: State, queue: QueueState) -> None:
    """PurgePending outlives a restart where a prepared transaction has the message (DM-040)."""
    for transaction in state.transactions.values():
        operations = [
            msgspec.structs.replace(operation, purged=True)
            if operation.queue == queue.number and operation.kind != "enqueue"
            else operation
            for operation in transaction.operations
        ]
        if operations == transaction.operations:
            continue
        transaction.operations = operations
        if transaction.prepared:
            kept = tuple(operation for operation in operations if not operation.position.express)
            apply(state, facts.OperationsPurged(transaction.identifier, kept))


def uncommitted(state: State, queue: QueueState) -> set[int]:
    """The locked positions that were only sent in a prepared transaction."""
    return {
        operation.position.lookup_id
        for transaction in state.transactions.values()
        for operation in transaction.operations
        if transaction.prepared and operation.kind == "enqueue" and operation.queue == queue.number
    }


def _detach(state: State, transaction: Transaction, *, committed: bool) -> None:
    """The transaction is known no longer, and nobody waits inside it (DM-111)."""
    del state.transactions[transaction.identifier]
    if transaction.prepared:
        apply(state, facts.TransactionEnded(transaction.identifier, committed))
    if transaction.timeout != FOREVER_WAIT:
        state.draft.ask(CancelTimer(("transaction", transaction.timer)))
    _end_waits(state, transaction)


def _end_waits(state: State, transaction: Transaction) -> None:
    for queue in state.queues.values():
        for waiter in [each for each in queue.waiting.values() if each.transaction == transaction.identifier]:
            end_wait(state, queue, waiter, HResult.TRANSACTION_SEQUENCE)


def _commit_enqueue(state: State, transaction: Transaction, operation: Operation, now: Instant) -> None:
    """DM-108."""
    queue, position = state.queues.get(operation.queue), operation.position
    message = transaction.messages[position.message]
    if queue is None:
        if transaction.prepared:
            apply(state, facts.PreparedMessageDropped(operation.queue, position))
        bury(state, message, position, MessageClass.NACK_BAD_DEST_QUEUE)
        return
    queue.reserved -= position.size
    admit(state, queue, (position,), (message,), now, prepared=transaction.prepared)
    stored = queue.order.get(position.lookup_id)
    assert stored is not None
    if queue.record.deleting:
        leave(state, queue, (stored,), MessageClass.NACK_QUEUE_DELETED)
    elif is_over(stored, now):  # AN-46, DM-296
        expire(state, queue, stored)


def _commit_dequeue(state: State, _: Transaction, operation: Operation, now: Instant) -> None:
    """DM-109; a message that went with its queue meanwhile is not there to be deleted."""
    del now
    queue = state.queues.get(operation.queue)
    if queue is not None and operation.position.lookup_id in queue.order.locked:
        leave(state, queue, (operation.position,), operation.reason)


def _commit_move(state: State, _: Transaction, operation: Operation, now: Instant) -> None:
    """DM-110; into a queue that is gone meanwhile, nothing moves."""
    queue, target = state.queues.get(operation.queue), state.queues.get(operation.target)
    if queue is None or operation.position.lookup_id not in queue.order.locked:
        return
    if target is None or target.record.deleting:
        release(state, queue, operation.position.lookup_id, now)
    else:
        move(state, queue, target, operation.position.lookup_id)
        if is_over(operation.position, now):  # AN-09: it was locked when its timer fired
            expire(state, target, operation.position)


def move(state: State, queue: QueueState, target: QueueState, lookup_id: int) -> None:
    """Put a message into another queue; it keeps its LookupIdentifier (AN-13)."""
    # DEPARTS from 3.1.7.1.16 (AN-12, AN-14): the source gives up the position and its bytes, and
    # readers of a system queue are woken too, because both would be wrong ever after.
    position = queue.order.get(lookup_id)
    assert position is not None
    apply(state, facts.PositionMoved(queue.number, target.number, position, MessageClass.NORMAL))


_COMMIT: Final = {"enqueue": _commit_enqueue, "dequeue": _commit_dequeue, "move": _commit_move}
