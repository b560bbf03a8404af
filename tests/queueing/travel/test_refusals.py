"""Messages that a peer refuses permanently, and where an administrator finds them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import ChangeQueue, CommitTransaction
from reliquary.queueing.model.message import MessageClass, ObjectId
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import (
    MessageArrived,
    MessagesReserved,
    MessageWithdrawn,
    Outcome,
    ReservationsEnded,
    ReservationWanted,
    TransferEnded,
)
from reliquary.queueing.travel.refusals import IN_PART, MOST_BROKEN
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import message
from tests.queueing.state_checks import check, walk

DEAD, DEAD_TRANSACTIONAL = "system$;deadletter", "system$;deadxact"
REASON = MessageClass.NACK_ACCESS_DENIED


def refuse(exchange: Exchange, why: str = "") -> None:
    """The peer refuses what was handed out last."""
    last = exchange.manual_carrier.sending[-1]
    exchange.say(TransferEnded(last.queue, (last.lookup_id,), Outcome.REFUSED, REASON, why=why))


def sent_together(exchange: Exchange, *bodies: bytes, **attributes: Any) -> None:
    transaction = exchange.begin()
    exchange.send(ELSEWHERE, *bodies, transaction=transaction, **attributes)
    exchange.ask(CommitTransaction(0, transaction))


# -- dead letters


@pytest.mark.spec("DM-050")
@pytest.mark.parametrize(
    ("attributes", "kept"),
    [
        ({}, True),
        ({"negative_journaling": True}, True),
        ({"discard_refused": True}, False),
        ({"discard_refused": True, "negative_journaling": True}, True),
        ({"message_class": MessageClass.ACK_RECEIVE}, False),
    ],
    ids=["silent", "asked", "wants-none", "asked-after-all", "acknowledgement"],
)
def test_a_refused_message_is_a_dead_letter_unless_its_sender_wants_none(
    attributes: dict[str, Any], kept: bool
) -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a", **attributes)
    refuse(exchange)
    assert exchange.bodies(DEAD) == ([b"a"] if kept else [])
    assert [each.reason for each in walk(exchange.queue(DEAD))] == [REASON] * kept
    assert (exchange.link().refused, exchange.waiting()) == (1, [])
    check(exchange.state)


def test_a_queue_that_keeps_no_refused_messages_drops_them() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a", b"b")
    exchange.ask(ChangeQueue(0, ELSEWHERE, {"keep_refused": False}))
    refuse(exchange)
    exchange.restart()
    refuse(exchange)
    assert exchange.bodies(DEAD) == []
    assert exchange.waiting() == []


def test_what_came_in_a_stream_and_goes_on_is_kept_by_its_source() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"first")
    brought = message(b"a", identifier=ObjectId(UUID(int=7), 5), sequence=(1, 1))
    exchange.say(MessageArrived("manual_carrier", (1, 1), ELSEWHERE, brought))
    exchange.end(Outcome.DELIVERED)
    refuse(exchange)
    assert exchange.bodies(DEAD_TRANSACTIONAL) == []


def test_a_message_that_was_there_and_was_not_read_is_a_dead_letter_only_if_it_asked_for_that() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.end(Outcome.REFUSED, MessageClass.NACK_RECEIVE_TIMEOUT)
    assert exchange.bodies(DEAD) == []


def test_a_batch_that_is_refused_leaves_dead_letters_too() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b")
    exchange.say(ReservationWanted("manual_carrier", (1, 1), ("orders",), 10, 1000))
    exchange.say(ReservationsEnded("manual_carrier", ((1, 1),), Outcome.REFUSED, REASON, "too large"))
    assert exchange.bodies(DEAD) == [b"a", b"b"]
    assert exchange.warnings[-1].count == 2
    check(exchange.state)


def test_where_its_own_dead_letter_queue_is_full_the_managers_has_it() -> None:
    exchange = Exchange()
    exchange.create("graves", quota=0)
    exchange.send(ELSEWHERE, b"a", application_deadletter_queue="graves")
    refuse(exchange)
    assert exchange.bodies(DEAD) == [b"a"]


# -- a person is notified


def test_the_warning_names_the_message_the_destination_and_the_words_of_the_peer() -> None:
    exchange = Exchange()
    sent = exchange.send(ELSEWHERE, b"a")
    refuse(exchange, "403 we do not know you")
    (warning,) = exchange.warnings
    assert warning.about.casefold() == ELSEWHERE.casefold()
    assert warning.why == f"{sent.identifiers()[0]}: 403 we do not know you"


def test_the_warning_has_the_reason_if_the_peer_sends_no_sentence() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    refuse(exchange)
    assert exchange.warnings[0].why.endswith(": nack-access-denied")


# -- all of a transaction, or its beginning


def test_after_a_refusal_nothing_more_of_its_transaction_is_sent() -> None:
    exchange = Exchange()
    sent_together(exchange, b"1", b"2", b"3", b"4")
    sent_together(exchange, b"5")
    exchange.end(Outcome.DELIVERED)
    refuse(exchange)
    assert exchange.sent() == [b"1", b"2", b"5"]
    assert exchange.bodies(DEAD_TRANSACTIONAL) == [b"2", b"3", b"4"]
    assert exchange.warnings[-1].why.endswith(IN_PART)
    gone = [each for each in exchange.manual_carrier.received if isinstance(each, MessageWithdrawn)]
    assert [len(each.lookup_ids) for each in gone] == [1, 1]  # their numbers are free
    check(exchange.state)


def test_a_message_that_arrived_and_was_not_read_breaks_no_transaction() -> None:
    exchange = Exchange()
    sent_together(exchange, b"1", b"2")
    exchange.end(Outcome.REFUSED, MessageClass.NACK_QUEUE_PURGED)
    assert exchange.sent() == [b"1", b"2"]


def test_a_refused_transaction_is_remembered_after_a_restart() -> None:
    exchange = Exchange()
    exchange.manual_carrier.at_once = 3
    sent_together(exchange, b"1", b"2", b"3")
    first = exchange.manual_carrier.sending[0]
    exchange.say(TransferEnded(first.queue, (first.lookup_id,), Outcome.REFUSED, REASON))
    exchange.restart()
    assert exchange.bodies(DEAD_TRANSACTIONAL) == [b"1", b"2", b"3"]
    assert exchange.waiting() == []
    check(exchange.state)


def test_a_carrier_of_batches_gets_no_refused_message_either() -> None:
    exchange = Exchange()
    to = "DIRECT=httpr://elsewhere/httpr/mq#orders"
    transaction = exchange.begin()
    exchange.send(to, b"1", b"2", b"3", transaction=transaction)
    exchange.ask(CommitTransaction(0, transaction))
    queue = exchange.outgoing(to).number
    exchange.say(ReservationWanted("httpr", (1, 1), (queue,), 1, 1000))
    exchange.say(ReservationsEnded("httpr", ((1, 1),), Outcome.REFUSED, REASON))
    exchange.say(ReservationWanted("httpr", (1, 2), (queue,), 10, 1000))
    held = [each for each in exchange.manual_carrier.received if isinstance(each, MessagesReserved)]
    assert [len(each.messages) for each in held] == [1, 0]
    assert exchange.bodies(DEAD_TRANSACTIONAL) == [b"1", b"2", b"3"]
    check(exchange.state)


def test_a_carrier_of_batches_gets_the_messages_after_it() -> None:
    exchange = Exchange()
    to = "DIRECT=httpr://elsewhere/httpr/mq#orders"
    transaction = exchange.begin()
    exchange.send(to, b"1", b"2", b"3", transaction=transaction)
    exchange.ask(CommitTransaction(0, transaction))
    exchange.send(to, b"4")
    queue = exchange.outgoing(to).number
    exchange.say(ReservationWanted("httpr", (1, 1), (queue,), 1, 1000))
    exchange.say(ReservationsEnded("httpr", ((1, 1),), Outcome.REFUSED, REASON))
    exchange.say(ReservationWanted("httpr", (1, 2), (queue,), 2, 1000))
    held = [each for each in exchange.manual_carrier.received if isinstance(each, MessagesReserved)][-1]
    assert [each.body for each in held.messages] == [b"4"]
    assert exchange.bodies(DEAD_TRANSACTIONAL) == [b"1", b"2", b"3"]


def test_what_passes_through_is_judged_message_by_message() -> None:
    """The transaction of these messages may stand for a stream that never ends."""
    exchange = Exchange()
    for number in (1, 2):
        brought = message(b"%d" % number, identifier=ObjectId(UUID(int=7), number), transaction=UUID(int=3))
        exchange.say(MessageArrived("manual_carrier", (1, number), ELSEWHERE, brought))
    refuse(exchange)
    assert exchange.sent() == [b"1", b"2"]


def test_the_number_of_remembered_transactions_is_limited() -> None:
    exchange = Exchange()
    for number in range(MOST_BROKEN + 5):
        sent_together(exchange, b"%d" % number)
        refuse(exchange)
    outgoing = exchange.outgoing().record.outgoing
    assert outgoing is not None
    assert len(outgoing.broken) == MOST_BROKEN


# -- what a queue of another manager takes


@pytest.mark.parametrize(
    ("reason", "refused", "words"),
    [
        (MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE, True, "takes messages outside transactions only"),
        (MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE, False, "takes messages in transactions only"),
    ],
)
def test_after_this_refusal_the_next_is_refused_at_the_send(
    reason: MessageClass, refused: bool, words: str
) -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.end(Outcome.REFUSED, reason)
    for in_transaction in (True, False):
        transaction = exchange.begin() if in_transaction else None
        answer = exchange.send(ELSEWHERE, b"b", transaction=transaction)
        is_refused = in_transaction is refused
        assert (answer.status is HResult.INVALID_PARAMETER) is is_refused
        assert (words in answer.why) is is_refused


def test_a_connection_that_ended_lets_it_be_tried_again() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"a")
    exchange.end(Outcome.REFUSED, MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE)
    exchange.happen(OutgoingEvent.SESSION_CLEANED_UP, ConnectionStatus.CONNECTION_NOT_READY)
    assert exchange.send(ELSEWHERE, b"b").status is HResult.OK
