"""HTTP between agents: what it keeps in order, what it loses, and what may come late."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND
from reliquary.protocols.httpr.codec.values import Command, Outcome
from reliquary.protocols.httpr.events import Failure
from tests.sim.httpr.street import CHANNEL, Street

LATE = 20 * SECOND


def test_requests_of_an_epoch_arrive_in_their_order_on_one_connection_and_so_do_responses() -> None:
    street = Street()
    street.push(1, 2, 3)
    street.passes()
    assert street.arrived == [(1, b"1"), (1, b"2"), (1, b"3")]
    for event in reversed(street.server.requests):
        street.server.answer(event)
        street.passes(SECOND // 10)
    assert street.heard == [1, 2, 3]


def test_bodies_are_bytes_on_the_way_there_and_back() -> None:
    street = Street()
    street.push(1)
    street.passes()
    (request,) = street.server.requests
    assert (request.service, request.header.transaction_id) == ("mq", 1)
    street.server.answer(request, b"x", b"yz")
    street.passes()
    (response,) = street.client.heard
    assert response.header.outcome is Outcome.COMMIT
    assert [carried.body for carried in response.batch] == [b"x", b"yz"]


def test_after_a_request_that_is_lost_nothing_arrives_and_its_epoch_times_out_once() -> None:
    street = Street(lost=1.0)
    street.push(1)
    street.lanes.clear_up()
    street.push(2)
    street.passes(2 * SECOND)
    assert street.arrived == []
    assert street.heard == [Failure.TIMED_OUT]


def test_a_request_whose_response_is_lost_was_done_all_the_same() -> None:
    street = Street(silenced=1.0)
    street.push(1)
    street.passes()
    street.server.answer(street.server.requests[0])
    street.passes(2 * SECOND)
    assert street.arrived == [(1, b"1")]
    assert street.heard == [Failure.TIMED_OUT]


@pytest.mark.parametrize("seed", range(5))
def test_a_request_that_is_torn_never_arrives_and_its_connection_is_gone(seed: int) -> None:
    street = Street(seed, torn=1.0)
    street.push(1, 2)
    street.passes()
    assert street.arrived == []
    assert street.gone[:1] == [1]
    assert street.heard == [Failure.LOST]


def test_a_response_that_is_torn_is_no_response() -> None:
    street = Street()
    street.push(1)
    street.passes()
    street.lanes.torn = 1.0
    street.server.answer(street.server.requests[0], b"x")
    street.passes()
    assert street.heard == [Failure.LOST]


def test_a_header_may_come_before_its_batch() -> None:
    assert 0 < sum(_begun(seed) for seed in range(20)) < 20


def _begun(seed: int) -> int:
    street = Street(seed)
    street.push(1)
    street.passes()
    return street.begun


def test_what_was_given_up_arrives_late_on_its_own_connection_or_on_a_new_one() -> None:
    found = set()
    for seed in range(80):
        street = Street(seed, stalled=0.5, repeated=0.5, latest_repeat=LATE)
        street.push(1)
        street.passes(3 * SECOND)
        street.hang_up()
        street.push(2, epoch=2)
        street.passes(LATE)
        late = [connection for connection, body in street.arrived if body == b"1"][-1:]
        newest = max((connection for connection, body in street.arrived if body == b"2"), default=0)
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
def test_without_a_session_no_report_comes_late_on_a_new_connection(
    command: Command, session: str, comes: bool
) -> None:
    arrived = []
    for seed in range(30):
        street = Street(seed, repeated=1.0, latest_repeat=LATE)
        street.ask(command, session=session)
        street.passes(2 * SECOND)
        street.passes(2 * LATE)
        arrived += [connection for connection, _ in street.arrived if connection > 1]
    assert bool(arrived) is comes


def test_without_a_session_no_batch_comes_late_that_was_forgotten() -> None:
    for seed in range(30):
        street = Street(seed, repeated=1.0, latest_repeat=LATE)
        street.push(1)
        street.passes(1 + SECOND // 10)
        street.channels.forgotten[CHANNEL] = street.scheduler.now
        street.hang_up()
        street.passes(2 * LATE)
        assert street.arrived == [(1, b"1")]


def test_a_server_ends_a_connection_and_both_hear_of_it() -> None:
    street = Street()
    street.push(1)
    street.passes()
    street.web.cut(street.server, 1)
    street.passes()
    assert street.gone == [1]
    assert street.heard == [Failure.LOST]


def test_a_response_may_come_to_a_client_that_has_hung_up() -> None:
    street = Street(haunted=1.0)
    street.push(1)
    street.passes()
    street.hang_up()
    street.server.answer(street.server.requests[0])
    street.passes()
    assert street.heard == [1]


def test_a_server_that_is_down_cannot_be_reached() -> None:
    street = Street()
    street.there.end()
    street.push(1)
    street.passes()
    assert street.heard == [Failure.NO_CONNECTION]


def test_a_server_that_ends_takes_its_connections_along() -> None:
    street = Street()
    street.push(1)
    street.passes()
    street.there.end()
    street.passes()
    assert street.heard == [Failure.LOST]


def test_nobody_gets_through_a_wall() -> None:
    street = Street()
    street.web.walls = {("a.example", "b.example")}
    street.push(1)
    street.passes()
    assert street.heard == [Failure.NO_CONNECTION]


@pytest.mark.parametrize("kind", ["turned_away", "disowned"])
def test_somebody_in_between_says_no(kind: str) -> None:
    street = Street()
    setattr(street.lanes, kind, 1.0)
    street.push(1)
    street.passes()
    for request in street.server.requests:
        street.server.answer(request)
    street.passes()
    assert street.heard == [Failure.NOT_HTTPR]
    assert len(street.arrived) == (kind == "disowned")
