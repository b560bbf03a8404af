"""Applications that send: what they send, and what they know of it."""

from __future__ import annotations

from collections import Counter

from reliquary.sim.history import Standing
from reliquary.sim.senders import Latecomer, Producer, Traveller
from tests.sim.theatre import Theatre


def standings(theatre: Theatre) -> Counter[Standing]:
    return Counter(sending.standing for sending in theatre.history.sendings.values())


def test_in_fair_weather_a_producer_knows_what_became_of_everything() -> None:
    theatre = Theatre()
    theatre.rounds(Producer("producer", theatre.stage), turns=150)
    known = standings(theatre)
    assert known[Standing.CONFIRMED] > 100
    assert known[Standing.UNKNOWN] == known[Standing.OPEN] == 0
    kinds = {(sending.express, sending.priority) for sending in theatre.history.sendings.values()}
    assert len(kinds) == 6
    numbers = [sending.number for sending in theatre.history.sendings.values()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_in_bad_weather_it_knows_that_it_does_not_know() -> None:
    theatre = Theatre()
    theatre.weather.answer_lost = 0.2
    theatre.rounds(Producer("producer", theatre.stage), turns=100)
    assert standings(theatre)[Standing.UNKNOWN] > 5


def test_some_of_a_latecomers_messages_come_too_late() -> None:
    theatre = Theatre()
    theatre.rounds(Latecomer("late", theatre.stage), turns=60)
    assert {"OK", "IO_TIMEOUT"} <= theatre.statuses()
    assert standings(theatre)[Standing.REFUSED] > 0


def test_a_travellers_messages_come_home() -> None:
    theatre = Theatre()
    theatre.rounds(Traveller("traveller", theatre.stage), turns=200)
    assert len(theatre.witness.ledger.arrived) > 20
    assert "DispatchMessages" in theatre.events()
