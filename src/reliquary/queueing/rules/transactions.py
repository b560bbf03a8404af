"""Begin, prepare, commit and abort transactions, [MS-MQDMPR] 3.1.4.3 to 3.1.4.5 and 3.1.7.1.8.

          prepare                  the messages of an active transaction are in memory only:
ACTIVE ------------> PREPARED      until prepare or commit there is nothing to sync, and
 |   |                |    |       nothing to undo after a crash; a prepared transaction
 |   '-- commit, abort --> (gone)  survives a restart unless it is single-phase (DM-097)
 |                         |    |
 '-- a queue it used       '-> COMMITTED, ABORTED   outcomes of prepared ones are remembered
     is deleted --> UNDONE
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from enum import Enum
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.chance import new_guid
from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Duration, Instant
from reliquary.base.turn import CancelTimer, Continue, SetTimer
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import FOREVER_WAIT, Answer, EmptyQueue
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.parts.transactions import Transaction
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Operation, PreparedTransaction
from reliquary.queueing.model.waiting import WaitingReadEvent
from reliquary.queueing.rules.enqueue import admit
from reliquary.queueing.rules.expiry import expire, is_over, release
from reliquary.queueing.rules.handles import end_wait
from reliquary.queueing.rules.leave import leave, move_to_dead_letters
from reliquary.queueing.rules.outcomes import describe_outcome, remember
from reliquary.queueing.rules.poison import give_back, moved


class TransactionState(Enum):
    """The stage of a transaction; an UNKNOWN one has ended or never existed (DM-101, DM-106, DM-112)."""

    ACTIVE = "active"
    PREPARED = "prepared"
    UNDONE = "undone"
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


def transaction_of(given: str) -> UUID:
    """Return the transaction id that a request gives as text; refuse what is no GUID."""
    try:
        return UUID(given)
    except ValueError:
        raise UsageError(f"a transaction's id is a GUID, not {given[:80]!r}") from None


class TransactionEvent(Enum):
    """The requests that a transaction can get."""

    BEGIN = "begin"
    USE = "use"
    PREPARE = "prepare"
    COMMIT = "commit"
    ABORT = "abort"


ALLOWED: Final[Mapping[tuple[TransactionState, TransactionEvent], bool]] = {
    (TransactionState.ACTIVE, TransactionEvent.BEGIN): True,  # AN-30: it returns the known transaction
    (TransactionState.ACTIVE, TransactionEvent.USE): True,
    (TransactionState.ACTIVE, TransactionEvent.PREPARE): True,
    (TransactionState.ACTIVE, TransactionEvent.COMMIT): True,
    (TransactionState.ACTIVE, TransactionEvent.ABORT): True,
    (TransactionState.PREPARED, TransactionEvent.BEGIN): True,  # AN-30
    (TransactionState.PREPARED, TransactionEvent.USE): False,
    (
        TransactionState.PREPARED,
        TransactionEvent.PREPARE,
    ): True,  # asked again after a lost answer: nothing to do
    (TransactionState.PREPARED, TransactionEvent.COMMIT): True,
    (TransactionState.PREPARED, TransactionEvent.ABORT): True,
    (TransactionState.UNDONE, TransactionEvent.BEGIN): False,
    (TransactionState.UNDONE, TransactionEvent.USE): False,
    (TransactionState.UNDONE, TransactionEvent.PREPARE): False,
    (TransactionState.UNDONE, TransactionEvent.COMMIT): False,
    (TransactionState.UNDONE, TransactionEvent.ABORT): True,
    (TransactionState.COMMITTED, TransactionEvent.BEGIN): False,
    (TransactionState.COMMITTED, TransactionEvent.USE): False,
    (TransactionState.COMMITTED, TransactionEvent.PREPARE): False,
    (
        TransactionState.COMMITTED,
        TransactionEvent.COMMIT,
    ): True,  # asked again after a lost answer: nothing to do
    (TransactionState.COMMITTED, TransactionEvent.ABORT): False,
    (TransactionState.ABORTED, TransactionEvent.BEGIN): False,
    (TransactionState.ABORTED, TransactionEvent.USE): False,
    (TransactionState.ABORTED, TransactionEvent.PREPARE): False,
    (TransactionState.ABORTED, TransactionEvent.COMMIT): False,
    (
        TransactionState.ABORTED,
        TransactionEvent.ABORT,
    ): True,  # asked again after a lost answer: nothing to do
    (TransactionState.UNKNOWN, TransactionEvent.BEGIN): True,
    (TransactionState.UNKNOWN, TransactionEvent.USE): False,
    (TransactionState.UNKNOWN, TransactionEvent.PREPARE): False,  # DM-101
    (TransactionState.UNKNOWN, TransactionEvent.COMMIT): False,  # DM-106
    (TransactionState.UNKNOWN, TransactionEvent.ABORT): False,  # DM-112
}
"""Whether a transaction in this stage accepts this request."""


def stage(state: State, identifier: UUID) -> TransactionState:
    """Return the stage of a transaction, also of one that has ended or is not known."""
    transaction = state.transactions.open.get(identifier)
    if transaction is not None:
        if transaction.prepared:
            return TransactionState.PREPARED
        return TransactionState.UNDONE if transaction.undone else TransactionState.ACTIVE
    outcome = state.transactions.outcomes.get(identifier)
    if outcome is None:
        return TransactionState.UNKNOWN
    return TransactionState.COMMITTED if outcome.committed else TransactionState.ABORTED


def may(state: State, identifier: UUID, step: TransactionEvent) -> bool:
    """Return whether a transaction accepts this request; if not, answer with `refusal`."""
    return ALLOWED[stage(state, identifier), step]


def refusal(state: State, identifier: UUID) -> Answer:
    """Return MQ_ERROR_TRANSACTION_SEQUENCE with the reason in words (DM-101, DM-106, DM-112)."""
    return Answer(HResult.TRANSACTION_SEQUENCE, _describe_stage(state, identifier))


def _describe_stage(state: State, identifier: UUID) -> str:
    """Return a sentence about the stage of a transaction that refuses a request."""
    match stage(state, identifier):
        case TransactionState.COMMITTED | TransactionState.ABORTED:
            return describe_outcome(identifier, state.transactions.outcomes[identifier])
        case TransactionState.UNDONE:
            return state.transactions.open[identifier].undone
        case TransactionState.PREPARED:
            return f"transaction {identifier} is prepared and takes nothing more, only its outcome"
        case TransactionState.ACTIVE | TransactionState.UNKNOWN:
            return f"transaction {identifier} is not known: it has ended, or was never begun"


def begin(
    state: State, timeout: Duration, now: Instant, identifier: UUID | None = None, owner: str = ""
) -> Transaction:
    """Create a transaction (DM-186), or return the existing one with this id (AN-30)."""
    external = identifier is not None
    identifier = identifier or new_guid(state.chance)
    known = state.transactions.open.get(identifier)
    if known is not None:
        return known
    transaction = Transaction(
        identifier,
        state.numbers.next_handle(),
        timeout,
        single_phase=not external,  # AN-30
        external=external,
        owner=owner,
        user="" if state.turn.by is MANAGER else str(state.turn.by.user),
        begun=now,
    )
    state.transactions.open[identifier] = transaction
    _renew(state, transaction)
    return transaction


def has_too_many(state: State, identifier: UUID | None) -> bool:
    """Return whether the caller has too many open transactions to begin another one.

    A transaction that exists already is no new one.  The transactions of the user are counted only when the
    manager as a whole has reached the limit.
    """
    limit = state.sizes.transactions
    if (
        state.turn.by is MANAGER
        or len(state.transactions.open) < limit
        or identifier in state.transactions.open
    ):
        return False
    user = str(state.turn.by.user)
    return sum(each.user == user for each in state.transactions.open.values()) >= limit


def find(state: State, identifier: UUID, step: TransactionEvent) -> Transaction | None:
    """Return a transaction that accepts this request and start its timer again; otherwise return None."""
    transaction = state.transactions.open.get(identifier)
    if transaction is None or not may(state, identifier, step):
        return None
    _renew(state, transaction)
    return transaction


def _renew(state: State, transaction: Transaction) -> None:
    """Start the timer of a transaction again, if it has a time limit."""
    if transaction.timeout != FOREVER_WAIT:
        state.draft.ask(SetTimer(("transaction", transaction.timer), transaction.timeout))


def on_timer(state: State, timer: int, now: Instant) -> None:
    """Abort an active transaction that was not used for too long; a prepared one waits for its outcome."""
    for transaction in list(state.transactions.open.values()):
        if transaction.timer == timer and not transaction.prepared:
            abort(state, transaction, now)


def prepare(state: State, transaction: Transaction, now: Instant, *, single_phase: bool) -> None:
    """Write the operations of a transaction to disk (Transaction Prepare); a commit makes them visible.

    Operations on express messages are not written.
    """
    if transaction.prepared:
        return
    # DEPARTS from 3.1.4.3 (AN-29): the transaction is known before SinglePhase is set, and the
    # flags go to the first and the last message it sent, because a receive carries none.
    transaction.single_phase = single_phase  # DM-102
    _mark_ends(transaction)
    transaction.operations = [_with_message_apart(operation) for operation in transaction.operations]
    kept = tuple(operation for operation in transaction.operations if not operation.position.express)
    messages = tuple(
        transaction.messages[operation.position.message] for operation in kept if operation.kind == "enqueue"
    )
    record = PreparedTransaction(
        kept, single_phase, now, transaction.begun, transaction.owner, transaction.external, transaction.user
    )
    apply(state, facts.TransactionPrepared(transaction.identifier, record, messages))
    transaction.prepared = True
    transaction.prepared_at = now
    _end_waits(state, transaction)  # messages that a waiting read received later would not be in the record
    if transaction.timeout != FOREVER_WAIT:
        state.draft.ask(CancelTimer(("transaction", transaction.timer)))


def _with_message_apart(operation: Operation) -> Operation:
    """Return the operation; a message that it sends gets its row now, and its place in a queue later."""
    if operation.kind != "enqueue":
        return operation
    return msgspec.structs.replace(
        operation, position=msgspec.structs.replace(operation.position, inline_in=0)
    )


def _mark_ends(transaction: Transaction) -> None:
    """Set FirstInTransaction and LastInTransaction on the messages it sends (DM-103, DM-104)."""
    numbers = list(transaction.messages)
    if not numbers:
        return
    first, last = numbers[0], numbers[-1]
    transaction.messages[first] = transaction.messages[first].changed(first_in_transaction=True)
    transaction.messages[last] = transaction.messages[last].changed(last_in_transaction=True)


def commit(state: State, transaction: Transaction, now: Instant, by: str = "") -> None:
    """Let the operations of a transaction take effect in their order (Transaction Commit, DM-107)."""
    if not transaction.prepared:
        _mark_ends(transaction)
    _detach(state, transaction, now, committed=True, by=by)
    for operation in transaction.operations:
        _COMMIT[operation.kind](state, transaction, operation, now)
    _continue_deletes(state, transaction)


def abort(state: State, transaction: Transaction, now: Instant, by: str = "") -> None:
    """Undo the operations of a transaction (Transaction Abort, DM-116)."""
    _detach(state, transaction, now, committed=False, by=by)
    _undo(state, transaction, now)
    _continue_deletes(state, transaction)


def undo_users(state: State, queues: Container[int], now: Instant, why: str) -> None:
    """Undo the active transactions that used one of these queues, which are being deleted.

    An undone transaction can no longer commit, and the answer to its commit says why: otherwise it would
    confirm messages that were removed together with the queue.  A prepared transaction keeps its messages,
    because prepare promised that it can commit; the queue is deleted after it has ended.
    """
    for transaction in state.transactions.open.values():
        used = any(each.queue in queues or each.target in queues for each in transaction.operations)
        if used and not transaction.prepared:
            _end_waits(state, transaction)
            _undo(state, transaction, now)
            transaction.operations.clear()
            transaction.messages.clear()
            transaction.size = 0
            transaction.undone = f"transaction {transaction.identifier} was undone: {why}"


def _undo(state: State, transaction: Transaction, now: Instant) -> None:
    """Drop what a transaction sent, and unlock what it received or was to move."""
    for operation in transaction.operations:
        queue = state.queues.get(operation.queue)
        if operation.kind == "enqueue":
            if queue is not None:
                queue.counts.reserved -= operation.position.size
                state.note_room(queue)
            if transaction.prepared:
                apply(state, facts.PreparedMessageDropped(operation.queue, operation.position))  # DM-115
        elif queue is not None and operation.position.lookup_id in queue.order.locked:
            give_back(state, queue, (operation.position.lookup_id,), now)


def uncommitted(state: State, queue: QueueState) -> set[int]:
    """Return the positions of messages that prepared transactions have sent to this queue."""
    return {
        operation.position.lookup_id
        for transaction in state.transactions.open.values()
        for operation in transaction.operations
        if transaction.prepared and operation.kind == "enqueue" and operation.queue == queue.number
    }


def promised(state: State, queue: QueueState) -> set[int]:
    """Return the positions that prepared transactions have received from this queue or move out of it."""
    return {
        operation.position.lookup_id
        for transaction in state.transactions.open.values()
        for operation in transaction.operations
        if transaction.prepared and operation.kind != "enqueue" and operation.queue == queue.number
    }


def _continue_deletes(state: State, transaction: Transaction) -> None:
    """Go on with the deletion of queues that waited for the end of this prepared transaction."""
    if not transaction.prepared:
        return
    for number in {operation.queue: None for operation in transaction.operations}:
        queue = state.queues.get(number)
        if queue is not None and queue.record.deleting:
            more = EmptyQueue(0, number, MessageClass.NACK_QUEUE_DELETED, state.numbers.sequence)
            state.draft.ask(Continue(more))


def _detach(state: State, transaction: Transaction, now: Instant, *, committed: bool, by: str) -> None:
    """Remove a transaction and end the reads that wait in it; a prepared one leaves its outcome (DM-111)."""
    del state.transactions.open[transaction.identifier]
    if transaction.prepared:
        remember(state, transaction, now, committed=committed, by=by)
    if transaction.timeout != FOREVER_WAIT:
        state.draft.ask(CancelTimer(("transaction", transaction.timer)))
    _end_waits(state, transaction)


def _end_waits(state: State, transaction: Transaction) -> None:
    """End all reads that wait for a message in this transaction."""
    for queue in state.queues.values():
        for waiter in [
            each for each in queue.readers.waiting.values() if each.transaction == transaction.identifier
        ]:
            end_wait(state, queue, waiter, WaitingReadEvent.TRANSACTION_ENDED)


def _commit_enqueue(state: State, transaction: Transaction, operation: Operation, now: Instant) -> None:
    """Put a sent message into its queue; a deleted queue makes it a dead letter, if it asks so (DM-108)."""
    queue, position = state.queues.get(operation.queue), operation.position
    message = transaction.messages[position.message]
    if queue is None:
        if transaction.prepared:
            apply(state, facts.PreparedMessageDropped(operation.queue, position))
        move_to_dead_letters(state, message, position, MessageClass.NACK_BAD_DEST_QUEUE)
        return
    queue.counts.reserved -= position.size
    if position.due <= now or queue.record.deleting:
        position = msgspec.structs.replace(position, due=0)
    admit(state, queue, (position,), (message,), now, prepared=transaction.prepared)
    stored = queue.order.get(position.lookup_id)
    if stored is None:  # it is delayed: the timer handles it, or the deletion of the queue
        return
    if queue.record.deleting:
        leave(state, queue, (stored,), MessageClass.NACK_QUEUE_DELETED)
    elif is_over(stored, now):  # AN-46, DM-296
        expire(state, queue, stored)


def _commit_dequeue(state: State, _: Transaction, operation: Operation, now: Instant) -> None:
    """Remove a received message, unless it was removed with its queue before (DM-109)."""
    del now
    queue = state.queues.get(operation.queue)
    if queue is not None and operation.position.lookup_id in queue.order.locked:
        leave(state, queue, (operation.position,), operation.reason)


def _commit_move(state: State, _: Transaction, operation: Operation, now: Instant) -> None:
    """Move a message to its target queue; if the target is gone, unlock the message instead (DM-110)."""
    queue, target = state.queues.get(operation.queue), state.queues.get(operation.target)
    if queue is None or operation.position.lookup_id not in queue.order.locked:
        return
    if target is None or target.record.deleting:
        release(state, queue, operation.position.lookup_id, now)
    else:
        move(state, queue, target, operation.position.lookup_id)
        position = target.order.get(operation.position.lookup_id)
        if position is not None and is_over(position, now):  # AN-09: it was locked when its timer fired
            expire(state, target, position)


def move(state: State, queue: QueueState, target: QueueState, lookup_id: int) -> None:
    """Move a message into another queue; it keeps its LookupIdentifier (AN-13)."""
    # DEPARTS from 3.1.7.1.16 (AN-12, AN-14): the source gives up the position and its bytes, and
    # readers of a system queue are woken too, because otherwise the byte count of the source would
    # stay too high and these readers would not get the message.
    position = queue.order.get(lookup_id)
    assert position is not None
    apply(state, facts.PositionMoved(queue.number, target.number, moved(position), MessageClass.NORMAL))


_COMMIT: Final = {"enqueue": _commit_enqueue, "dequeue": _commit_dequeue, "move": _commit_move}
