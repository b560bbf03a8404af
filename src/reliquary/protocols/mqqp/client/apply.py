"""Applies each fact to the durable state of the client, in memory and as rows; nothing else changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reliquary.base.turn import Fact
from reliquary.protocols.mqqp.client import facts
from reliquary.protocols.mqqp.client.tables import DOUBTS, doubt_key
from reliquary.protocols.mqqp.state import State


def apply(state: State, fact: Fact) -> None:
    """Change the state as a fact says, and add the fact to the turn."""
    _APPLY[type(fact)](state, fact)
    state.draft.state(fact)


def _doubt(state: State, fact: facts.MessageDoubted) -> None:
    doubt = fact.doubt
    state.client.doubts[doubt.queue, doubt.identifier] = doubt
    state.rows.put(DOUBTS, doubt_key(doubt.queue, doubt.identifier), doubt)


def _end(state: State, fact: facts.DoubtEnded) -> None:
    del state.client.doubts[fact.queue, fact.identifier]
    state.rows.delete(DOUBTS, doubt_key(fact.queue, fact.identifier))


_APPLY: Final[dict[type[Fact], Callable[[State, Any], None]]] = {
    facts.MessageDoubted: _doubt,
    facts.DoubtEnded: _end,
}
APPLIED: Final = tuple(_APPLY)
"""Every class of facts that the machine applies."""
