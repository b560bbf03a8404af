"""Every fact of the client is applied, in memory and as rows."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.rows import every
from reliquary.base.turn import Fact
from reliquary.protocols.mqqp.client import facts
from reliquary.protocols.mqqp.client.apply import APPLIED, apply
from reliquary.protocols.mqqp.client.facts import DoubtEnded, MessageDoubted
from reliquary.protocols.mqqp.client.tables import DOUBTS, TABLES, Doubt
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.message import ObjectId
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows

DOUBT = Doubt("direct=os:far\\private$\\orders", ObjectId(UUID(int=7), 9), 5)


def test_every_kind_of_fact_is_applied() -> None:
    kinds = {
        each
        for each in vars(facts).values()
        if isinstance(each, type) and issubclass(each, Fact) and each is not Fact
    }
    assert set(APPLIED) == kinds


def test_a_doubt_comes_and_goes_in_memory_and_as_a_row() -> None:
    state = State(StagedRows(MemoryDisk(TABLES)), MqqpSettings())
    apply(state, MessageDoubted(DOUBT))
    assert state.client.doubts == {(DOUBT.queue, DOUBT.identifier): DOUBT}
    assert [row for _, row in every(state.rows, DOUBTS)] == [DOUBT]
    apply(state, DoubtEnded(DOUBT.queue, DOUBT.identifier))
    assert (state.client.doubts, every(state.rows, DOUBTS)) == ({}, [])
    assert len(state.draft.take().facts) == 2
