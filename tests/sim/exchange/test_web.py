"""HTTP between sites: what it keeps in order, what it loses, and what a client then knows."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND
from reliquary.protocols.srmp.events import Failure
from tests.sim.exchange.village import Village


def test_posts_of_a_session_arrive_in_their_order_and_so_do_their_answers() -> None:
    village = Village()
    village.post(b"1", b"2", b"3")
    village.passes()
    assert village.arrived == [b"1", b"2", b"3"]
    for event in reversed(village.server.heard):
        village.server.answer(event)
        village.passes()
    assert village.ended == [(1, 200), (2, 200), (3, 200)]


def test_an_answer_waits_for_those_before_it() -> None:
    village = Village()
    village.post(b"1", b"2")
    village.passes()
    village.server.answer(village.server.heard[1])
    village.passes()
    assert village.ended == []


def test_after_a_post_that_is_lost_nothing_arrives_and_all_of_it_times_out() -> None:
    village = Village(lost=1.0)
    village.post(b"1")
    village.roads.clear_up()
    village.post(b"2")
    village.passes(2 * SECOND)
    assert village.arrived == []
    assert village.ended == [(1, Failure.TIMED_OUT), (2, Failure.TIMED_OUT)]


def test_a_post_whose_answer_is_lost_was_done_all_the_same() -> None:
    village = Village(silenced=1.0)
    village.post(b"1")
    village.passes()
    village.server.answer(village.server.heard[0])
    village.passes(2 * SECOND)
    assert village.arrived == [b"1"]
    assert village.ended == [(1, Failure.TIMED_OUT)]


def test_a_connection_that_is_cut_delivers_a_beginning_of_what_was_on_it() -> None:
    beginnings = set()
    for seed in range(60):
        village = Village(seed, cut=0.5)
        village.post(b"1", b"2", b"3")
        village.passes()
        assert village.arrived == [b"1", b"2", b"3"][: len(village.arrived)]
        beginnings.add(len(village.arrived))
    assert beginnings == {0, 1, 2, 3}


def test_a_post_may_come_twice_and_is_answered_once() -> None:
    village = Village(repeated=1.0)
    village.post(b"1")
    village.passes(3 * SECOND)
    assert village.arrived == [b"1", b"1"]
    for event in village.server.heard:
        village.server.answer(event)
    village.passes()
    assert village.ended == [(1, 200)]


def test_what_is_turned_away_never_arrives() -> None:
    village = Village(turned_away=1.0)
    village.post(b"1")
    village.passes()
    assert village.arrived == []
    assert village.ended[0][1] in (404, 429, 500, 502, 503, 504)


def test_what_is_disowned_has_arrived() -> None:
    village = Village(disowned=1.0)
    village.post(b"1")
    village.passes()
    village.server.answer(village.server.heard[0])
    village.passes()
    assert village.ended == [(1, 502)]


def test_a_server_that_stops_says_so_and_one_that_is_gone_does_not() -> None:
    village = Village()
    village.server.accepting = False
    village.post(b"1")
    village.passes()
    village.there.end()
    village.post(b"2", epoch=2)
    village.passes()
    assert village.ended == [(1, 503), (2, Failure.NO_CONNECTION)]


def test_a_server_that_dies_breaks_the_connections_to_it() -> None:
    village = Village()
    village.post(b"1", b"2")
    village.passes()
    village.there.end()
    village.passes()
    assert village.ended == [(1, Failure.LOST), (2, Failure.LOST)]


def test_nobody_has_the_address_of_a_site_that_is_not_there() -> None:
    village = Village()
    village.post(b"1", server="http://z.example")
    village.passes()
    assert village.ended == [(1, Failure.NO_ADDRESS)]


@pytest.mark.parametrize("how", ["closes the session", "dies"])
def test_a_client_that_does_not_listen_any_more_is_told_nothing(how: str) -> None:
    village = Village()
    village.post(b"1")
    village.passes()
    if how == "dies":
        village.here.end()
    else:
        village.close()
    village.server.answer(village.server.heard[0])
    village.passes()
    assert village.ended == []


def test_sites_that_cannot_reach_each_other_time_out_until_the_roads_clear_up() -> None:
    village = Village(closed_every=SECOND // 10)
    for number in range(1, 40):
        village.post(b"%d" % number, epoch=number)
        village.passes()
    assert (1, Failure.TIMED_OUT) in [(1, outcome) for _, outcome in village.ended]
    village.roads.clear_up()
    village.passes(5 * SECOND)
    before = len(village.arrived)
    village.post(b"99", epoch=99)
    village.passes()
    assert len(village.arrived) == before + 1
