"""Applies each fact to the durable state of the source, in memory and as rows; nothing else changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from reliquary.base.turn import Fact
from reliquary.protocols.wsrm.numbering import sequence_key
from reliquary.protocols.wsrm.source import facts
from reliquary.protocols.wsrm.source.phases import Move, Phase, moved
from reliquary.protocols.wsrm.source.state import Flight, Sequence
from reliquary.protocols.wsrm.source.tables import NUMBERED, OUTBOUND, Numbered, Outbound, numbered_key
from reliquary.protocols.wsrm.state import State


def apply(state: State, fact: Fact) -> None:
    """Change the state as a fact says, and add the fact to the turn."""
    _APPLY[type(fact)](state, fact)
    state.draft.state(fact)


def _keep(state: State, row: Outbound) -> None:
    state.source.sequences[row.number].row = row
    state.source.index(row)
    state.rows.put(OUTBOUND, sequence_key(row.number), row)


def _begin(state: State, fact: facts.SequenceBegun) -> None:
    state.source.sequences[fact.outbound.number] = Sequence(fact.outbound)
    _keep(state, fact.outbound)


def _create(state: State, fact: facts.SequenceCreated) -> None:
    before = state.source.sequences[fact.sequence].row
    phase = moved(before.phase, Move.CREATED)
    created = replace(before, phase=phase, identifier=fact.identifier, offer=fact.offer)
    _keep(state, replace(created, renewed_at=fact.renewed_at, incomplete=fact.incomplete))


def _retire(state: State, fact: facts.SequencesRetired) -> None:
    for number in fact.sequences:
        _keep(state, replace(state.source.sequences[number].row, restored=True))


def _assign(state: State, fact: facts.QueueAssigned) -> None:
    before = state.source.sequences[fact.sequence].row
    if state.source.current.get(before.queue) == before.number:
        del state.source.current[before.queue]
    _keep(state, replace(before, queue=fact.queue, destination=fact.destination))


def _number(state: State, fact: facts.MessagesNumbered) -> None:
    sequence = state.source.sequences[fact.sequence]
    before = sequence.row
    assert before.phase is Phase.OPEN, f"no message is sent in a sequence that is {before.phase.value}"
    assert fact.first == before.last + 1, f"number {fact.first} after {before.last}"
    rows: dict[bytes, Numbered] = {}
    for number, lookup_id in enumerate(fact.lookup_ids, fact.first):
        assert lookup_id not in sequence.numbers, f"message {lookup_id:#x} gets a second number"
        sequence.flights[number] = Flight(number, lookup_id)
        sequence.numbers[lookup_id] = number
        rows[numbered_key(before.number, number)] = Numbered(lookup_id)
    state.rows.put_all(NUMBERED, rows)
    _keep(state, replace(before, last=before.last + len(fact.lookup_ids)))


def _acknowledge(state: State, fact: facts.NumbersAcknowledged) -> None:
    sequence = state.source.sequences[fact.sequence]
    before, acknowledged = sequence.row, sequence.acknowledged
    known = len(acknowledged)
    for low, high in fact.ranges:
        assert high <= before.last, f"{high} was never sent"
        acknowledged.add(low, high)
    reported = sum(high - low + 1 for low, high in fact.ranges)
    assert len(acknowledged) == known + reported, "a number is acknowledged once"  # the invariant of part 3.3
    flights = sequence.flights
    gone = [each for low, high in fact.ranges for each in range(low, high + 1) if each in flights]
    _take_out(state, sequence, gone)
    _keep(state, replace(before, acknowledged=tuple(acknowledged)))


def _withdraw(state: State, fact: facts.MessagesWithdrawn) -> None:
    sequence = state.source.sequences[fact.sequence]
    for number in fact.numbers:
        flight = sequence.flights[number]
        del sequence.numbers[flight.lookup_id]
        flight.lookup_id = 0
        state.rows.put(NUMBERED, numbered_key(fact.sequence, number), Numbered())


def _close(state: State, fact: facts.SequenceClosing) -> None:
    before = state.source.sequences[fact.sequence].row
    last = before.last + 1 if fact.last_message else before.last
    phase = moved(before.phase, Move.CLOSE)
    _keep(state, replace(before, phase=phase, last=last, last_message=fact.last_message))


def _decide(state: State, fact: facts.SequenceDecided) -> None:
    sequence = state.source.sequences[fact.sequence]
    _take_out(state, sequence, list(sequence.flights))
    _keep(state, replace(sequence.row, phase=moved(sequence.row.phase, Move.DECIDE)))


def _end(state: State, fact: facts.SequenceEnded) -> None:
    sequence = state.source.sequences[fact.sequence]
    _take_out(state, sequence, list(sequence.flights))
    state.source.forget(sequence.row)
    sequence.row = replace(sequence.row, phase=Phase.ENDED)
    state.rows.delete(OUTBOUND, sequence_key(fact.sequence))


def _take_out(state: State, sequence: Sequence, numbers: list[int]) -> None:
    """Remove the numbers of messages that have their outcome, or get other numbers."""
    for number in numbers:
        flight = sequence.flights.pop(number)
        sequence.numbers.pop(flight.lookup_id, None)
        sequence.due.discard(number)
        sequence.dropped.discard(number)
    state.rows.delete_all(NUMBERED, [numbered_key(sequence.number, number) for number in numbers])


_APPLY: Final[dict[type[Fact], Callable[[State, Any], None]]] = {
    facts.SequenceBegun: _begin,
    facts.SequenceCreated: _create,
    facts.SequencesRetired: _retire,
    facts.QueueAssigned: _assign,
    facts.MessagesNumbered: _number,
    facts.NumbersAcknowledged: _acknowledge,
    facts.MessagesWithdrawn: _withdraw,
    facts.SequenceClosing: _close,
    facts.SequenceDecided: _decide,
    facts.SequenceEnded: _end,
}
APPLIED: Final = tuple(_APPLY)
"""Every class of facts that the machine applies."""
