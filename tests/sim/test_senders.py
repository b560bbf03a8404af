"""Tests applications that send: their messages, and the outcomes that they record."""

from __future__ import annotations

from collections import Counter

from reliquary.sim.history import SenderKnowledge
from reliquary.sim.senders import ExpiringSender, OutgoingSender, Producer
from tests.sim.simulated_server import SimulatedServer


def standings(server: SimulatedServer) -> Counter[SenderKnowledge]:
    return Counter(sending.standing for sending in server.history.sendings.values())


def test_a_producer_without_faults_has_the_outcome_of_each_message() -> None:
    server = SimulatedServer()
    server.rounds(Producer("producer", server.context), turns=150)
    known = standings(server)
    assert known[SenderKnowledge.CONFIRMED] > 100
    assert known[SenderKnowledge.UNKNOWN] == known[SenderKnowledge.OPEN] == 0
    kinds = {(sending.express, sending.priority) for sending in server.history.sendings.values()}
    assert len(kinds) == 6
    numbers = [sending.number for sending in server.history.sendings.values()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_producer_with_faults_records_unknown_outcomes() -> None:
    server = SimulatedServer()
    server.faults.answer_lost = 0.2
    server.rounds(Producer("producer", server.context), turns=100)
    assert standings(server)[SenderKnowledge.UNKNOWN] > 5


def test_some_messages_of_an_expiring_sender_come_too_late() -> None:
    server = SimulatedServer()
    server.rounds(ExpiringSender("late", server.context), turns=60)
    assert {"OK", "IO_TIMEOUT"} <= server.statuses()
    assert standings(server)[SenderKnowledge.REFUSED] > 0


def test_messages_through_an_outgoing_queue_arrive() -> None:
    server = SimulatedServer()
    server.rounds(OutgoingSender("outgoing", server.context), turns=200)
    assert len(server.witness.ledger.arrived) > 20
    assert "DispatchMessages" in server.events()
