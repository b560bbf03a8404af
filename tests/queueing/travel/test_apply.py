"""Tests that facts about messages which a carrier holds change memory and rows alike."""

from __future__ import annotations

from reliquary.queueing.model import facts
from reliquary.queueing.model.tables import HOLDS, Hold, hold_key
from tests.queueing.fact_bench import FactBench
from tests.queueing.state_checks import check, every


def test_a_hold_locks_its_messages_and_is_a_row_with_those_that_outlive_a_crash(made: FactBench) -> None:
    stored, express = made.at(1), made.at(2, express=True)
    made.store(stored, express)
    made.apply(facts.HoldBegun("httpr", (3, 4), made.orders.number, (stored, express)))
    key = hold_key("httpr", (3, 4))
    assert every(made.state, HOLDS) == {key: Hold(made.orders.number, (stored.lookup_id,))}
    assert made.state.travel.holds[key].lookup_ids == (stored.lookup_id, express.lookup_id)
    assert made.orders.order.locked == {stored.lookup_id: stored, express.lookup_id: express}
    check(made.state)
    made.apply(facts.HoldsOver("httpr", ((3, 4),)))
    assert not every(made.state, HOLDS)
    assert not made.state.travel.holds
