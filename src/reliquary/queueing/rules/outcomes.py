"""Stores the outcomes of prepared transactions, for a coordinator that lost the answer and asks again.

Only a prepared transaction leaves a row; the outcome of a commit in one step is not remembered.  The oldest
outcomes are deleted first, when there are too many or when they are too old.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.time import DAY, Instant, as_text
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.parts.transactions import Transaction
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Outcome

REMEMBERED: Final = 30 * DAY
"""The time for which an outcome is kept; an administrator may ask for it weeks later."""
AT_ONCE: Final = 100
"""The largest number of outcomes that one turn deletes."""


def remember(state: State, transaction: Transaction, now: Instant, *, committed: bool, by: str) -> None:
    """Record the outcome of a prepared transaction, and delete outcomes that are too old or too many."""
    outcome = Outcome(committed, now, transaction.owner, by)
    apply(state, facts.TransactionEnded(transaction.identifier, outcome))
    surplus = len(state.transactions.outcomes) - state.sizes.outcomes
    old: list[UUID] = []
    for identifier, each in state.transactions.outcomes.items():
        if len(old) >= AT_ONCE or not (len(old) < surplus or each.ended < now - REMEMBERED):
            break
        old.append(identifier)
    if old:
        apply(state, facts.OutcomesForgotten(tuple(old)))


def describe_outcome(identifier: UUID, outcome: Outcome) -> str:
    """Return a sentence that says how and when a transaction ended."""
    how = "committed" if outcome.committed else "aborted"
    by = f" by {outcome.by}" if outcome.by else ""
    return f"transaction {identifier} was {how} at {as_text(outcome.ended)}{by}"
