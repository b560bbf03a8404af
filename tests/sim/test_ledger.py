"""Tests the sum of the facts, and the facts that must never be stated."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.turn import Fact
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.tables import Operation, Outcome, PreparedTransaction
from reliquary.sim.history import Violation
from reliquary.sim.ledger import Ledger
from tests.sim.written_history import ORDERS, OTHER, Story, moved, outgoing, position, queue, removed, stored


def ledger_of(story: Story, process_number: int = 1) -> Ledger:
    return Ledger.of(story.history.turns, process_number)


def test_messages_come_move_and_go() -> None:
    story = Story()
    story.turn(stored(1, 2, 3))
    story.turn(moved(2), removed(1))
    ledger = ledger_of(story)
    assert {key: place.body for key, place in ledger.places.items()} == {
        (ORDERS, 3): b"m3",
        (OTHER, 2): b"m2",
    }
    assert (ledger.entered, ledger.gone.total()) == (3, 1)
    assert ledger.left == {b"m1": (2, MessageClass.ACK_RECEIVE)}


def test_a_copy_is_one_more_place_of_one_message() -> None:
    story = Story()
    story.turn(stored(1), facts.PositionCopied(OTHER, position(9, reason=MessageClass.ACK_REACH_QUEUE)))
    with pytest.raises(KeyError):  # the copy must name a message that is there
        ledger_of(story)


def test_what_a_crash_took_is_not_counted() -> None:
    story = Story()
    story.turn(stored(1))
    story.turn(stored(2), lost=True)
    assert set(ledger_of(story).stored) == {b"m1"}


def test_express_messages_of_an_earlier_process_are_gone() -> None:
    story = Story()
    story.turn(stored(1, express=True))
    story.turn(stored(2))
    assert set(ledger_of(story, process_number=1).stored) == {b"m1", b"m2"}
    assert set(ledger_of(story, process_number=2).stored) == {b"m2"}


@pytest.mark.parametrize(
    ("facts_stated", "why"),
    [
        pytest.param((stored(1), stored(1)), "stored twice", id="a message twice"),
        pytest.param((removed(1),), "not there", id="the removal of an unknown message"),
        pytest.param((stored(1, queue=77),), "does not exist", id="a message in no queue"),
        pytest.param((stored(1), facts.QueueDeleted(ORDERS)), "messages in it", id="a full queue"),
        pytest.param((stored(1), stored(1, queue=OTHER)), "stored twice", id="one message in two"),
    ],
)
def test_facts_that_contradict_each_other_are_found(facts_stated: tuple[Fact, ...], why: str) -> None:
    story = Story()
    story.turn(*facts_stated)
    with pytest.raises(Violation, match=why):
        ledger_of(story)


def test_two_messages_at_one_place_are_found() -> None:
    story = Story()
    story.turn(stored(1))
    other = facts.MessagesStored(OTHER, (position(1),), (stored(2).messages[0],))
    story.turn(other, moved(1))
    with pytest.raises(Violation, match="two messages at one place"):
        ledger_of(story)


def test_prepared_transactions_are_kept_until_they_end() -> None:
    story, identifier = Story(), UUID(int=5)
    record = PreparedTransaction((Operation("enqueue", ORDERS, position(1)),), True, 0)
    story.turn(facts.TransactionPrepared(identifier, record, stored(1).messages))
    assert ledger_of(story).prepared == {identifier: record}
    story.turn(facts.TransactionEnded(identifier, Outcome(committed=True, ended=1)), stored(1))
    ledger = ledger_of(story)
    assert (ledger.prepared, set(ledger.stored)) == ({}, {b"m1"})
    assert ledger.outcomes == {identifier: True}
    story.turn(facts.TransactionEnded(identifier, Outcome(committed=False, ended=2)))
    with pytest.raises(Violation, match="ends, and is not prepared"):
        ledger_of(story)


def test_queues_that_were_deleted_are_remembered() -> None:
    story = Story()
    story.turn(facts.QueueChanged(queue(OTHER, deleting=True)))
    story.turn(facts.QueueDeleted(OTHER))
    ledger = ledger_of(story)
    assert (set(ledger.queues), ledger.deleted) == ({ORDERS}, {"sim\\private$\\q2"})


def _travelled(*more: Fact) -> Story:
    """Put a message into an outgoing queue; then state this, in one turn."""
    story = Story()
    story.turn(facts.QueueCreated(outgoing(ORDERS)), stored(1))
    story.turn(*more)
    return story


ARRIVED = facts.MessagesStored(OTHER, (position(5),), stored(1).messages)
DELIVERED = removed(1, reason=MessageClass.ACK_REACH_QUEUE)


def test_a_message_travels_when_it_arrives_and_leaves_in_one_turn() -> None:
    ledger = ledger_of(_travelled(ARRIVED, DELIVERED))
    assert {key: place.body for key, place in ledger.places.items()} == {(OTHER, 5): b"m1"}
    assert (ledger.stored, ledger.arrived, ledger.left) == ({b"m1": 1}, {b"m1": 2}, {})
    assert not ledger.travelling


def test_a_message_that_arrives_and_stays_is_doubled() -> None:
    with pytest.raises(Violation, match="duplication: m1 arrived and is still on its way"):
        ledger_of(_travelled(ARRIVED))


def test_a_message_arrives_once() -> None:
    again = facts.MessagesStored(OTHER, (position(6),), stored(1).messages)
    with pytest.raises(Violation, match="m1 is stored twice"):
        ledger_of(_travelled(ARRIVED, again, DELIVERED))


def test_a_message_that_is_put_aside_has_not_left_and_a_copy_never_leaves_as_itself() -> None:
    story = Story()
    story.turn(stored(1), stored(2))
    story.turn(moved(1, reason=MessageClass.NACK_RECEIVE_REJECTED), moved(2, reason=MessageClass.ACK_RECEIVE))
    ledger = ledger_of(story)
    assert (set(ledger.left), ledger.copies) == ({b"m2"}, {2})
    assert ledger.whereabouts == {1: OTHER, 2: OTHER}
    story.turn(facts.PositionsRemoved(OTHER, (position(1), position(2)), MessageClass.NACK_QUEUE_PURGED))
    ledger = ledger_of(story)
    assert ledger.left == {
        b"m1": (3, MessageClass.NACK_QUEUE_PURGED),
        b"m2": (2, MessageClass.ACK_RECEIVE),
    }
    assert not ledger.whereabouts
