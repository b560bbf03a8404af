"""How prepared transactions ended, remembered for whoever lost the answer.

Only a prepared transaction leaves a row: who commits in one step and loses the answer has asked
for no more.  The oldest are forgotten first, by their number and by their age.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.time import DAY, Instant, as_text
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.state import State, Transaction
from reliquary.queueing.model.tables import Outcome

REMEMBERED: Final = 30 * DAY
"""An outcome is asked for again within minutes, or after somebody's holidays."""
AT_ONCE: Final = 100
"""So many are forgotten in one turn at most."""


def remember(state: State, transaction: Transaction, now: Instant, *, committed: bool, by: str) -> None:
    """A prepared transaction ends: so it was, and those before it may be old enough to forget."""
    outcome = Outcome(committed, now, transaction.owner, by)
    apply(state, facts.TransactionEnded(transaction.identifier, outcome))
    surplus = len(state.outcomes) - state.sizes.outcomes
    old: list[UUID] = []
    for identifier, each in state.outcomes.items():
        if len(old) >= AT_ONCE or not (len(old) < surplus or each.ended < now - REMEMBERED):
            break
        old.append(identifier)
    if old:
        apply(state, facts.OutcomesForgotten(tuple(old)))


def told(identifier: UUID, outcome: Outcome) -> str:
    """How it ended, for a person."""
    how = "committed" if outcome.committed else "aborted"
    by = f" by {outcome.by}" if outcome.by else ""
    return f"transaction {identifier} was {how} at {as_text(outcome.ended)}{by}"
