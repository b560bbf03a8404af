"""Tests that counters are written once a batch, and that lost copies are counted."""

from __future__ import annotations

from reliquary.queueing.changes.apply import apply
from reliquary.queueing.changes.counters import settle
from reliquary.queueing.model import facts
from reliquary.queueing.model.tables import COUNTERS, ONLY, SEQUENCE, Copy, Counters, queue_key
from tests.queueing.fact_bench import FactBench
from tests.queueing.state_checks import every


def test_counters_are_written_once_a_batch_for_the_queues_that_changed(made: FactBench) -> None:
    made.store(made.at(1), made.at(2))
    made.store(made.at(3))
    assert every(made.state, COUNTERS) == {}
    settle(made.state)
    [(key, counters)] = every(made.state, COUNTERS).items()
    assert key == queue_key(made.orders.number)
    assert counters == Counters(3, 300, made.orders.order.floors())
    made.bench.flush()
    settle(made.state)
    assert made.bench.rows.is_empty


def test_an_express_message_alone_writes_nothing(made: FactBench) -> None:
    made.store(made.at(1, express=True, expires=50))
    settle(made.state)
    assert made.bench.rows.is_empty


def test_a_copy_that_was_lost_is_counted_for_its_queue_or_for_those_that_are_gone(made: FactBench) -> None:
    for copy in (Copy.JOURNAL, Copy.REPORT, Copy.JOURNAL):
        apply(made.state, facts.CopyLost(made.orders.number, copy, "full"))
    apply(made.state, facts.CopyLost(0, Copy.DEAD_LETTER, "full"))
    settle(made.state)
    assert every(made.state, COUNTERS)[queue_key(made.orders.number)].lost == (2, 0, 0, 0, 1)
    assert every(made.state, SEQUENCE)[ONLY].lost == (0, 0, 1, 0, 0)
