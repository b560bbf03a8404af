"""Tests requests between sites: their order, their losses, and the outcomes of a client."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND
from reliquary.sim.world.requests import REJECTIONS, Failure
from tests.sim.world.two_sites import AskerLeft, DoNothing, HangUp, TwoSites


def test_requests_of_a_connection_arrive_in_their_order_and_so_do_their_answers() -> None:
    sites = TwoSites()
    sites.ask(1, 2, 3)
    sites.passes()
    assert sites.arrived == [1, 2, 3]
    for event in reversed(sites.server.events):
        sites.server.answer(event)
        sites.passes()
    assert sites.ended == [(1, "done"), (2, "done"), (3, "done")]


def test_an_answer_waits_for_those_before_it() -> None:
    sites = TwoSites()
    sites.ask(1, 2)
    sites.passes()
    sites.server.answer(sites.server.events[1])
    sites.passes()
    assert sites.ended == []


def test_after_a_request_that_is_lost_nothing_arrives_and_all_of_it_times_out() -> None:
    sites = TwoSites(lost=1.0)
    sites.ask(1)
    sites.faults.end()
    sites.ask(2)
    sites.passes(2 * SECOND)
    assert sites.arrived == []
    assert sites.ended == [(1, Failure.TIMED_OUT), (2, Failure.TIMED_OUT)]


def test_a_request_whose_answer_is_lost_was_done_nevertheless() -> None:
    sites = TwoSites(answer_lost=1.0)
    sites.ask(1)
    sites.passes()
    sites.server.answer(sites.server.events[0])
    sites.passes(2 * SECOND)
    assert sites.arrived == [1]
    assert sites.ended == [(1, Failure.TIMED_OUT)]


def test_a_connection_that_is_cut_delivers_a_beginning_of_what_was_on_it() -> None:
    beginnings = set()
    for seed in range(60):
        sites = TwoSites(seed, cut=0.5)
        sites.ask(1, 2, 3)
        sites.passes()
        assert sites.arrived == [1, 2, 3][: len(sites.arrived)]
        beginnings.add(len(sites.arrived))
    assert beginnings == {0, 1, 2, 3}


def test_a_request_may_come_twice_and_is_answered_once() -> None:
    sites = TwoSites(repeated=1.0)
    sites.ask(1)
    sites.passes(3 * SECOND)
    assert sites.arrived == [1, 1]
    for event in sites.server.events:
        sites.server.answer(event)
    sites.passes()
    assert sites.ended == [(1, "done")]


def test_what_a_proxy_rejects_never_arrives() -> None:
    sites = TwoSites(rejected=1.0)
    sites.ask(1)
    sites.passes()
    assert sites.arrived == []
    assert sites.ended[0][1] in REJECTIONS


def test_what_has_a_replaced_answer_has_arrived() -> None:
    sites = TwoSites(answer_replaced=1.0)
    sites.ask(1)
    sites.passes()
    sites.server.answer(sites.server.events[0])
    sites.passes()
    assert sites.ended == [(1, 502)]


def test_a_server_that_stops_says_so_and_one_that_is_gone_does_not() -> None:
    sites = TwoSites()
    sites.server.accepting = False
    sites.ask(1)
    sites.passes()
    sites.there.end()
    sites.ask(2, epoch=2)
    sites.passes()
    assert sites.ended == [(1, 503), (2, Failure.NO_CONNECTION)]


def test_a_server_that_ends_breaks_the_connections_to_it() -> None:
    sites = TwoSites()
    sites.ask(1, 2)
    sites.passes()
    sites.there.end()
    sites.passes()
    assert sites.ended == [(1, Failure.LOST), (2, Failure.LOST)]


def test_a_site_that_does_not_exist_has_no_address() -> None:
    sites = TwoSites()
    sites.ask(1, server="z.example")
    sites.passes()
    assert sites.ended == [(1, Failure.NO_ADDRESS)]


@pytest.mark.parametrize("how", ["closes the connection", "dies"])
def test_a_client_that_does_not_listen_any_more_gets_nothing(how: str) -> None:
    sites = TwoSites()
    sites.ask(1)
    sites.passes()
    if how == "dies":
        sites.here.end()
    else:
        sites.perform(HangUp(1))
    sites.server.answer(sites.server.events[0])
    sites.passes()
    assert sites.ended == []


def test_sites_that_cannot_reach_each_other_time_out_until_the_faults_end() -> None:
    sites = TwoSites(partition_every=SECOND // 10)
    for number in range(1, 40):
        sites.ask(number, epoch=number)
        sites.passes()
    assert (1, Failure.TIMED_OUT) in [(1, outcome) for _, outcome in sites.ended]
    sites.faults.end()
    sites.passes(5 * SECOND)
    before = len(sites.arrived)
    sites.ask(99, epoch=99)
    sites.passes()
    assert len(sites.arrived) == before + 1


def test_an_effect_without_a_request_does_nothing() -> None:
    sites = TwoSites()
    sites.perform(DoNothing())
    sites.passes()
    assert (sites.arrived, sites.ended) == ([], [])


def test_requests_that_are_overtaken_arrive_in_any_order_and_are_answered_in_theirs() -> None:
    orders = set()
    for seed in range(40):
        sites = TwoSites(seed, overtaken=0.5)
        sites.ask(1, 2, 3)
        sites.passes()
        for event in sites.server.events:
            sites.server.answer(event)
        sites.passes()
        assert sites.ended == [(1, "done"), (2, "done"), (3, "done")]
        orders.add(tuple(sites.arrived))
    assert len(orders) > 3


def test_a_server_notices_that_a_client_left_which_it_has_not_answered() -> None:
    sites = TwoSites()
    sites.ask(1, 2)
    sites.passes()
    first, second = sites.server.events
    sites.server.answer(first)
    sites.perform(HangUp(1))
    sites.passes()
    assert sites.server.events[2:] == [AskerLeft(second.to)]
