"""No number is given out twice: SequentialID, numbers of queues, handles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.queueing.model import events
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import ONLY, SEQUENCE
from tests.queueing.manager_harness import Bench


@pytest.mark.spec("DM-018", "DM-190")
@given(st.integers(2, 50), st.integers(1, 200))
def test_the_sequence_grows_by_one_and_its_ceiling_is_on_disk_before_it_is_reached(
    block: int, count: int
) -> None:
    bench = Bench(sizes=Sizes(sequence_block=block))
    state = bench.state
    for number in range(state.numbers.sequence + 1, state.numbers.sequence + count + 1):
        assert state.numbers.next_sequence() == number
        assert state.numbers.ceiling >= number
        bench.manager.settle()
        reserved = state.rows.get(SEQUENCE, ONLY)
        assert reserved is not None
        assert reserved.ceiling >= number


@pytest.mark.spec("DM-018", "DM-190")
@given(st.integers(2, 50), st.lists(st.integers(1, 120), max_size=5))
def test_many_numbers_are_taken_at_once_as_one_after_the_other(block: int, counts: list[int]) -> None:
    state = Bench(sizes=Sizes(sequence_block=block)).state
    for count in counts:
        last = state.numbers.sequence
        assert list(state.numbers.next_sequences(count)) == list(range(last + 1, last + count + 1))
        assert state.numbers.sequence == last + count <= state.numbers.ceiling
        assert state.numbers.ceiling >= state.numbers.sequence + block // 2


def test_numbers_are_reserved_once_in_half_a_block_and_not_each_time() -> None:
    bench = Bench(sizes=Sizes(sequence_block=100))
    writes = 0
    for _ in range(1000):
        bench.state.numbers.next_sequence()
        writes += bench.state.numbers.dirty
        bench.state.numbers.dirty = False
    assert writes <= 1000 // 50 + 1


@pytest.mark.spec("DM-066", "DM-069")
def test_no_handle_cursor_or_receipt_has_the_number_of_another() -> None:
    bench = Bench()
    bench.send("orders", *[b"x"] * 5)
    handles = [bench.ask(events.OpenQueue(0, "orders", events.Access.RECEIVE)).handle for _ in range(5)]
    cursors = [bench.ask(events.OpenCursor(0, handle)).handle for handle in handles]
    receipts = [bench.receive("orders", hold=10).receipt for _ in range(5)]
    assert len({*handles, *cursors, *receipts}) == 15


@pytest.mark.spec("DM-141")
def test_no_queue_has_the_number_of_another() -> None:
    bench = Bench(*[f"queue {number}" for number in range(20)])
    bench.ask(events.DeleteQueue(0, "queue 19"))
    made = bench.create("one more").queue
    assert made.number not in {number for number in bench.state.queues if number != made.number}
    assert bench.state.queues[made.number].record == made
