"""The room changes: sources that wait are notified, and a start finds the truth again."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.values import Acknowledgement
from reliquary.protocols.wsrm.destination.acknowledging import due_to, take_due
from reliquary.protocols.wsrm.destination.room import on_room_known
from reliquary.queueing.model.travel.transfer import RoomKnown
from tests.protocols.wsrm.destination.rmd import ADDRESS, POLLED, Rmd, numbered


def value(got: Acknowledgement | None) -> int:
    assert got is not None
    return got.buffer


@pytest.mark.spec("FC-012", "FC-014", "FC-015", "FC-016", "FC-018", "FC-022")
@pytest.mark.wsrm("T17")
def test_the_destination_answers_the_seven_messages_of_the_example() -> None:
    """[MS-WSRVCRM] 4.1, as the destination sees it: room for two messages, and a reader that comes late."""
    rmd = Rmd(bounded=True, window=2)
    sequence = rmd.create(ADDRESS)

    def exchanged(number: int) -> tuple[tuple[tuple[int, int], ...], int]:
        rmd.send(sequence, number)
        got = rmd.acknowledgements_sent[-1]
        return got.ranges, got.buffer

    assert exchanged(1) == (((1, 1),), 1)
    assert exchanged(2) == (((1, 2),), 0)
    rmd.read()
    last = rmd.acknowledgements_sent[-1]
    assert (last.ranges, last.buffer) == (((1, 2),), 1), "message 5: it goes out by itself"
    assert exchanged(3) == (((1, 3),), 0)
    assert len(rmd.acknowledgements_sent) == 4


@pytest.mark.wsrm("T33")
def test_room_that_comes_back_is_reported_once() -> None:
    rmd = Rmd(bounded=True, window=4)
    sequence = rmd.create(ADDRESS)
    rmd.send(sequence, 1, 2, 3, 4)
    assert [each.buffer for each in rmd.acknowledgements_sent] == [2, 0]
    rmd.read()
    assert [each.buffer for each in rmd.acknowledgements_sent] == [2, 0, 1]
    rmd.read(count=3)
    assert len(rmd.acknowledgements_sent) == 3, "further room causes no acknowledgement"
    rmd.ask(sequence)
    assert rmd.acknowledgements_sent[-1].buffer == 4


def test_a_client_that_polls_finds_the_acknowledgement_when_room_comes_back() -> None:
    rmd = Rmd(bounded=True, window=1)
    sequence = rmd.create(POLLED)
    rmd.send(sequence, 1)
    assert [each.buffer for each in take_due(rmd.state, POLLED.address)] == [0]
    assert due_to(rmd.state, POLLED.address) == []
    rmd.read()
    assert [each.buffer for each in take_due(rmd.state, POLLED.address)] == [1]
    rmd.turn(rmd.tell_room)
    assert due_to(rmd.state, POLLED.address) == []


def test_an_anonymous_source_finds_the_room_when_it_asks() -> None:
    rmd = Rmd(bounded=True, window=1)
    sequence = rmd.create()
    assert value(rmd.send(sequence, 1)) == 0
    rmd.read()
    assert not rmd.sent
    assert value(rmd.ask(sequence)) == 1


def test_room_that_is_promised_to_one_is_not_reported_to_the_next() -> None:
    rmd = Rmd(bounded=True, window=2)
    one, other = rmd.create(ADDRESS), rmd.create(ADDRESS, message_id="x")
    rmd.send(one, 1, 2)
    rmd.ask(one)
    rmd.ask(other)
    before = len(rmd.acknowledgements_sent)
    rmd.read()
    (reported,) = rmd.acknowledgements_sent[before:]
    assert reported.buffer == 1
    rmd.read()
    first, second = rmd.acknowledgements_sent[before:]
    assert {first.identifier, second.identifier} == {one, other}
    assert (first.buffer, second.buffer) == (1, 1)


def test_a_quota_that_is_used_up_by_others_is_reported_too() -> None:
    rmd = Rmd(quota=3000)
    sequence = rmd.create(ADDRESS)
    rmd.send(sequence, 1)
    rmd.queues["orders"] += rmd.queues["orders"] * 9
    rmd.turn(rmd.tell_room)
    rmd.ask(sequence)
    assert rmd.acknowledgements_sent[-1].buffer == 0
    rmd.read(count=9)
    assert rmd.acknowledgements_sent[-1].buffer > 0


@pytest.mark.wsrm("T24")
def test_after_a_restart_the_room_is_what_is_left() -> None:
    rmd = Rmd(bounded=True, window=2)
    sequence = rmd.create()
    rmd.send(sequence, 1, 2)
    rmd.restart()
    got = rmd.ask(sequence)
    assert got is not None
    assert (got.ranges, got.buffer) == (((1, 2),), 0)
    for expected in (1, 2):
        rmd.read()
        assert value(rmd.ask(sequence)) == expected
    rmd.send(sequence, 1, 2)
    assert rmd.bodies == [], "nothing is processed twice"
    rmd.send(sequence, 3)
    assert rmd.bodies == numbered(3)


@pytest.mark.wsrm("T24")
def test_after_a_restart_buffered_messages_still_take_their_room() -> None:
    rmd = Rmd(bounded=True, window=4)
    sequence = rmd.create()
    assert value(rmd.send(sequence, 3, 2)) == 2
    rmd.restart()
    assert value(rmd.ask(sequence)) == 2


@pytest.mark.wsrm("T30", "T31")
@pytest.mark.parametrize("outcome", ["aborted", "in doubt until it commits"])
def test_a_message_in_a_transaction_that_has_not_ended_takes_its_room(outcome: str) -> None:
    """The queue manager counts a message that was handed out with a receipt among the unread ones."""
    rmd = Rmd(bounded=True, window=2)
    sequence = rmd.create()
    assert value(rmd.send(sequence, 1)) == 1
    rmd.turn(rmd.tell_room)  # a transaction takes the message: it still counts
    assert value(rmd.ask(sequence)) == 1
    if outcome == "aborted":
        rmd.turn(rmd.tell_room)
        assert value(rmd.ask(sequence)) == 1
    else:
        rmd.restart()
        assert value(rmd.ask(sequence)) == 1
    rmd.read()
    assert value(rmd.ask(sequence)) == 2
    rmd.turn(rmd.tell_room)
    assert value(rmd.ask(sequence)) == 2, "not raised twice"


def test_a_report_about_another_queue_is_ignored() -> None:
    rmd = Rmd(bounded=True)
    sequence = rmd.create()
    rmd.turn(lambda: on_room_known(rmd.state, RoomKnown("wsrm", "other", 99), rmd.now))
    assert value(rmd.ask(sequence)) == 8
    assert set(rmd.here.targets) == {"orders"}
