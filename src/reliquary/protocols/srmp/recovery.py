"""Initialization, [MC-MQSRM] 3.1.3: SRMP's state from its rows."""

from __future__ import annotations

from uuid import UUID

from msgspec.structs import replace

from reliquary.base.rows import every
from reliquary.protocols.srmp.apply import ONLY
from reliquary.protocols.srmp.state import State
from reliquary.protocols.srmp.tables import HISTORY, INCOMING, NUMBERS, NUMBERS_IN_A_ROW, ORDINALS, STREAMS


def recover(state: State) -> None:
    """Load what was kept; with no rows, all is as at the first start (SR-155 to SR-157, SR-160)."""
    state.ordinals = state.rows.get(ORDINALS, ONLY) or state.ordinals
    for key, stream in every(state.rows, STREAMS):
        state.add_sent(int.from_bytes(key), stream)
    for key, row in every(state.rows, NUMBERS):
        queue, first = int.from_bytes(key[:4]), int.from_bytes(key[4:]) * NUMBERS_IN_A_ROW
        sent = state.sent[queue]
        sent.finals.update(row.finals)
        for number, lookup_id in enumerate(row.lookup_ids, first):
            if lookup_id:
                sent.give(number, lookup_id)
    for key, incoming in every(state.rows, INCOMING):
        state.incoming_stream((UUID(bytes=key[:16]), key[16:].decode()), incoming)
    senders: dict[UUID, UUID] = {}
    destinations: dict[str, str] = {}
    for entry in sorted((entry for _, entry in every(state.rows, HISTORY)), key=lambda entry: entry.place):
        lineage = senders.setdefault(entry.lineage, entry.lineage)  # one of each for all
        destination = destinations.setdefault(entry.destination, entry.destination)
        state.history.keep(replace(entry, lineage=lineage, destination=destination))
