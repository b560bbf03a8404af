"""The only place that changes SRMP's durable state: each fact, in memory and as rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from reliquary.base.turn import Fact
from reliquary.protocols.srmp import facts
from reliquary.protocols.srmp.state import Sent, State
from reliquary.protocols.srmp.tables import (
    HISTORY,
    INCOMING,
    NUMBERS,
    ORDINALS,
    STREAMS,
    Numbers,
    Ordinals,
    incoming_key,
    number_key,
    queue_key,
    slot_key,
)

ONLY: Final = b"\0"


def apply(state: State, fact: Fact) -> None:
    """Make a fact true, and state it."""
    _APPLY[type(fact)](state, fact)
    state.draft.state(fact)


def _begin(state: State, fact: facts.StreamBegun) -> None:
    state.sent[fact.queue] = Sent(fact.stream)
    state.rows.put(STREAMS, queue_key(fact.queue), fact.stream)
    state.ordinals = Ordinals(state.ordinals.stream + 1)
    state.rows.put(ORDINALS, ONLY, state.ordinals)


def _number(state: State, fact: facts.MessagesNumbered) -> None:
    sent = state.sent[fact.queue]
    sent.number(fact.first, fact.lookup_ids)
    sent.stream = replace(sent.stream, last=fact.first + len(fact.lookup_ids) - 1)
    state.rows.put(STREAMS, queue_key(fact.queue), sent.stream)
    state.rows.put(NUMBERS, number_key(fact.queue, fact.first), Numbers(fact.lookup_ids), fresh=True)


def _acknowledge(state: State, fact: facts.StreamAcknowledged) -> None:
    sent = state.sent[fact.queue]
    sent.stream = replace(sent.stream, acknowledged=fact.last)
    state.rows.put(STREAMS, queue_key(fact.queue), sent.stream)


def _free(state: State, fact: facts.NumbersFreed) -> None:
    """A row of numbers goes when the last of its messages is gone."""
    sent = state.sent[fact.queue]
    for lookup_id in fact.lookup_ids:
        empty = sent.free(lookup_id)
        if empty is not None:
            state.rows.delete(NUMBERS, number_key(fact.queue, empty))


def _end(state: State, fact: facts.StreamEnded) -> None:
    del state.sent[fact.queue]
    state.rows.delete(STREAMS, queue_key(fact.queue))
    state.rows.delete_range(NUMBERS, number_key(fact.queue, 0), number_key(fact.queue + 1, 0))


def _advance(state: State, fact: facts.StreamAdvanced) -> None:
    state.incoming_stream((fact.sender, fact.destination), fact.stream).stream = fact.stream
    state.rows.put(INCOMING, incoming_key(fact.sender, fact.destination), fact.stream)


def _remember(state: State, fact: facts.IdentifierRemembered) -> None:
    if fact.express:
        state.history.keep_for_now(fact.entry)
    else:
        state.history.keep(fact.entry)
        state.rows.put(HISTORY, slot_key(fact.entry.place % state.history.size), fact.entry)


_APPLY: Final[dict[type[Fact], Callable[[State, Any], None]]] = {
    facts.StreamBegun: _begin,
    facts.MessagesNumbered: _number,
    facts.StreamAcknowledged: _acknowledge,
    facts.NumbersFreed: _free,
    facts.StreamEnded: _end,
    facts.StreamAdvanced: _advance,
    facts.IdentifierRemembered: _remember,
}
FACTS: Final = tuple(_APPLY)
