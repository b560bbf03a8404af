"""Rebuilds the durable state of the source from its rows."""

from __future__ import annotations

from reliquary.base.ranges import NumberRanges
from reliquary.base.rows import every
from reliquary.protocols.wsrm.source.state import Flight, Sequence
from reliquary.protocols.wsrm.source.tables import NUMBERED, OUTBOUND, read_numbered_key
from reliquary.protocols.wsrm.state import State


def recover(state: State) -> None:
    """Read all sequences, and the numbers of messages without an acknowledgement.

    The messages themselves come from the queue manager, which hands them out again.
    """
    source = state.source
    for _, row in every(state.rows, OUTBOUND):
        source.sequences[row.number] = Sequence(row, NumberRanges(row.acknowledged))
        source.index(row)
    for key, numbered in every(state.rows, NUMBERED):
        number, place = read_numbered_key(key)
        sequence = source.sequences[number]
        sequence.flights[place] = Flight(place, numbered.lookup_id)
        if numbered.lookup_id:
            sequence.numbers[numbered.lookup_id] = place
