"""Tests that facts about messages which a carrier holds change memory and rows alike."""

from __future__ import annotations

from reliquary.queueing.model import facts
from reliquary.queueing.model.tables import RESERVATIONS, Reservation, reservation_key
from tests.queueing.fact_bench import FactBench
from tests.queueing.state_checks import check, every


def test_a_reservation_locks_its_messages_and_is_a_row_with_the_durable_ones(made: FactBench) -> None:
    stored, express = made.at(1), made.at(2, express=True)
    made.store(stored, express)
    made.apply(facts.ReservationBegun("httpr", (3, 4), made.orders.number, (stored, express)))
    key = reservation_key("httpr", (3, 4))
    assert every(made.state, RESERVATIONS) == {key: Reservation(made.orders.number, (stored.lookup_id,))}
    assert made.state.travel.reservations[key].lookup_ids == (stored.lookup_id, express.lookup_id)
    assert made.orders.order.locked == {stored.lookup_id: stored, express.lookup_id: express}
    check(made.state)
    made.apply(facts.ReservationsOver("httpr", ((3, 4),)))
    assert not every(made.state, RESERVATIONS)
    assert not made.state.travel.reservations
