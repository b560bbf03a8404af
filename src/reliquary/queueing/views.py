"""Transactions that have not ended, and how others did, for people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from reliquary.base.time import as_datetime
from reliquary.queueing.model.display import name_of
from reliquary.queueing.model.security.principals import MANAGER, Principal
from reliquary.queueing.model.state import State
from reliquary.queueing.nouns import TransactionInfo
from reliquary.queueing.rules.permission import may_use
from reliquary.queueing.rules.transactions import Stage, stage


def transactions(state: State, by: Principal = MANAGER, *, ended: bool = False) -> Iterator[TransactionInfo]:
    """Transactions that have not ended and are somebody's, and on demand how the last prepared ones did."""
    own = [identifier for identifier, each in state.transactions.items() if may_use(state, by, each)]
    for identifier in [*own, *(state.outcomes if ended else ())]:
        found = transaction(state, identifier)
        assert found is not None
        yield found


def transaction(state: State, identifier: UUID, by: Principal = MANAGER) -> TransactionInfo | None:
    """One transaction, if it is somebody's and has not ended, or its outcome is remembered."""
    found = state.transactions.get(identifier)
    outcome = state.outcomes.get(identifier)
    if found is not None and not may_use(state, by, found):
        return None
    now = stage(state, identifier)
    if found is not None:
        numbers = [
            number
            for each in found.operations
            for number in (each.queue, each.target)
            if number in state.queues
        ]
        return TransactionInfo(
            id=str(identifier),
            stage=now.value,
            prepared=now is Stage.PREPARED,
            operations=len(found.operations),
            bytes=found.size,
            queues=[name_of(state, state.queues[number]) for number in dict.fromkeys(numbers)],
            owner=found.owner,
            external=found.external,
            begun_at=_moment(found.begun),
            prepared_at=_moment(found.prepared_at),
        )
    if outcome is None:
        return None
    return TransactionInfo(
        id=str(identifier),
        stage=now.value,
        prepared=now is Stage.PREPARED,
        owner=outcome.owner,
        ended_at=_moment(outcome.ended),
        decided_by=outcome.by,
    )


def _moment(at: int) -> datetime | None:
    """None is a moment that has not come."""
    return as_datetime(at) if at else None
