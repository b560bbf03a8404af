"""Helpers with the streams of an invented protocol, on rows in memory."""

from __future__ import annotations

from uuid import UUID

from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from reliquary.streams.apply import apply
from reliquary.streams.facts import MessagesNumbered, StreamBegun
from reliquary.streams.recovery import recover
from reliquary.streams.state import StreamState
from reliquary.streams.tables import OutgoingStream, StreamTables

TABLES = StreamTables("toy")
SENDER = UUID(int=7)


def new_state(*, history_size: int = 100) -> StreamState:
    """Return the state of a manager at its first start."""
    return StreamState(StagedRows(MemoryDisk(TABLES.names)), TABLES, history_size=history_size)


def reborn(state: StreamState, *, history_size: int = 0) -> StreamState:
    """Return the state that another process builds from the rows."""
    again = StreamState(state.rows, TABLES, history_size=history_size or state.history.size)
    recover(again)
    return again


def begin(state: StreamState, *lookup_ids: int, queue: int = 4, finals: tuple[int, ...] = ()) -> None:
    """Begin a stream with these messages; `finals` wait for a final receipt."""
    ordinal = state.ordinals.stream
    apply(state, StreamBegun(queue, OutgoingStream(9 << 32 | ordinal, sender=SENDER)))
    apply(state, MessagesNumbered(queue, 1, lookup_ids, tuple((each, each % 10) for each in finals)))
