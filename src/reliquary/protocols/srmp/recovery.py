"""Initialization, [MC-MQSRM] 3.1.3: SRMP's state from its rows."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.rows import Record, Table
from reliquary.protocols.srmp.apply import ONLY
from reliquary.protocols.srmp.state import State
from reliquary.protocols.srmp.tables import HISTORY, INCOMING, NUMBERS, NUMBERS_IN_A_ROW, ORDINALS, STREAMS

CHUNK: Final = 1000
PAST_THE_END: Final = b"\xff" * 64


def recover(state: State) -> None:
    """Load what was kept; with no rows, all is as at the first start (SR-155 to SR-157, SR-160)."""
    state.ordinals = state.rows.get(ORDINALS, ONLY) or state.ordinals
    for key, stream in _every(state, STREAMS):
        state.add_sent(int.from_bytes(key), stream)
    for key, row in _every(state, NUMBERS):
        queue, first = int.from_bytes(key[:4]), int.from_bytes(key[4:]) * NUMBERS_IN_A_ROW
        sent = state.sent[queue]
        sent.finals.update(row.finals)
        for number, lookup_id in enumerate(row.lookup_ids, first):
            if lookup_id:
                sent.give(number, lookup_id)
    for key, incoming in _every(state, INCOMING):
        state.incoming_stream((UUID(bytes=key[:16]), key[16:].decode()), incoming)
    for entry in sorted((entry for _, entry in _every(state, HISTORY)), key=lambda entry: entry.place):
        state.history.keep(entry)


def _every(state: State, table: Table[Record]) -> list[tuple[bytes, Record]]:
    rows: list[tuple[bytes, Record]] = []
    first = b""
    while chunk := state.rows.range(table, first, PAST_THE_END, limit=CHUNK):
        rows += chunk
        first = chunk[-1][0] + b"\0"
    return rows
