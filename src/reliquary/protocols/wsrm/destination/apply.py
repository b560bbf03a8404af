"""Applies each fact to the durable state of incoming sequences, in memory and as rows.

Nothing else changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec.structs import replace

from reliquary.base.turn import Fact
from reliquary.protocols.wsrm.destination import facts
from reliquary.protocols.wsrm.destination.phases import Phase
from reliquary.protocols.wsrm.destination.routing import settings_of
from reliquary.protocols.wsrm.destination.state import CreationKey, Sequence
from reliquary.protocols.wsrm.destination.tables import (
    BUFFERED,
    INBOUND,
    RECEIVED,
    REQUESTS,
    Buffered,
    Inbound,
    Received,
    message_key,
)
from reliquary.protocols.wsrm.numbering import sequence_key
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.message import size_of

MOST_REQUESTS: Final = 4096
"""The most MessageIDs that are kept of one sequence; replies to older requests get another MessageID."""
_ALL_NUMBERS: Final = 1 << 63


def apply(state: State, fact: Fact) -> None:
    """Change the state as a fact says, and add the fact to the turn."""
    _APPLY[type(fact)](state, fact)
    state.draft.state(fact)


# -- memory, shared with recovery


def add_sequence(state: State, row: Inbound) -> Sequence:
    """Add an open sequence to memory."""
    here = state.destination
    assert row.identifier not in here.by_identifier, f"two sequences are {row.identifier}"
    sequence = Sequence(row, settings_of(state.settings, row), here.target(row.queue))
    here.sequences[row.number] = sequence
    if not row.restored:
        here.by_identifier[row.identifier] = row.number
    sequence.target.open[row.number] = sequence
    here.open_counts[row.endpoint] += 1
    for key in _keys(row):
        here.created[key] = row.number
    return sequence


def put_received(sequence: Sequence, received: Received) -> None:
    """Replace the progress of a sequence in memory."""
    sequence.received = received
    ranges = received.ranges
    sequence.next = ranges[0][1] + 1 if ranges and ranges[0][0] == 1 else 1


def retire(state: State, sequence: Sequence) -> None:
    """Take a sequence that ended out of all indexes of open ones."""
    here, row, target = state.destination, sequence.row, sequence.target
    del target.open[row.number]
    target.starved.pop(row.number, None)
    here.open_counts[row.endpoint] -= 1
    for key in _keys(row):
        if here.created.get(key) == row.number:
            del here.created[key]
    here.ended[row.number] = None


def note_buffered(sequence: Sequence, number: int, size: int) -> None:
    """Count a buffered message, in memory."""
    sequence.buffered[number] = size
    sequence.target.buffered_bytes += size


def creation_key(owner: str, endpoint: str, acks_to: str, text: str) -> CreationKey:
    """Return the key that recognizes a repeated CreateSequence; `text` is a MessageID or an offer."""
    return owner, endpoint, acks_to, text


def _keys(row: Inbound) -> list[CreationKey]:
    texts = [text for text in (row.message_id, row.offer) if text and row.endpoint]
    return [creation_key(row.owner, row.endpoint, row.acks_to.address, text) for text in texts]


# -- facts


def _open(state: State, fact: facts.SequenceOpened) -> None:
    sequence = add_sequence(state, fact.row)
    state.rows.put(INBOUND, sequence_key(fact.row.number), fact.row)
    state.rows.put(RECEIVED, sequence_key(fact.row.number), sequence.received)


def _pair(state: State, fact: facts.SequencePaired) -> None:
    sequence = state.destination.sequences[fact.sequence]
    sequence.row = replace(sequence.row, offered=fact.outbound)
    state.rows.put(INBOUND, sequence_key(fact.sequence), sequence.row)


def _receive(state: State, fact: facts.MessageReceived) -> None:
    sequence = state.destination.sequences[fact.sequence]
    _add(state, sequence, fact.number, last=fact.last)
    if fact.released:
        _release(state, sequence, fact.released)


def _buffer(state: State, fact: facts.MessageBuffered) -> None:
    sequence = state.destination.sequences[fact.sequence]
    _add(state, sequence, fact.number, last=fact.last)
    state.rows.put(BUFFERED, message_key(fact.sequence, fact.number), Buffered(fact.message), fresh=True)
    note_buffered(sequence, fact.number, size_of(fact.message))


def _add(state: State, sequence: Sequence, number: int, *, last: bool) -> None:
    received, ranges = sequence.received, sequence.ranges
    assert number not in ranges, f"message {number} of {sequence.row.identifier} came before"
    ranges.add(number)
    before = received.ranges
    if before and before[-1][1] == number - 1:  # the usual case
        grown = (*before[:-1], (before[-1][0], number))
    else:
        grown = tuple(ranges)
    end = number if last else received.last
    put_received(sequence, Received(grown, received.phase, end, received.ended))
    sequence.unconfirmed += 1
    state.rows.put(RECEIVED, sequence_key(sequence.row.number), sequence.received)


def _let_go(state: State, fact: facts.BufferReleased) -> None:
    _release(state, state.destination.sequences[fact.sequence], fact.numbers)


def _release(state: State, sequence: Sequence, numbers: Iterable[int]) -> None:
    for number in numbers:
        sequence.target.buffered_bytes -= sequence.buffered.pop(number)
        state.rows.delete(BUFFERED, message_key(sequence.row.number, number))


def _note(state: State, fact: facts.RequestNoted) -> None:
    sequence = state.destination.sequences[fact.sequence]
    state.rows.put(REQUESTS, message_key(fact.sequence, fact.number), fact.request)
    sequence.requests[fact.number] = fact.request.identifier
    state.destination.requests[fact.request.identifier] = fact.request.message_id
    while len(sequence.requests) > MOST_REQUESTS:
        oldest = next(iter(sequence.requests))
        state.rows.delete(REQUESTS, message_key(fact.sequence, oldest))
        state.destination.requests.pop(sequence.requests.pop(oldest), None)


def _close(state: State, fact: facts.SequenceClosed) -> None:
    sequence = state.destination.sequences[fact.sequence]
    last = fact.last or sequence.received.last
    _put(state, sequence, replace(sequence.received, phase=Phase.CLOSED, last=last))


def _end(state: State, fact: facts.SequenceEnded) -> None:
    sequence = state.destination.sequences[fact.sequence]
    last = fact.last or sequence.received.last
    _put(state, sequence, replace(sequence.received, phase=Phase.ENDED, last=last, ended=fact.at))
    retire(state, sequence)


def _put(state: State, sequence: Sequence, received: Received) -> None:
    put_received(sequence, received)
    state.rows.put(RECEIVED, sequence_key(sequence.row.number), received)


def _retire(state: State, fact: facts.SequencesRetired) -> None:
    here = state.destination
    for number in fact.sequences:
        sequence = here.sequences[number]
        sequence.row = replace(sequence.row, restored=True)
        del here.by_identifier[sequence.row.identifier]
        state.rows.put(INBOUND, sequence_key(number), sequence.row)


def _forget(state: State, fact: facts.SequencesForgotten) -> None:
    here = state.destination
    for number in fact.sequences:
        sequence = here.sequences.pop(number)
        del here.ended[number]
        here.by_identifier.pop(sequence.row.identifier, None)
        for identifier in sequence.requests.values():
            here.requests.pop(identifier, None)
        state.rows.delete(INBOUND, sequence_key(number))
        state.rows.delete(RECEIVED, sequence_key(number))
        if sequence.requests:
            state.rows.delete_range(REQUESTS, message_key(number, 0), message_key(number, _ALL_NUMBERS))
        assert not sequence.buffered, f"sequence {number} holds messages and would be forgotten"


_APPLY: Final[dict[type[Fact], Callable[[State, Any], None]]] = {
    facts.SequenceOpened: _open,
    facts.SequencePaired: _pair,
    facts.MessageReceived: _receive,
    facts.MessageBuffered: _buffer,
    facts.BufferReleased: _let_go,
    facts.RequestNoted: _note,
    facts.SequenceClosed: _close,
    facts.SequenceEnded: _end,
    facts.SequencesRetired: _retire,
    facts.SequencesForgotten: _forget,
}
APPLIED: Final = tuple(_APPLY)
"""Every class of facts that the machine applies."""
