"""Tests a response while it comes: what it becomes, and what is left of one that is cut off."""

from __future__ import annotations

import pytest

from reliquary.net.http import BadResponse, ConnectionLost
from reliquary.net.http.failures import Failure
from reliquary.net.httpr.incoming import Incoming
from reliquary.protocols.httpr.codec.reader import LARGE, PIECE
from reliquary.protocols.httpr.codec.values import BatchLimits, Disposition
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.queueing.model.message import StoredBody
from tests.net.httpr.harness import LIMITS, PULL, BodyStore, committed, pulled

DATA = bytes(range(256)) * (LARGE // 256) + b"and more"


class Watched(Incoming):
    """Counts how often it changed."""

    def __init__(self, store: BodyStore, limits: BatchLimits | None = LIMITS) -> None:
        self.changes = 0
        super().__init__(SendRequest(1, 2, 3, "http://h/", PULL, limits=limits), store, self._count)

    def _count(self) -> None:
        self.changes += 1


def test_a_small_response_is_whole_when_it_has_ended() -> None:
    incoming = Watched(BodyStore())
    incoming.begun(200, [])
    incoming.taken(pulled(7, b"a", b"b"))
    states = [incoming.is_whole]
    incoming.ended()
    assert [*states, incoming.is_whole] == [False, True]
    arrived = incoming.arrived()
    assert (arrived.channel, arrived.epoch, arrived.number) == (1, 2, 3)
    assert [carried.body for carried in arrived.batch] == [b"a", b"b"]
    assert arrived.disposition is Disposition.LAST
    assert incoming.body_bytes == len(pulled(7, b"a", b"b"))


def test_one_without_a_batch_has_no_disposition() -> None:
    incoming = Watched(BodyStore(), limits=None)
    incoming.begun(200, [])
    incoming.taken(committed(1))
    incoming.ended()
    assert (incoming.arrived().batch, incoming.arrived().disposition) == ((), None)


class TestLarge:
    """Large bodies go to disk, a piece at a time."""

    @staticmethod
    def fed(store: BodyStore, *bodies: bytes) -> Watched:
        incoming = Watched(store)
        incoming.begun(200, [])
        incoming.taken(pulled(7, *bodies))
        return incoming

    def test_each_piece_is_stored_before_the_next_is_looked_at(self) -> None:
        store = BodyStore(at_once=False)
        incoming = self.fed(store, b"first", DATA, b"last", DATA)
        incoming.ended()
        stored = 0
        while incoming.is_storing:
            assert len(store.due) == 1
            assert not incoming.is_whole
            changes = incoming.changes
            store.settle()
            assert incoming.changes > changes
            stored += 1
        assert stored == 2 * (LARGE // PIECE + 1)
        assert incoming.is_whole
        first, large, last, other = incoming.arrived().batch
        assert (first.body, last.body) == (b"first", b"last")
        assert (large.header, large.body) == ("app-x:1\r\n", b"")
        assert large.stored == StoredBody(1, len(DATA), LARGE // PIECE + 1)
        assert other.stored == StoredBody(2, len(DATA), LARGE // PIECE + 1)
        assert b"".join(store.bodies[1]) == b"".join(store.bodies[2]) == DATA
        assert store.dropped == []

    def test_a_response_that_is_cut_off_is_dropped_with_all_that_was_stored(self) -> None:
        store = BodyStore(at_once=False)
        incoming = self.fed(store, DATA, DATA)
        for _ in range(LARGE // PIECE + 3):
            store.settle()
        assert set(store.bodies) == {1, 2}
        incoming.failed(ConnectionLost("cut", began=True))
        assert (incoming.failure, incoming.why) == (Failure.LOST, "cut")
        incoming.give_up()
        store.settle()  # which was on its way
        assert (store.bodies, store.due) == ({}, [])
        assert sorted(store.dropped) == [1, 2]

    def test_a_response_that_is_given_up_between_two_pieces_is_dropped_at_once(self) -> None:
        store = BodyStore(at_once=False)
        incoming = Watched(store)
        incoming.begun(200, [])
        incoming.taken(pulled(7, DATA)[: PIECE + 1000])
        store.settle()
        assert not incoming.is_storing
        changes = incoming.changes
        incoming.give_up()
        assert store.dropped == [1]
        incoming.failed(ConnectionLost("cut", began=True))
        assert (incoming.failure, incoming.changes) == (None, changes)

    def test_a_first_piece_that_is_on_its_way_is_dropped_when_it_is_there(self) -> None:
        store = BodyStore(at_once=False)
        incoming = self.fed(store, DATA)
        incoming.give_up()
        assert store.dropped == []
        store.settle()
        assert (store.dropped, store.due) == ([1], [])

    @pytest.mark.parametrize("given_up", [False, True])
    def test_a_piece_that_cannot_be_stored_ends_the_response(self, given_up: bool) -> None:
        store = BodyStore(at_once=False)
        incoming = self.fed(store, DATA)
        store.settle()
        if given_up:
            incoming.give_up()
        store.settle(refuse=True)
        if not given_up:
            assert incoming.failure is Failure.LOST
            assert incoming.why == "a large body could not be stored: full"
            incoming.give_up()
        assert (store.bodies, store.dropped, store.due) == ({}, [1], [])


class TestFailure:
    """The first thing that is wrong counts."""

    def test_another_status_is_a_bad_response(self) -> None:
        incoming = Watched(BodyStore())
        incoming.begun(503, [])
        incoming.taken(b"<html>")
        incoming.ended()
        assert (incoming.failure, incoming.is_whole) == (Failure.BAD_RESPONSE, False)
        assert incoming.why == "the status is 503, not 200"
        assert incoming.changes == 1

    def test_bytes_that_are_no_http_are_a_bad_response(self) -> None:
        incoming = Watched(BodyStore())
        incoming.failed(BadResponse("what?"))
        incoming.failed(ConnectionLost("later", began=False))
        assert (incoming.failure, incoming.why) == (Failure.BAD_RESPONSE, "what?")

    def test_a_batch_above_its_limits_is_a_bad_response(self) -> None:
        incoming = Watched(BodyStore(), BatchLimits(10, 1))
        incoming.begun(200, [])
        incoming.taken(pulled(7, b"x" * 11))
        assert incoming.failure is Failure.BAD_RESPONSE
        incoming = Watched(BodyStore(), BatchLimits(10, 1))
        incoming.begun(200, [])
        incoming.taken(pulled(7, b"x", b"y"))
        assert incoming.failure is Failure.BAD_RESPONSE
