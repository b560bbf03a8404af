"""Applies facts to the state of streams, in memory and as rows; no other code changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from reliquary.base.turn import Fact
from reliquary.streams import facts
from reliquary.streams.state import StreamState
from reliquary.streams.tables import (
    NUMBERS_IN_A_ROW,
    ORDINALS_KEY,
    Numbers,
    Ordinals,
    OutgoingStream,
    number_key,
    queue_key,
    slot_key,
)


def apply(state: StreamState, fact: Fact) -> None:
    """Change the state as a fact says, and add the fact to the draft of this turn."""
    _APPLY[type(fact)](state, fact)
    state.draft.state(fact)


def _begin(state: StreamState, fact: facts.StreamBegun) -> None:
    """Add the new stream of an outgoing queue, and count its ordinal."""
    state.add_sent(fact.queue, fact.stream)
    state.rows.put(state.tables.streams, queue_key(fact.queue), fact.stream)
    ordinals = state.ordinals
    _count(state, replace(ordinals, stream=ordinals.stream + 1, timestamp=fact.stream.number >> 32))


def _count(state: StreamState, ordinals: Ordinals) -> None:
    """Write the row of the counters."""
    state.ordinals = ordinals
    state.rows.put(state.tables.ordinals, ORDINALS_KEY, ordinals)


def _restore(state: StreamState, fact: facts.StoreRestored) -> None:
    """Store when the last era began."""
    _count(state, replace(state.ordinals, restored=fact.moment))


def _number(state: StreamState, fact: facts.MessagesNumbered) -> None:
    """Give messages the next numbers of their stream."""
    sent = state.sent[fact.queue]
    sent.finals.update(fact.finals)
    for number, lookup_id in enumerate(fact.lookup_ids, fact.first):
        sent.give(number, lookup_id)
    last = fact.first + len(fact.lookup_ids) - 1
    _change(state, fact.queue, replace(sent.stream, last=last))
    for index in range(fact.first // NUMBERS_IN_A_ROW, last // NUMBERS_IN_A_ROW + 1):
        is_new = fact.first <= max(index * NUMBERS_IN_A_ROW, 1)
        _write_numbers(state, fact.queue, index, is_new=is_new)


def _write_numbers(state: StreamState, queue: int, index: int, *, is_new: bool = False) -> None:
    """Write one row of numbers, or delete it if all its messages have left the queue."""
    sent = state.sent[queue]
    row = sent.rows.get(index)
    if row is None:
        state.rows.delete(state.tables.numbers, number_key(queue, index))
        return
    finals = tuple((each, sent.finals[each]) for each in row if each in sent.finals) if sent.finals else ()
    state.rows.put(state.tables.numbers, number_key(queue, index), Numbers(tuple(row), finals), fresh=is_new)


def _start(state: StreamState, fact: facts.StreamStarted) -> None:
    """Store that the receiver has seen number 1 of a stream."""
    _change(state, fact.queue, replace(state.sent[fact.queue].stream, started=True))


def _know_receiver(state: StreamState, fact: facts.ReceiverKnown) -> None:
    """Store the manager that a stream is sent to."""
    _change(state, fact.queue, replace(state.sent[fact.queue].stream, receiver=fact.receiver))


def _close(state: StreamState, fact: facts.StreamClosed) -> None:
    """Store that no message gets a number of a stream any more."""
    _change(state, fact.queue, replace(state.sent[fact.queue].stream, closed=True))


def _change(state: StreamState, queue: int, stream: OutgoingStream) -> None:
    """Write the row of an outgoing stream."""
    state.sent[queue].stream = stream
    state.rows.put(state.tables.streams, queue_key(queue), stream)


def _acknowledge(state: StreamState, fact: facts.StreamAcknowledged) -> None:
    """Store the highest number of a stream that a receipt confirmed."""
    sent = state.sent[fact.queue]
    sent.awaiting -= len(sent.up_to(fact.last))
    _change(state, fact.queue, replace(sent.stream, acknowledged=fact.last))


def _free(state: StreamState, fact: facts.NumbersFreed) -> None:
    """Remove the numbers of messages that have left their outgoing queue."""
    sent = state.sent[fact.queue]
    for index in sent.free(fact.lookup_ids):
        _write_numbers(state, fact.queue, index)


def _end(state: StreamState, fact: facts.StreamEnded) -> None:
    """Remove the stream of an outgoing queue and all its numbers."""
    sent = state.remove_sent(fact.queue)
    state.rows.delete(state.tables.streams, queue_key(fact.queue))
    for index in sent.rows:
        state.rows.delete(state.tables.numbers, number_key(fact.queue, index))


def _advance(state: StreamState, fact: facts.StreamAdvanced) -> None:
    """Store the new record of an incoming stream."""
    incoming = state.incoming_stream((fact.sender, fact.destination), fact.stream)
    incoming.stream = fact.stream
    state.rows.put(state.tables.incoming, incoming.row_key, fact.stream)


def _remember(state: StreamState, fact: facts.IdentifierRemembered) -> None:
    """Add an identifier to the history; that of an express message only in memory."""
    if fact.express:
        state.history.keep_for_now(fact.entry)
    else:
        state.history.keep(fact.entry)
        slot = slot_key(fact.entry.place % state.history.size)
        state.rows.put(state.tables.history, slot, fact.entry)


_APPLY: Final[dict[type[Fact], Callable[[StreamState, Any], None]]] = {
    facts.StreamBegun: _begin,
    facts.MessagesNumbered: _number,
    facts.StreamStarted: _start,
    facts.ReceiverKnown: _know_receiver,
    facts.StreamClosed: _close,
    facts.StoreRestored: _restore,
    facts.StreamAcknowledged: _acknowledge,
    facts.NumbersFreed: _free,
    facts.StreamEnded: _end,
    facts.StreamAdvanced: _advance,
    facts.IdentifierRemembered: _remember,
}
FACTS: Final = tuple(_APPLY)
"""The facts that this module applies."""
