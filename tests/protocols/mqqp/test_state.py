"""The state of MQQP: a part for each role, and only the client's doubts come back after a restart."""

from __future__ import annotations

from reliquary.protocols.mqqp.events import PortsKnown
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.state import State
from reliquary.protocols.mqqp.tables import TABLES
from reliquary.store import MemoryDisk, StagedRows


def test_the_state_begins_without_open_objects() -> None:
    state = State(StagedRows(MemoryDisk(TABLES)), MqqpSettings())
    assert state.ports == PortsKnown(0, 0)
    assert not state.server.associations
    assert not state.client.links
    assert not state.client.doubts
