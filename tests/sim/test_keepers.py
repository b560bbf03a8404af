"""Applications that look after queues."""

from __future__ import annotations

from reliquary.queueing.facts import PositionMoved, QueueCreated, QueueDeleted
from reliquary.queueing.message import MessageClass
from reliquary.queueing.travel.link import SILENT
from reliquary.sim.keepers import Keeper, Mover, Steward
from reliquary.sim.readers import Holder
from reliquary.sim.senders import Producer, Traveller
from tests.sim.theatre import Theatre


def test_the_administrator_creates_all_the_queues() -> None:
    theatre = Theatre()
    names = theatre.process.manager.state.names
    assert {f"private$\\{path}" for path in theatre.stage.queues} <= set(names)


def test_a_keeper_purges_changes_deletes_and_creates() -> None:
    theatre = Theatre()
    theatre.weather.longest_pause = 1000
    theatre.rounds(Producer("producer", theatre.stage), Keeper("keeper", theatre.stage), turns=1_500)
    assert {"PurgeQueue", "ChangeQueue", "DeleteQueue", "CreateQueue"} <= theatre.events()
    facts = [fact for turned in theatre.history.turns for fact in turned.facts]
    assert any(isinstance(fact, QueueDeleted) for fact in facts)
    assert sum(isinstance(fact, QueueCreated) for fact in facts) > 20


def test_a_mover_moves() -> None:
    theatre = Theatre()
    theatre.rounds(Producer("producer", theatre.stage), Mover("mover", theatre.stage), turns=300)
    moves = [
        fact for turned in theatre.history.turns for fact in turned.facts if isinstance(fact, PositionMoved)
    ]
    assert any(fact.reason is MessageClass.NORMAL for fact in moves)


def test_a_mover_returns_what_was_put_aside() -> None:
    theatre = Theatre(2)
    cast = [kind(kind.__name__, theatre.stage) for kind in (Producer, Holder, Mover)]
    theatre.rounds(*cast, turns=1_500)
    stated = [fact for turned in theatre.history.turns for fact in turned.facts]
    moves = [fact for fact in stated if isinstance(fact, PositionMoved)]
    aside = {fact.target for fact in moves if fact.reason is MessageClass.NACK_RECEIVE_REJECTED}
    assert any(fact.source in aside and fact.reason is MessageClass.NORMAL for fact in moves)


def test_a_steward_stops_traffic_and_lets_it_go_on_in_the_end() -> None:
    theatre = Theatre()
    theatre.rounds(Traveller("traveller", theatre.stage), Steward("steward", theatre.stage), turns=400)
    assert {"PauseQueue", "ResumeQueue", "TakeOffline", "BringOnline"} <= theatre.events()
    state = theatre.process.manager.state
    assert state.online
    assert state.outgoing
    assert all(queue.link and queue.link.state not in SILENT for queue in state.outgoing.values())
