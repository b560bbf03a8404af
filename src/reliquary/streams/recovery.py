"""Builds the state of streams from their rows when the process starts."""

from __future__ import annotations

from uuid import UUID

from msgspec.structs import replace

from reliquary.base.rows import every
from reliquary.streams.state import StreamState
from reliquary.streams.tables import NUMBERS_IN_A_ROW, ORDINALS_KEY


def recover(state: StreamState) -> None:
    """Load all rows into the state; without rows, the state stays empty (SR-155 to SR-157, SR-160)."""
    tables = state.tables
    state.ordinals = state.rows.get(tables.ordinals, ORDINALS_KEY) or state.ordinals
    for key, stream in every(state.rows, tables.streams):
        state.add_sent(int.from_bytes(key), stream)
    for key, row in every(state.rows, tables.numbers):
        queue, first = int.from_bytes(key[:4]), int.from_bytes(key[4:]) * NUMBERS_IN_A_ROW
        sent = state.sent[queue]
        sent.finals.update(row.finals)
        for number, lookup_id in enumerate(row.lookup_ids, first):
            if lookup_id:
                sent.give(number, lookup_id)
    for key, incoming in every(state.rows, tables.incoming):
        state.incoming_stream((UUID(bytes=key[:16]), key[16:].decode()), incoming)
    _recover_history(state)


def _recover_history(state: StreamState) -> None:
    """Load the identifiers, the oldest first; equal senders and destinations share one object in memory."""
    senders: dict[UUID, UUID] = {}
    destinations: dict[str, str] = {}
    entries = [entry for _, entry in every(state.rows, state.tables.history)]
    for entry in sorted(entries, key=lambda entry: entry.place):
        lineage = senders.setdefault(entry.lineage, entry.lineage)
        destination = destinations.get(entry.destination)
        if destination is None:
            known = state.known_destination(entry.destination)
            destination = destinations[entry.destination] = destinations.setdefault(known, known)
        state.history.keep(replace(entry, lineage=lineage, destination=destination))
