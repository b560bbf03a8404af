"""Tests that a message leaves only because a reader requested it or its time is over; all else is a loss."""

from __future__ import annotations

from uuid import UUID

import pytest
from msgspec.structs import replace

from reliquary.base.time import Duration
from reliquary.base.turn import Event
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import (
    CommitTransaction,
    EmptyQueue,
    EndRead,
    LookUpMessage,
    MoveMessage,
    PeekMessage,
    PurgeQueue,
    ReceiveMessages,
)
from reliquary.queueing.model.facts import QueueChanged
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.queue import QueueSettings
from reliquary.sim.history import Violation
from reliquary.sim.ledger import Ledger
from reliquary.sim.reasons import Reasons, is_for_good
from tests.sim.written_history import (
    NOW,
    ORDERS,
    OTHER,
    Nothing,
    Story,
    delivered,
    moved,
    outgoing,
    position,
    queue,
    removed,
    stored,
)

T = UUID(int=1)


class JudgedHistory(Story):
    """A story whose leaving messages are judged at each step."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.reasons: Reasons | None = None
        super().__init__()
        self.reasons = Reasons(self.history)
        self.ledger.judge = self.reasons.judge
        self.ledger.take(self.history.turns[0])

    def judge(
        self, *stated: object, event: Event | None = None, answers: dict[int, object] | None = None
    ) -> None:
        turned = self.turn(*stated, event=event, answers=answers)  # type: ignore[arg-type]
        assert self.reasons is not None
        self.reasons.observe(self.ledger, turned)
        self.ledger.take(turned)


def test_a_receive_hands_over_what_it_takes() -> None:
    court = JudgedHistory()
    court.judge(stored(1))
    court.judge(removed(1), event=ReceiveMessages(5, "q1"), answers={5: delivered(1)})


def test_a_message_that_is_taken_and_not_handed_over_is_lost() -> None:
    court = JudgedHistory()
    court.judge(stored(1, 2))
    with pytest.raises(Violation, match="loss: m2"):
        court.judge(removed(1, 2), event=ReceiveMessages(5, "q1"), answers={5: delivered(1)})


def test_a_held_message_may_go_only_when_its_holder_says_so() -> None:
    court = JudgedHistory()
    court.judge(stored(1, 2))
    hold = ReceiveMessages(5, "q1", hold=Duration(9))
    court.judge(event=hold, answers={5: delivered(1, 2, receipt=3)})
    court.history.intend([b"m1"])
    court.judge(removed(1), event=EndRead(6, 3, delete=True))
    with pytest.raises(Violation, match="no request asked"):
        court.judge(removed(2), event=EndRead(7, 3, delete=True))


def test_a_held_message_that_goes_with_the_answer_that_only_holds_it_is_lost() -> None:
    court = JudgedHistory()
    court.judge(stored(1))
    with pytest.raises(Violation, match="no request asked"):
        court.judge(
            removed(1), event=ReceiveMessages(5, "q1", hold=Duration(9)), answers={5: delivered(1, receipt=3)}
        )


def test_a_commit_takes_what_was_received_in_its_transaction_and_nothing_else() -> None:
    court = JudgedHistory()
    court.judge(stored(1, 2))
    court.judge(event=ReceiveMessages(5, "q1", transaction=T), answers={5: delivered(1)})
    court.judge(removed(1), event=CommitTransaction(6, T))
    with pytest.raises(Violation, match="loss: m2"):
        court.judge(removed(2), event=CommitTransaction(7, T))


def test_a_message_expires_when_its_time_is_over_and_not_before() -> None:
    court = JudgedHistory()
    court.judge(stored(1, expires=NOW), stored(2, expires=NOW + 1), stored(3))
    court.judge(removed(1, reason=MessageClass.NACK_RECEIVE_TIMEOUT))
    for number in (2, 3):
        with pytest.raises(Violation, match=f"loss: m{number}"):
            court.judge(removed(number, reason=MessageClass.NACK_RECEIVE_TIMEOUT))


def test_a_purge_takes_what_came_before_it() -> None:
    court = JudgedHistory()
    purge = EmptyQueue(0, ORDERS, MessageClass.NACK_QUEUE_PURGED, 99)
    court.judge(stored(1, 2))
    court.judge(removed(1, reason=MessageClass.NACK_QUEUE_PURGED), event=purge)
    court.judge(stored(3))
    court.judge(removed(2, reason=MessageClass.NACK_QUEUE_PURGED))  # it was locked then, and comes back now
    with pytest.raises(Violation, match="loss: m3"):
        court.judge(removed(3, reason=MessageClass.NACK_QUEUE_PURGED))


def test_what_was_locked_when_a_purge_was_asked_for_may_go_before_it_begins() -> None:
    court = JudgedHistory()
    court.judge(stored(1))
    court.judge(event=PurgeQueue(5, court.ledger.queues[ORDERS].pathname))
    court.judge(removed(1, reason=MessageClass.NACK_QUEUE_PURGED), event=EndRead(6, 7, delete=False))


def test_a_queue_takes_its_messages_along_only_when_it_is_deleted() -> None:
    court = JudgedHistory()
    court.judge(stored(1, 2))
    with pytest.raises(Violation, match="loss: m1"):
        court.judge(removed(1, reason=MessageClass.NACK_QUEUE_DELETED))
    court.judge(QueueChanged(queue(ORDERS, deleting=True)))
    court.judge(removed(2, reason=MessageClass.NACK_QUEUE_DELETED))


def test_messages_move_only_when_a_client_moves_them() -> None:
    court = JudgedHistory()
    court.judge(stored(1, 2))
    court.judge(moved(1), event=MoveMessage(5, "q1", 1, "q2"))
    with pytest.raises(Violation, match="loss: m2"):
        court.judge(moved(2), event=Nothing())


def test_no_other_reason_counts() -> None:
    court = JudgedHistory()
    court.judge(stored(1))
    with pytest.raises(Violation, match="NACK_BAD_SIGNATURE"):
        court.judge(removed(1, reason=MessageClass.NACK_BAD_SIGNATURE))


@pytest.mark.parametrize(
    ("request_made", "for_good"),
    [
        (ReceiveMessages(1, "q"), True),
        (ReceiveMessages(1, "q", hold=Duration(1)), False),
        (ReceiveMessages(1, "q", transaction=T), False),
        (LookUpMessage(1, "q", 1, peek=False), True),
        (LookUpMessage(1, "q", 1), False),
        (PeekMessage(1, "q"), False),
    ],
)
def test_some_requests_take_messages_permanently(request_made: Event, for_good: bool) -> None:
    assert is_for_good(request_made) is for_good


def test_a_message_is_delivered_elsewhere_only_when_it_arrives_in_that_turn() -> None:
    arrived = facts.MessagesStored(OTHER, (position(5),), stored(1).messages)
    delivered_elsewhere = removed(1, reason=MessageClass.ACK_REACH_QUEUE)
    court = JudgedHistory()
    court.judge(facts.QueueCreated(outgoing(ORDERS)), stored(1))
    with pytest.raises(Violation, match="loss: m1"):
        court.judge(delivered_elsewhere)
    court = JudgedHistory()
    court.judge(facts.QueueCreated(outgoing(ORDERS)), stored(1))
    court.judge(arrived, delivered_elsewhere)


@pytest.mark.parametrize("reason", [MessageClass.NACK_QUEUE_EXCEED_QUOTA, MessageClass.NACK_BAD_DEST_QUEUE])
def test_only_a_message_on_its_way_is_refused(reason: MessageClass) -> None:
    court = JudgedHistory()
    court.judge(stored(1))
    with pytest.raises(Violation, match="loss: m1"):
        court.judge(removed(1, reason=reason))
    court = JudgedHistory()
    court.judge(facts.QueueCreated(outgoing(ORDERS)), stored(1))
    court.judge(removed(1, reason=reason))


def watched_court() -> JudgedHistory:
    """Return a queue that allows two tries, and a message in it that was tried twice."""
    court = JudgedHistory()
    court.judge(QueueChanged(replace(queue(ORDERS), settings=QueueSettings(poison_limit=2))), stored(1))
    for to in (5, 6):
        court.judge(event=ReceiveMessages(to, "q1", hold=Duration(9)), answers={to: delivered(1, receipt=3)})
    return court


@pytest.mark.parametrize("hold", [Duration(0), Duration(9)])
def test_no_reader_gets_a_message_that_was_tried_as_often_as_its_queue_allows(hold: Duration) -> None:
    court = watched_court()
    with pytest.raises(Violation, match="poison: m1 is handed out in turn 4, and was tried 2 times"):
        court.judge(event=ReceiveMessages(7, "q1", hold=hold), answers={7: delivered(1)})


def test_a_message_that_goes_to_its_journal_and_is_read_there_at_once_is_tried_anew() -> None:
    court = watched_court()
    court.history.intend([b"m1"])
    copied = moved(1, reason=MessageClass.ACK_RECEIVE)
    court.judge(copied, event=ReceiveMessages(7, "q2"), answers={7: delivered(1)})


def test_a_try_that_a_crash_took_was_none() -> None:
    court = watched_court()
    court.history.turns[-1].lost = True
    court.judge(event=ReceiveMessages(7, "q1", hold=Duration(9)), answers={7: delivered(1)})
    court.judge(moved(1, reason=MessageClass.NACK_RECEIVE_REJECTED))


def test_a_message_that_is_returned_from_poison_may_be_tried_anew() -> None:
    court = watched_court()
    court.judge(moved(1, reason=MessageClass.NACK_RECEIVE_REJECTED))
    back = facts.PositionMoved(OTHER, ORDERS, position(1), MessageClass.NORMAL)
    court.judge(back, event=MoveMessage(7, "q2", 1, "q1"))
    court.judge(event=ReceiveMessages(8, "q1", hold=Duration(9)), answers={8: delivered(1)})
    with pytest.raises(Violation, match="loss: m1"):
        court.judge(moved(1, reason=MessageClass.NACK_RECEIVE_REJECTED))


def test_a_message_is_put_aside_only_when_it_was_tried_as_often_as_its_queue_allows() -> None:
    court = JudgedHistory()
    watched = replace(queue(ORDERS), settings=QueueSettings(poison_limit=2))
    court.judge(QueueChanged(watched), stored(1, 2))
    for to, numbers in ((5, (1, 2)), (6, (1,))):
        hold = ReceiveMessages(to, "q1", hold=Duration(9))
        court.judge(event=hold, answers={to: delivered(*numbers, receipt=3)})
    court.judge(moved(1, reason=MessageClass.NACK_RECEIVE_REJECTED))
    with pytest.raises(Violation, match="loss: m2"):
        court.judge(moved(2, reason=MessageClass.NACK_RECEIVE_REJECTED))
