"""Numbers of the client, and what it finds on disk."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.mqqp.client import state as module
from reliquary.protocols.mqqp.client.state import Call, ClientState, Purpose
from reliquary.protocols.mqqp.client.tables import DOUBTS, TABLES, Doubt, doubt_key
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.queueing.model.message import ObjectId
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows


def empty() -> ClientState:
    return ClientState(StagedRows(MemoryDisk(TABLES)), MqqpSettings())


@pytest.mark.spec("QP-021", "QP-022", "QP-148")
def test_request_numbers_begin_again_and_pass_over_those_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HIGHEST", 4)
    client = empty()
    first = client.next_request()
    client.requests.add(first)
    client.calls[2] = Call(2, 1, Purpose.READ)
    assert [client.next_request() for _ in range(4)] == [3, 4, 3, 4]


def test_numbers_of_links_and_tasks_are_never_used_again() -> None:
    client = empty()
    assert [client.next_number() for _ in range(3)] == [1, 2, 3]


def test_doubts_are_there_again_in_a_new_process() -> None:
    rows, doubt = StagedRows(MemoryDisk(TABLES)), Doubt("q", ObjectId(UUID(int=1), 2), 3)
    rows.put(DOUBTS, doubt_key("q", doubt.identifier), doubt)
    assert ClientState(rows, MqqpSettings()).doubts == {("q", doubt.identifier): doubt}
