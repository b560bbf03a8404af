"""Applies a fact, in memory and in the rows, and states it in the turn; durable state changes in no other
way.

    rule --> apply(fact) --> recording: the history notes the events of the fact
                         --> appliers[type of the fact]: memory and rows change
                         --> the turn states the fact

The appliers of `changes` and of all features are joined in `queueing.features`.  Recovery builds the
state from the rows alone; a fact about express messages changes no row.
"""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.queueing.model.state import State


def apply(state: State, fact: Fact) -> None:
    """Change memory and rows as the fact says, and state the fact in this turn."""
    kind = type(fact)
    if state.history is not None and (record := state.hooks.recorders[kind]) is not None:
        record(state, state.history.notes, fact)
    state.hooks.appliers[kind](state, fact)
    state.draft.state(fact)
