"""Rebuilds incoming sequences from their rows; room and due acknowledgements are computed afterwards."""

from __future__ import annotations

from reliquary.base.ranges import NumberRanges
from reliquary.base.rows import every
from reliquary.protocols.wsrm.destination.apply import add_sequence, note_buffered, put_received, retire
from reliquary.protocols.wsrm.destination.phases import Phase
from reliquary.protocols.wsrm.destination.state import Sequence
from reliquary.protocols.wsrm.destination.tables import BUFFERED, INBOUND, RECEIVED, REQUESTS, message_of_key
from reliquary.protocols.wsrm.numbering import sequence_key
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.message import size_of


def recover(state: State) -> None:
    """Read all sequences with their messages."""
    here = state.destination
    ended: list[Sequence] = []
    for _, row in every(state.rows, INBOUND):
        sequence = add_sequence(state, row)
        received = state.rows.get(RECEIVED, sequence_key(row.number))
        assert received is not None, f"sequence {row.number} has no row in {RECEIVED.name}"
        put_received(sequence, received)
        sequence.ranges = NumberRanges(received.ranges)
        if received.phase is Phase.ENDED:
            ended.append(sequence)
    for sequence in sorted(ended, key=lambda each: (each.received.ended, each.number)):
        retire(state, sequence)
    for key, buffered in every(state.rows, BUFFERED):
        number, message = message_of_key(key)
        note_buffered(here.sequences[number], message, size_of(buffered.message))
    for key, request in every(state.rows, REQUESTS):
        number, message = message_of_key(key)
        here.sequences[number].requests[message] = request.identifier
        here.requests[request.identifier] = request.message_id
