"""Heads of requests that the connections of a listener share, by the address of their client."""

from __future__ import annotations

import pytest

from reliquary.net.http.known_heads import MOST_KEPT, MOST_SHARED, SharedHeads
from tests.net.http.harness import post
from tests.net.http.test_known_heads import Reading, head_of, without_parser


@pytest.mark.parametrize("again", [b"first", b"longer than before", b""])
def test_a_head_that_came_on_another_connection_of_this_address_is_not_parsed(again: bytes) -> None:
    shared = SharedHeads()
    one, other = Reading(heads=shared, number=1, peer="10.0.0.1"), Reading(heads=shared, number=2)
    other.reader.peer = "10.0.0.1"
    one.feed([post("/a", b"first")])
    one.found[0].notes.route = "found"
    without_parser(other)
    other.feed([post("/a", again) + post("/a", again)])
    assert [request.body for request in other.found] == [again, again]
    assert [request.connection for request in one.found + other.found] == [1, 2, 2]
    assert [request.notes.route for request in other.found] == ["found", "found"]
    assert {request.header(b"content-length") for request in other.found} == {b"%d" % len(again)}


def test_a_head_without_a_length_is_shared_by_all_of_its_bytes() -> None:
    shared = SharedHeads()
    one, other = Reading(heads=shared), Reading(heads=shared)
    ask = b"GET / HTTP/1.1\r\nAccept: 1\r\n\r\n"
    one.feed([ask])
    without_parser(other)
    other.feed([ask + ask])
    assert [request.header(b"accept") for request in other.found] == [b"1", b"1"]


def test_a_head_that_came_from_another_address_is_parsed() -> None:
    shared = SharedHeads()
    one, other = Reading(heads=shared, peer="10.0.0.1"), Reading(heads=shared, peer="10.0.0.2")
    one.feed([post("/a", b"x")])
    one.found[0].notes.route = "found"
    other.feed([post("/a", b"x")])
    assert other.found[0].notes.route is None
    assert other.found[0].peer == "10.0.0.2"
    assert len(shared) == 2


def test_a_connection_that_goes_through_many_queues_finds_their_heads() -> None:
    reading = Reading()
    requests = [post(f"/{number}", b"x") for number in range(10 * MOST_KEPT)]
    reading.feed(requests)
    without_parser(reading)
    reading.feed(requests)
    assert len(reading.found) == 20 * MOST_KEPT
    assert len(reading.heads) == MOST_KEPT


def test_shared_heads_take_a_bounded_memory_and_the_oldest_are_dropped() -> None:
    shared = SharedHeads(60_000)
    reading = Reading(heads=shared)
    reading.feed([post(f"/{number:03}", b"x") for number in range(60)])
    room = len(shared)
    assert 20 < room < 60
    reading.feed([post("/059", b"y" * 100)])  # it is known, whatever its length
    Reading(heads=shared).feed([post("/long", b"x", *(f"X-{number}: {'x' * 50}" for number in range(28)))])
    assert room - 6 < len(shared) < room
    newest, oldest = post("/059", b"x"), post("/000", b"x")
    assert shared.find(newest, 0, "") is not None
    assert shared.find(oldest, 0, "") is None
    assert MOST_SHARED == 16 * 1024 * 1024


def test_a_head_that_two_connections_bring_at_one_time_is_kept_once() -> None:
    shared = SharedHeads(3000)
    one, other = Reading(heads=shared), Reading(heads=shared)
    head = head_of(post("/a", b"x"))
    one.feed([head])
    other.feed([head])
    one.feed([b"x"])
    other.feed([b"x"])
    one.feed([post("/b", b"x")])
    assert len(shared) == 2


def test_shared_heads_are_forgotten_when_the_users_change() -> None:
    shared = SharedHeads()
    one, other = Reading(heads=shared), Reading(heads=shared)
    one.feed([post("/a", b"x")])
    one.found[0].notes.route = "alice"
    other.feed([post("/a", b"y")])
    shared.forget_routes()
    assert other.found[0].notes.route is None
    assert len(shared) == 0
    assert not shared.is_full
