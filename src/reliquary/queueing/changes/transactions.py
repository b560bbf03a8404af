"""Apply facts about prepared transactions and their outcomes, in memory and in the rows."""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.turn import Fact
from reliquary.queueing.changes.numbering import PENDING
from reliquary.queueing.model import facts
from reliquary.queueing.model.feature import Applier
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import (
    OUTCOMES,
    POSITIONS,
    TRANSACTIONS,
    QueueRow,
    position_key,
    transaction_key,
)


def _transaction_prepared(state: State, fact: facts.TransactionPrepared) -> None:
    sent = [operation for operation in fact.record.operations if operation.kind == "enqueue"]
    for operation, message in zip(sent, fact.messages, strict=True):
        position, queue = operation.position, state.queues.get(operation.queue)
        state.messages.put((position,), (message,))
        if queue is not None:
            waits = msgspec.structs.replace(position, arrival=PENDING)
            state.rows.put(
                POSITIONS, position_key(queue.number, position.lookup_id), QueueRow(waits), fresh=True
            )
            queue.order.add_locked(waits)
            state.note_room(queue)
    state.rows.put(TRANSACTIONS, transaction_key(fact.identifier), fact.record)


def _transaction_ended(state: State, fact: facts.TransactionEnded) -> None:
    key = transaction_key(fact.identifier)
    state.rows.delete(TRANSACTIONS, key)
    state.rows.put(OUTCOMES, key, fact.outcome)
    state.transactions.outcomes[fact.identifier] = fact.outcome


def _outcomes_forgotten(state: State, fact: facts.OutcomesForgotten) -> None:
    for identifier in fact.identifiers:
        del state.transactions.outcomes[identifier]
        state.rows.delete(OUTCOMES, transaction_key(identifier))


def _prepared_dropped(state: State, fact: facts.PreparedMessageDropped) -> None:
    queue, position = state.queues.get(fact.queue), fact.position
    if queue is not None:
        queue.order.remove(position.lookup_id)
        state.rows.delete(POSITIONS, position_key(queue.number, position.lookup_id))
    state.messages.drop((position,))


APPLIERS: Final[dict[type[Fact], Applier]] = {
    facts.TransactionPrepared: _transaction_prepared,
    facts.TransactionEnded: _transaction_ended,
    facts.OutcomesForgotten: _outcomes_forgotten,
    facts.PreparedMessageDropped: _prepared_dropped,
}
