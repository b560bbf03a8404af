"""Tests each fact in memory and as rows: what is rebuilt equals what is live."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.base.turn import Fact
from reliquary.protocols.wsrm import numbering
from reliquary.protocols.wsrm.codec.values import Dialect, Incomplete
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.source import facts
from reliquary.protocols.wsrm.source.apply import APPLIED, apply
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.recovery import recover
from reliquary.protocols.wsrm.source.tables import TABLES, Outbound
from reliquary.protocols.wsrm.state import State
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from tests.protocols.wsrm.source.source_bench import durable

ROW = Outbound(1, Dialect(), queue=5, destination="DIRECT=WSRM://shop.example/orders", create_id="urn:uuid:c")
LIFE: list[Fact] = [
    facts.SequenceBegun(ROW),
    facts.SequenceCreated(1, "urn:uuid:1", "urn:uuid:offer", 77, Incomplete.FOLLOWING),
    facts.QueueAssigned(1, 6, "DIRECT=WSRM://shop.example/other"),
    facts.MessagesNumbered(1, 1, (101, 102, 103)),
    facts.NumbersAcknowledged(1, ((2, 2),)),
    facts.MessagesNumbered(1, 4, (104,)),
    facts.MessagesWithdrawn(1, (3,)),
    facts.NumbersAcknowledged(1, ((1, 1), (4, 4))),
    facts.SequenceClosing(1, last_message=True),
    facts.SequenceDecided(1),
    facts.SequencesRetired((1,)),
    facts.SequenceEnded(1),
]


def fresh() -> State:
    rows = StagedRows(MemoryDisk((*TABLES, numbering.COUNTERS.name)))
    return State(rows, WsrmSettings())


def rebuilt(state: State) -> State:
    again = State(state.rows, state.settings)
    recover(again)
    return again


def test_every_fact_is_applied() -> None:
    named = {each for each in vars(facts).values() if isinstance(each, type) and issubclass(each, Fact)}
    assert set(APPLIED) == named - {Fact} == {type(fact) for fact in LIFE}


def test_the_rebuilt_state_equals_the_live_state_after_each_fact() -> None:
    state = fresh()
    for fact in LIFE:
        apply(state, fact)
        assert durable(rebuilt(state)) == durable(state), fact
    assert state.draft.take().facts == tuple(LIFE)
    assert state.source.sequences == {}


def test_the_progress_of_a_sequence_is_stored() -> None:
    state = fresh()
    for fact in LIFE[:8]:
        apply(state, fact)
    sequence = state.source.sequences[1]
    assert sequence.row.acknowledged == ((1, 2), (4, 4))
    assert (sequence.row.last, sequence.row.queue, sequence.row.renewed_at) == (4, 6, 77)
    assert sequence.row.incomplete is Incomplete.FOLLOWING
    assert list(sequence.flights) == [3]
    assert sequence.flights[3].lookup_id == 0
    assert sequence.is_orphaned
    assert state.source.current == {6: 1}
    assert state.source.by_create_id == {}
    apply(state, LIFE[8])
    assert (sequence.row.last, sequence.row.last_message, sequence.phase) == (5, True, Phase.CLOSING)
    assert state.source.of_queue(6) is sequence
    apply(state, LIFE[9])
    assert state.source.of_queue(6) is None
    assert not sequence.flights


@pytest.mark.parametrize(
    ("before", "fact", "why"),
    [
        pytest.param(4, facts.MessagesNumbered(1, 5, (105,)), "number 5 after 3", id="a number is left out"),
        pytest.param(4, facts.MessagesNumbered(1, 4, (101,)), "second number", id="numbered twice"),
        pytest.param(4, facts.NumbersAcknowledged(1, ((4, 4),)), "4 was never sent", id="not sent"),
        pytest.param(5, facts.NumbersAcknowledged(1, ((1, 2),)), "acknowledged once", id="known already"),
        pytest.param(9, facts.MessagesNumbered(1, 6, (105,)), "is closing", id="the sequence is closed"),
    ],
)  # fmt: skip
def test_an_impossible_fact_is_our_error(before: int, fact: Fact, why: str) -> None:
    state = fresh()
    for each in LIFE[:before]:
        apply(state, each)
    with pytest.raises(AssertionError, match=why):
        apply(state, fact)


def test_a_second_sequence_of_a_queue_does_not_disturb_the_first() -> None:
    state = fresh()
    for fact in (*LIFE[:8], LIFE[8], LIFE[9]):
        apply(state, fact)
    apply(state, facts.SequenceBegun(msgspec.structs.replace(ROW, number=2, queue=6, create_id="urn:uuid:d")))
    apply(state, facts.SequenceEnded(1))
    assert state.source.current == {6: 2}
    assert state.source.by_create_id == {"urn:uuid:d": 2}
    assert durable(rebuilt(state)) == durable(state)
