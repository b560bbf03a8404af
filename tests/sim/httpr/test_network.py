"""Tests HTTP between agents: which requests keep their order, which are lost, and which may come late."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND
from reliquary.protocols.httpr.codec.values import Command, Outcome
from reliquary.protocols.httpr.effects import CutConnection
from reliquary.protocols.httpr.events import Failure
from tests.sim.httpr.two_agents import CHANNEL, TwoAgents

LATE = 20 * SECOND


def test_requests_of_an_epoch_arrive_in_their_order_on_one_connection_and_so_do_responses() -> None:
    agents = TwoAgents()
    agents.push(1, 2, 3)
    agents.passes()
    assert agents.arrived == [(1, b"1"), (1, b"2"), (1, b"3")]
    for event in reversed(agents.server.requests):
        agents.server.respond(event)
        agents.passes(SECOND // 10)
    assert agents.outcomes == [1, 2, 3]


def test_bodies_are_bytes_on_the_way_there_and_back() -> None:
    agents = TwoAgents()
    agents.push(1)
    agents.passes()
    (request,) = agents.server.requests
    assert (request.service, request.header.transaction_id) == ("mq", 1)
    agents.server.respond(request, b"x", b"yz")
    agents.passes()
    (response,) = agents.client.events
    assert response.header.outcome is Outcome.COMMIT
    assert [carried.body for carried in response.batch] == [b"x", b"yz"]


def test_after_a_request_that_is_lost_nothing_arrives_and_its_epoch_times_out_once() -> None:
    agents = TwoAgents(lost=1.0)
    agents.push(1)
    agents.faults.end()
    agents.push(2)
    agents.passes(2 * SECOND)
    assert agents.arrived == []
    assert agents.outcomes == [Failure.TIMED_OUT]


def test_a_request_whose_response_is_lost_was_done_nevertheless() -> None:
    agents = TwoAgents(answer_lost=1.0)
    agents.push(1)
    agents.passes()
    agents.server.respond(agents.server.requests[0])
    agents.passes(2 * SECOND)
    assert agents.arrived == [(1, b"1")]
    assert agents.outcomes == [Failure.TIMED_OUT]


@pytest.mark.parametrize("seed", range(5))
def test_a_request_that_is_truncated_never_arrives_and_its_connection_is_gone(seed: int) -> None:
    agents = TwoAgents(seed, truncated=1.0)
    agents.push(1, 2)
    agents.passes()
    assert agents.arrived == []
    assert agents.gone[:1] == [1]
    assert agents.outcomes == [Failure.LOST]


def test_a_response_that_is_truncated_is_no_response() -> None:
    agents = TwoAgents()
    agents.push(1)
    agents.passes()
    agents.faults.truncated = 1.0
    agents.server.respond(agents.server.requests[0], b"x")
    agents.passes()
    assert agents.outcomes == [Failure.LOST]


def test_a_header_may_come_before_its_batch() -> None:
    assert 0 < sum(_begun(seed) for seed in range(20)) < 20


def _begun(seed: int) -> int:
    agents = TwoAgents(seed)
    agents.push(1)
    agents.passes()
    return agents.begun


def test_what_was_given_up_arrives_late_on_its_own_connection_or_on_a_new_one() -> None:
    found = set()
    for seed in range(80):
        agents = TwoAgents(seed, stalled=0.5, repeated=0.5, latest_repeat=LATE)
        agents.push(1)
        agents.passes(3 * SECOND)
        agents.hang_up()
        agents.push(2, epoch=2)
        agents.passes(LATE)
        late = [connection for connection, body in agents.arrived if body == b"1"][-1:]
        newest = max((connection for connection, body in agents.arrived if body == b"2"), default=0)
        if late and newest:
            found.add(late[0] > newest)
    assert found == {True, False}


@pytest.mark.parametrize(
    ("command", "session", "comes"),
    [
        (Command.REPORT, "", False),
        (Command.REPORT, "S1", True),
        (Command.PULL, "", True),
    ],
)
def test_no_report_comes_late_on_a_new_connection_without_a_session(
    command: Command, session: str, comes: bool
) -> None:
    arrived = []
    for seed in range(30):
        agents = TwoAgents(seed, repeated=1.0, latest_repeat=LATE)
        agents.ask(command, session=session)
        agents.passes(2 * SECOND)
        agents.passes(2 * LATE)
        arrived += [connection for connection, _ in agents.arrived if connection > 1]
    assert bool(arrived) is comes


def test_no_forgotten_batch_comes_late_without_a_session() -> None:
    for seed in range(30):
        agents = TwoAgents(seed, repeated=1.0, latest_repeat=LATE)
        agents.push(1)
        agents.passes(1 + SECOND // 10)
        agents.channels.forgotten[CHANNEL] = agents.scheduler.now
        agents.hang_up()
        agents.passes(2 * LATE)
        assert agents.arrived == [(1, b"1")]


def test_a_server_ends_a_connection_and_both_ends_are_notified() -> None:
    agents = TwoAgents()
    agents.push(1)
    agents.passes()
    agents.network.perform("b.example", agents.server, CutConnection(1))
    agents.passes()
    assert agents.gone == [1]
    assert agents.outcomes == [Failure.LOST]


def test_a_response_may_come_to_a_client_that_has_hung_up() -> None:
    agents = TwoAgents(late_response=1.0)
    agents.push(1)
    agents.passes()
    agents.hang_up()
    agents.server.respond(agents.server.requests[0])
    agents.passes()
    assert agents.outcomes == [1]


def test_a_server_that_is_down_cannot_be_reached() -> None:
    agents = TwoAgents()
    agents.there.end()
    agents.push(1)
    agents.passes()
    assert agents.outcomes == [Failure.NO_CONNECTION]


def test_a_server_that_ends_takes_its_connections_along() -> None:
    agents = TwoAgents()
    agents.push(1)
    agents.passes()
    agents.there.end()
    agents.passes()
    assert agents.outcomes == [Failure.LOST]


def test_a_site_that_is_unreachable_gets_no_connection() -> None:
    agents = TwoAgents()
    agents.unreachable.add(("a.example", "b.example"))
    agents.push(1)
    agents.passes()
    assert agents.outcomes == [Failure.NO_CONNECTION]


@pytest.mark.parametrize("kind", ["rejected", "answer_replaced"])
def test_a_proxy_answers_in_place_of_the_server(kind: str) -> None:
    agents = TwoAgents()
    setattr(agents.faults, kind, 1.0)
    agents.push(1)
    agents.passes()
    for request in agents.server.requests:
        agents.server.respond(request)
    agents.passes()
    assert agents.outcomes == [Failure.NOT_HTTPR]
    assert len(agents.arrived) == (kind == "answer_replaced")
