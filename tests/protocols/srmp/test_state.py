"""What SRMP knows."""

from __future__ import annotations

from uuid import UUID

from reliquary.protocols.srmp import tables
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import State
from reliquary.protocols.srmp.tables import IncomingStream
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows


def test_a_stream_that_comes_in_has_one_place_for_its_timer() -> None:
    state = State(StagedRows(MemoryDisk(tables.TABLES)), SrmpSettings())
    first = state.incoming_stream((UUID(int=1), "a"), IncomingStream(1))
    second = state.incoming_stream((UUID(int=1), "b"), IncomingStream(1))
    assert state.incoming_stream((UUID(int=1), "a"), IncomingStream(2)) is first
    assert [first.place, second.place] == [0, 1]
    assert state.places == [first, second]
