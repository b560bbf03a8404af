"""Apply facts about messages that carriers have reserved, in memory and in the rows."""

from __future__ import annotations

from typing import Final

from reliquary.base.turn import Fact
from reliquary.queueing.model import facts
from reliquary.queueing.model.feature import Applier
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import RESERVATIONS, Reservation, reservation_key


def _reservation_begun(state: State, fact: facts.ReservationBegun) -> None:
    key = reservation_key(fact.holder, fact.key)
    state.queues[fact.queue].order.lock_all(fact.positions)
    before = state.travel.reservations.get(key)
    assert before is None or before.queue == fact.queue, f"{fact.key} is reserved in another queue"
    reserved = tuple([position.lookup_id for position in fact.positions])
    stored = tuple([position.lookup_id for position in fact.positions if not position.express])
    if before is None:
        state.travel.reservations[key] = Reservation(fact.queue, reserved)
        if stored:
            state.rows.put(RESERVATIONS, key, Reservation(fact.queue, stored), fresh=True)
    else:
        state.travel.reservations[key] = Reservation(fact.queue, before.lookup_ids + reserved)
        if stored:
            kept = state.rows.get(RESERVATIONS, key)
            on_disk = () if kept is None else kept.lookup_ids
            state.rows.put(RESERVATIONS, key, Reservation(fact.queue, on_disk + stored))


def _reservations_over(state: State, fact: facts.ReservationsOver) -> None:
    for each in fact.keys:
        key = reservation_key(fact.holder, each)
        del state.travel.reservations[key]
        state.rows.delete(RESERVATIONS, key)


APPLIERS: Final[dict[type[Fact], Applier]] = {
    facts.ReservationBegun: _reservation_begun,
    facts.ReservationsOver: _reservations_over,
}
