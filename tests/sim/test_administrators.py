"""Tests the applications that administer queues."""

from __future__ import annotations

from reliquary.queueing.model.facts import PositionMoved, QueueCreated, QueueDeleted
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.travel.link import SILENT
from reliquary.sim.administrators import MessageMover, Operator, QueueChanger
from reliquary.sim.readers import TrialReceiver
from reliquary.sim.senders import OutgoingSender, Producer
from tests.sim.simulated_server import SimulatedServer


def test_the_administrator_creates_all_the_queues() -> None:
    server = SimulatedServer()
    names = server.process.manager.state.names.by_path
    assert {f"private$\\{path}" for path in server.context.queues} <= set(names)


def test_a_changer_purges_changes_deletes_and_creates() -> None:
    server = SimulatedServer()
    server.faults.longest_pause = 1000
    server.rounds(Producer("producer", server.context), QueueChanger("changer", server.context), turns=1_500)
    assert {"PurgeQueue", "ChangeQueue", "DeleteQueue", "CreateQueue"} <= server.events()
    facts = [fact for turned in server.history.turns for fact in turned.facts]
    assert any(isinstance(fact, QueueDeleted) for fact in facts)
    assert sum(isinstance(fact, QueueCreated) for fact in facts) > 20


def test_messages_are_moved() -> None:
    server = SimulatedServer()
    server.rounds(Producer("producer", server.context), MessageMover("mover", server.context), turns=300)
    moves = [
        fact for turned in server.history.turns for fact in turned.facts if isinstance(fact, PositionMoved)
    ]
    assert any(fact.reason is MessageClass.NORMAL for fact in moves)


def test_poison_messages_are_moved_back() -> None:
    server = SimulatedServer(2)
    applications = [kind(kind.__name__, server.context) for kind in (Producer, TrialReceiver, MessageMover)]
    server.rounds(*applications, turns=1_500)
    stated = [fact for turned in server.history.turns for fact in turned.facts]
    moves = [fact for fact in stated if isinstance(fact, PositionMoved)]
    aside = {fact.target for fact in moves if fact.reason is MessageClass.NACK_RECEIVE_REJECTED}
    assert any(fact.source in aside and fact.reason is MessageClass.NORMAL for fact in moves)


def test_an_operator_stops_traffic_and_lets_it_go_on_in_the_end() -> None:
    server = SimulatedServer()
    server.rounds(OutgoingSender("outgoing", server.context), Operator("operator", server.context), turns=400)
    assert {"PauseQueue", "ResumeQueue", "TakeOffline", "BringOnline"} <= server.events()
    state = server.process.manager.state
    assert state.travel.online
    assert state.names.outgoing
    assert all(queue.link and queue.link.state not in SILENT for queue in state.names.outgoing.values())
