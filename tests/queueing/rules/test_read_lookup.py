"""Tests Read Message By Lookup Identifier, [MS-MQDMPR] 3.1.7.1.13 and 3.1.7.3.3."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.model.events import CommitTransaction, EndRead, LookUpMessage, PurgeQueue, Seek
from tests.queueing.answers import body, everything, sleep_through
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check

NOT_FOUND = HResult.MESSAGE_NOT_FOUND


class Three:
    """A queue of three messages, and their LookupIdentifiers."""

    def __init__(self, **attributes: Any) -> None:
        self.bench = Bench()
        self.m1, self.m2, self.m3 = self.bench.send("orders", b"m1", b"m2", b"m3", **attributes).lookup_ids

    def look(self, lookup_id: int, seek: Seek = Seek.CURRENT, **parameters: Any) -> Any:
        return self.bench.ask(LookUpMessage(0, "orders", lookup_id, seek, **parameters))

    def lock(self, lookup_id: int) -> None:
        self.look(lookup_id, peek=False, transaction=self.bench.begin())


@pytest.mark.spec("DM-070", "DM-222", "DM-304", "DM-308", "DM-309", "DM-310")
@pytest.mark.parametrize("peek", [True, False])
@pytest.mark.parametrize(
    ("seek", "found"),
    [
        (Seek.PREVIOUS, b"m1"),
        (Seek.CURRENT, b"m2"),
        (Seek.NEXT, b"m3"),
        (Seek.FIRST, b"m1"),
        (Seek.LAST, b"m3"),
    ],
)
def test_each_seek_finds_its_message(seek: Seek, found: bytes, peek: bool) -> None:
    """T55, reads by LookupIdentifier in all directions: the neighbour that was asked for."""
    three = Three()
    assert body(three.look(three.m2, seek, peek=peek)) == found
    left = [each for each in (b"m1", b"m2", b"m3") if peek or each != found]
    assert three.bench.bodies() == left


@pytest.mark.spec("DM-306", "DM-308")
@pytest.mark.parametrize(
    ("seek", "at", "found"),
    [
        pytest.param(Seek.PREVIOUS, "m1", NOT_FOUND, id="nothing before the first"),
        pytest.param(Seek.NEXT, "m3", NOT_FOUND, id="nothing behind the last"),
        pytest.param(Seek.FIRST, "0", b"m1", id="first asks for no id"),
        pytest.param(Seek.LAST, "ones", b"m3", id="last asks for no id"),
        pytest.param(Seek.NEXT, "0", b"m1", id="from before everything"),
        pytest.param(Seek.PREVIOUS, "ones", b"m3", id="from behind everything"),
        pytest.param(Seek.CURRENT, "0", NOT_FOUND, id="current asks for this very id"),
    ],
)
def test_a_seek_from_the_edge_finds_the_expected_message(seek: Seek, at: str, found: object) -> None:
    """AN-25, AN-26: a seek from the first or the last message, or from an edge of the numbers."""
    three = Three()
    places = {"m1": three.m1, "m3": three.m3, "0": 0, "ones": 2**64 - 1}
    assert body(three.look(places[at], seek)) == found


@pytest.mark.parametrize("seek", list(Seek))
@pytest.mark.parametrize("peek", [True, False])
def test_an_empty_queue_has_nothing_to_seek(seek: Seek, peek: bool) -> None:
    bench = Bench()
    assert bench.ask(LookUpMessage(0, "orders", 5, seek, peek)).status is NOT_FOUND


@pytest.mark.spec("DM-218", "DM-307")
def test_an_id_that_no_message_has_is_not_found() -> None:
    """T57, an unknown LookupIdentifier: no message found."""
    three = Three()
    for peek in (True, False):
        answer = three.look(three.m3 + 1, peek=peek)
        assert answer.status is NOT_FOUND
        assert answer.why


def test_a_seek_goes_on_from_the_place_of_a_message_that_is_gone() -> None:
    """AN-34: a cursor whose message has gone goes on from where it was."""
    three = Three()
    three.look(three.m2, peek=False)
    assert three.look(three.m2).status is NOT_FOUND
    assert body(three.look(three.m2, Seek.NEXT)) == b"m3"
    assert body(three.look(three.m2, Seek.PREVIOUS)) == b"m1"


@pytest.mark.spec("DM-304", "DM-311", "DM-313")
def test_a_locked_message_is_passed_over() -> None:
    """T56, the message is locked: refused, unless peeking is allowed."""
    three = Three()
    three.lock(three.m2)
    assert three.look(three.m2).status is HResult.TRANSACTION_USAGE
    assert three.look(three.m2, peek=False).status is NOT_FOUND
    for peek in (True, False):
        assert body(three.look(three.m1, Seek.NEXT, peek=peek)) == b"m3"
        if not peek:
            break
        assert body(three.look(three.m3, Seek.PREVIOUS, peek=peek)) == b"m1"


@pytest.mark.spec("DM-305", "DM-311")
def test_a_locked_message_that_allows_it_shows_to_a_peek() -> None:
    three = Three(allow_peek_when_locked=True)
    three.lock(three.m2)
    assert body(three.look(three.m2)) == b"m2"
    assert body(three.look(three.m1, Seek.NEXT)) == b"m2"
    assert body(three.look(three.m3, Seek.PREVIOUS)) == b"m2"
    assert three.look(three.m2, peek=False).status is NOT_FOUND
    assert body(three.look(three.m1, Seek.NEXT, peek=False)) == b"m3"


def test_a_message_with_a_purge_pending_counts_as_locked() -> None:
    """AN-27: peeking at a message with a purge pending is as at a locked one."""
    three = Three()
    three.lock(three.m2)
    three.bench.ask(PurgeQueue(0, "orders"))
    assert three.look(three.m2).status is HResult.TRANSACTION_USAGE
    assert three.look(three.m2, peek=False).status is NOT_FOUND


@pytest.mark.spec("DM-219")
def test_a_lookup_receives_in_a_transaction() -> None:
    three = Three()
    transaction = three.bench.begin()
    assert body(three.look(three.m2, peek=False, transaction=transaction)) == b"m2"
    assert set(three.bench.queue().order.locked) == {three.m2}
    three.bench.ask(CommitTransaction(0, transaction))
    assert three.bench.bodies() == [b"m1", b"m3"]
    check(three.bench.state)


@pytest.mark.spec("DM-220")
def test_a_lookup_receives_on_trial() -> None:
    three = Three()
    answer = three.look(three.m2, peek=False, hold=seconds(30))
    assert body(answer) == b"m2"
    assert three.bench.bodies() == [b"m1", b"m3"]
    three.bench.ask(EndRead(0, answer.receipt, delete=False))
    assert three.bench.bodies() == [b"m1", b"m2", b"m3"]


@pytest.mark.spec("DM-221", "DM-286")
def test_a_lookup_receives_permanently() -> None:
    three = Three()
    three.look(three.m2, peek=False)
    three.bench.restart()
    assert three.bench.bodies() == [b"m1", b"m3"]
    check(three.bench.state)


@pytest.mark.spec("DM-216")
def test_a_peek_is_in_no_transaction() -> None:
    three = Three()
    transaction = three.bench.begin()
    before = everything(three.bench.state)
    assert three.look(three.m1, transaction=transaction).status is HResult.INVALID_PARAMETER
    assert everything(three.bench.state) == before


def test_a_lookup_is_held_or_in_a_transaction_but_not_both() -> None:
    three = Three()
    transaction = three.bench.begin()
    before = everything(three.bench.state)
    answer = three.look(three.m1, peek=False, transaction=transaction, hold=seconds(30))
    assert answer.status is HResult.INVALID_PARAMETER
    assert everything(three.bench.state) == before


@pytest.mark.parametrize("seek", list(Seek))
def test_a_lookup_does_not_see_a_message_whose_time_is_over(seek: Seek) -> None:
    bench = Bench()
    lookup_ids = [bench.send("orders", b"short", time_to_be_received=10).lookup_ids[0] for _ in range(3)]
    sleep_through(bench, 10)
    assert bench.ask(LookUpMessage(0, "orders", lookup_ids[1], seek)).status is NOT_FOUND
    bench.advance(0)
    check(bench.state)


@pytest.mark.parametrize("lookup_id", [-1, 2**64, 2**80])
def test_an_id_outside_its_range_is_refused(lookup_id: int) -> None:
    three = Three()
    before = everything(three.bench.state)
    for seek in Seek:
        answer = three.look(lookup_id, seek)
        assert answer.status is HResult.INVALID_PARAMETER
        assert str(lookup_id) in answer.why
        assert str(2**64 - 1) in answer.why
    assert everything(three.bench.state) == before
