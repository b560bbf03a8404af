"""The check that the counters of queues agree with their rows finds every difference."""

from __future__ import annotations

import pytest

from reliquary.base.rows import Record, Table
from reliquary.queueing.model import events
from reliquary.queueing.model.counting import counter_faults
from reliquary.queueing.model.tables import COUNTERS, POSITIONS, QUEUES, Counters, position_key, queue_key
from tests.queueing.manager_harness import Bench, message
from tests.queueing.state_checks import walk


@pytest.fixture
def bench() -> Bench:
    bench = Bench("orders", "invoices")
    bench.send("orders", *[b"x" * size for size in range(20)])
    bench.flush()
    return bench


def change(bench: Bench, table: Table[Record], key: bytes, record: Record | None) -> None:
    """Change one row behind the manager's back."""
    rows = bench.state.rows
    if record is None:
        rows.delete(table, key)
    else:
        rows.put(table, key, record)


def test_counters_that_fit_are_no_fault(bench: Bench) -> None:
    assert list(counter_faults(bench.state.rows)) == []


def test_a_position_that_is_missing_is_reported_with_the_name_of_its_queue(bench: Bench) -> None:
    queue = bench.queue()
    gone = walk(queue)[3]
    change(bench, POSITIONS, position_key(queue.number, gone.lookup_id), None)
    [fault] = counter_faults(bench.state.rows)
    assert fault.queue == queue.number
    assert queue.record.pathname in fault.why
    assert "count is 20, and the rows make 19" in fault.why
    assert (
        f"size is {queue.counts.stored_size}, and the rows make {queue.counts.stored_size - gone.size}"
        in fault.why
    )


@pytest.mark.parametrize(
    ("counters", "word"),
    [
        (Counters(count=1), "count is 1"),
        (Counters(size=1), "size is 1"),
        (Counters(delayed=1), "delayed is 1"),
        (Counters(retained=1), "retained is 1"),
        (Counters(retained_size=1), "retained_size is 1"),
    ],
)
def test_every_counter_is_compared(bench: Bench, counters: Counters, word: str) -> None:
    key = queue_key(bench.queue("invoices").number)
    change(bench, COUNTERS, key, counters)
    [fault] = counter_faults(bench.state.rows)
    assert f"{word}, and the rows make 0" in fault.why


def test_counters_that_are_missing_say_zero(bench: Bench) -> None:
    change(bench, COUNTERS, queue_key(bench.queue().number), None)
    [fault] = counter_faults(bench.state.rows)
    assert "count is 0, and the rows make 20" in fault.why


def test_a_queue_without_a_row_is_named_by_its_number(bench: Bench) -> None:
    number = bench.queue().number
    change(bench, QUEUES, queue_key(number), None)
    change(bench, COUNTERS, queue_key(number), None)
    [fault] = counter_faults(bench.state.rows)
    assert f"queue {number}, which has no row of its own" in fault.why


def test_what_a_prepared_transaction_sends_is_not_counted(bench: Bench) -> None:
    transaction = bench.begin()
    bench.ask(events.SendMessages(0, "orders", (message(b"later"),), transaction))
    bench.ask(events.PrepareTransaction(0, transaction))
    bench.flush()
    assert list(counter_faults(bench.state.rows)) == []
