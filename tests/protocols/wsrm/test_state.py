"""The machine connects the roles: MessageIDs for replies, acknowledgements for messages that leave."""

from __future__ import annotations

from reliquary.protocols.wsrm.codec.values import Acknowledgement, Reference
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.state import State
from reliquary.protocols.wsrm.tables import TABLES
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from tests.protocols.wsrm.wsrm_harness import WsrmBench, message


def test_nothing_is_due_without_a_machine() -> None:
    state = State(StagedRows(MemoryDisk(TABLES)), WsrmSettings())
    assert state.acknowledgements_due("http://client.example/") == ()


def test_a_due_acknowledgement_can_be_sent_with_a_message_to_its_address() -> None:
    bench = WsrmBench()
    there = Reference("http://client.example/acks")
    sequence = bench.sequence_to(there)
    bench.post(message(sequence, 1))
    assert bench.wsrm.acknowledgements_due(there.address) == (Acknowledgement(sequence, ((1, 1),), buffer=8),)
    assert bench.wsrm.acknowledgements_due(there.address) == ()
