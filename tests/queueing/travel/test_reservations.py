"""Tests holds: messages that a carrier takes stay locked in their queue until it reports the outcome."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.time import later, seconds
from reliquary.queueing.model.events import (
    Access,
    AccessChange,
    BringOnline,
    ChangeAccess,
    CommitTransaction,
    DeleteQueue,
    MoveMessage,
    OpenQueue,
    PauseQueue,
    PurgeQueue,
    ReceiveMessages,
    Share,
    StorePiece,
    TakeOffline,
)
from reliquary.queueing.model.facts import ReservationsOver
from reliquary.queueing.model.message import Acknowledgement, Delivery, MessageClass, StoredBody
from reliquary.queueing.model.security.principals import ANONYMOUS, EVERYONE
from reliquary.queueing.model.security.rights import ManagerRight, QueueRight
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.travel.transfer import (
    MessagesReserved,
    MessagesWaiting,
    Outcome,
    QueuesWatched,
    ReservationRefusal,
    ReservationsEnded,
    ReservationWanted,
)
from reliquary.views import queues as views
from reliquary.views.outgoing_queues import outgoing_queue
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.state_checks import check, durable, walk

KEY = (1, 7)


def hold(
    exchange: Exchange,
    *queues: str | int,
    key: tuple[int, int] = KEY,
    most: int = 100,
    most_bytes: int = 1_000_000,
    **options: Any,
) -> MessagesReserved:
    """Return the answer to a carrier that asks for a hold."""
    exchange.say(ReservationWanted("httpr", key, queues or ("orders",), most, most_bytes, **options))
    reported = [each for each in exchange.manual_carrier.received if isinstance(each, MessagesReserved)][-1]
    assert (reported.to, reported.key) == ("httpr", key)
    return reported


def held(exchange: Exchange, *queues: str | int, **options: Any) -> list[bytes]:
    """Return the bodies of what it holds."""
    return [message.body for message in hold(exchange, *queues, **options).messages]


def end(exchange: Exchange, outcome: Outcome, *keys: tuple[int, int]) -> None:
    """The batches have their outcome."""
    exchange.say(ReservationsEnded("httpr", keys or (KEY,), outcome))
    check(exchange.state)


def waiting(exchange: Exchange) -> list[MessagesWaiting]:
    """Return the notifications to the carrier that messages wait."""
    return [each for each in exchange.manual_carrier.received if isinstance(each, MessagesWaiting)]


# -- begin


def test_what_is_held_stays_in_its_queue_and_no_other_reader_gets_it() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b", b"c")
    assert held(exchange, most=2) == [b"a", b"b"]
    queue = exchange.queue()
    assert (queue.counts.stored, len(queue.order), len(queue.order.locked)) == (3, 1, 2)
    assert [each.message.body for each in exchange.receive("orders", count=10).messages] == [b"c"]
    assert queue.counts.stored == 2
    check(exchange.state)


def test_a_hold_takes_the_queues_order_and_at_least_one_message_however_large() -> None:
    exchange = Exchange()
    exchange.send("orders", b"low", priority=1)
    exchange.send("orders", b"high" * 1000, priority=6)
    assert held(exchange, most_bytes=1) == [b"high" * 1000]
    assert held(exchange, key=(1, 8), most_bytes=1) == [b"low"]


def test_a_hold_ends_before_the_message_that_is_too_much() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a" * 1000, b"b" * 1000, b"c" * 1000)
    assert held(exchange, most_bytes=2600) == [b"a" * 1000, b"b" * 1000]


def test_a_hold_ends_before_a_message_that_its_carrier_cannot_take() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b" * 10, b"c")
    assert held(exchange, largest=9) == [b"a"]
    reported = hold(exchange, key=(1, 8), largest=9)
    assert (reported.messages, reported.refusal) == ((), ReservationRefusal.TOO_LARGE)
    assert held(exchange, key=(1, 8), largest=10) == [b"b" * 10, b"c"]


def test_a_carrier_that_can_take_nothing_is_not_notified_of_it_again_and_again() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a" * 10)
    exchange.say(QueuesWatched("httpr", frozenset({exchange.queue().number})))
    assert len(waiting(exchange)) == 1
    assert hold(exchange, largest=9).refusal is ReservationRefusal.TOO_LARGE
    assert len(waiting(exchange)) == 1
    exchange.send("orders", b"b")
    assert len(waiting(exchange)) == 2


@pytest.mark.parametrize("delivery", Delivery)
def test_a_hold_grows_and_ends_as_one(delivery: Delivery) -> None:
    exchange = Exchange()
    exchange.send("orders", b"a")
    assert held(exchange) == [b"a"]
    exchange.send("orders", b"b", delivery=delivery)
    exchange.send("orders", b"c", b"d" * 900)
    assert held(exchange, most=2, most_bytes=5000) == [b"b", b"c"]
    assert held(exchange, most_bytes=500) == [], "not one more than the bytes allow"
    check(exchange.state)
    exchange.restart()
    assert [body[:1] for body in exchange.bodies()] == [b"d"]
    end(exchange, Outcome.TRY_LATER)
    recoverable = delivery is Delivery.RECOVERABLE
    assert [body[:1] for body in exchange.bodies()] == [b"a", *[b"b"] * recoverable, b"c", b"d"]


def test_the_first_queue_that_has_messages_is_taken_from() -> None:
    exchange = Exchange(None, "empty", "orders", "later")
    exchange.send("later", b"z")
    exchange.send("orders", b"a")
    reported = hold(exchange, "empty", "nowhere", exchange.queue("orders").number, "later")
    assert [each.body for each in reported.messages] == [b"a"]
    assert reported.queue == exchange.queue("orders").number
    reported = hold(exchange, "nowhere", "empty", "orders", key=(1, 8))
    assert (reported.queue, reported.messages, reported.refusal) == (exchange.queue("empty").number, (), None)
    assert hold(exchange, "orders", key=(1, 8)).messages == ()  # what holds nothing is no hold


def test_nothing_is_held_of_no_queue() -> None:
    exchange = Exchange()
    reported = hold(exchange, "nowhere")
    assert (reported.queue, reported.messages, reported.refusal) == (0, (), ReservationRefusal.NO_QUEUE)
    assert hold(exchange, "private$\\\\").refusal is ReservationRefusal.NO_QUEUE
    exchange.say(ReservationWanted("httpr", KEY, (), 1, 1))
    assert exchange.manual_carrier.received[-1] == MessagesReserved("httpr", KEY)
    assert exchange.state.travel.reservations == {}


def test_a_user_without_the_right_to_receive_may_not_reserve() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a")
    rights = (EVERYONE, QueueRight.RECEIVE_MESSAGE)
    assert not exchange.ask(ChangeAccess(0, "orders", AccessChange.DENY, *rights)).status
    assert hold(exchange, by=ANONYMOUS).refusal is ReservationRefusal.NOT_ALLOWED
    assert held(exchange) == [b"a"]


def test_an_outgoing_queue_is_held_by_its_number_or_by_who_may_read_dead_letters() -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    exchange.send(ELSEWHERE, b"a")
    rights = (EVERYONE, ManagerRight.RECEIVE_DEADLETTER_MESSAGE)
    assert not exchange.ask(ChangeAccess(0, "", AccessChange.DENY, *rights)).status
    assert hold(exchange, ELSEWHERE, by=ANONYMOUS).refusal is ReservationRefusal.NOT_ALLOWED
    assert held(exchange, exchange.outgoing().number, by=ANONYMOUS) == [b"a"]


def test_a_manager_that_is_offline_or_stopped_holds_nothing() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a")
    exchange.ask(TakeOffline(0))
    assert hold(exchange).refusal is ReservationRefusal.NOT_NOW
    exchange.ask(BringOnline(0))
    exchange.stop()
    assert hold(exchange).refusal is ReservationRefusal.NOT_NOW


def test_a_queue_that_a_client_opened_exclusively_is_not_held() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a")
    exchange.ask(OpenQueue(0, "orders", Access.RECEIVE, Share.DENY_RECEIVE))
    assert hold(exchange).refusal is ReservationRefusal.NOT_NOW


def test_what_expired_is_never_held() -> None:
    exchange = Exchange()
    exchange.send("orders", b"old", time_to_be_received=5)
    exchange.send("orders", b"a")
    exchange.now = later(exchange.now, seconds(6))  # no timer has fired yet
    assert held(exchange) == [b"a"]
    check(exchange.state)


def test_a_turn_removes_a_limited_number_and_the_carrier_is_notified_of_the_rest() -> None:
    exchange = Exchange(sizes=Sizes(window=4, at_once=3))
    exchange.send("orders", *[b"old"] * 5, time_to_be_received=5)
    exchange.send("orders", b"a")
    exchange.say(QueuesWatched("httpr", frozenset({exchange.queue().number})))
    exchange.now = later(exchange.now, seconds(6))
    exchange.patient = True
    assert held(exchange) == []
    assert exchange.queue().counts.stored == 3
    reported = len(waiting(exchange))
    exchange.go_on()
    assert len(waiting(exchange)) == reported + 1
    assert held(exchange) == [b"a"]


def test_what_may_not_be_tried_again_is_put_aside_and_not_held() -> None:
    exchange = Exchange()
    exchange.create("orders2", poison_limit=1)
    exchange.send("orders2", b"tried", b"a")
    exchange.receive("orders2", hold=60)
    exchange.restart()  # the owner of the lock is gone
    assert held(exchange, "orders2") == [b"a"]
    assert exchange.bodies("orders2;poison") == [b"tried"]
    check(exchange.state)


def test_a_required_journal_that_is_full_keeps_messages_from_being_held() -> None:
    exchange = Exchange()
    exchange.create("kept", journaling=True, journal_required=True, journal_quota=2)
    exchange.send("kept", b"a" * 700, b"b" * 700, b"c" * 700)
    assert [body[:1] for body in held(exchange, "kept")] == [b"a", b"b"]
    end(exchange, Outcome.DELIVERED)
    assert held(exchange, "kept") == []


def test_a_large_body_is_not_read() -> None:
    exchange = Exchange()
    stored = exchange.ask(StorePiece(0, 0, b"piece"))
    body = StoredBody(stored.spool, stored.size, stored.pieces)
    exchange.send("orders", b"", stored_body=body)
    (message,) = hold(exchange).messages
    assert (message.body, message.stored_body) == (b"", body)
    end(exchange, Outcome.TRY_LATER)
    assert exchange.bodies() == [b"piece"]


def test_what_is_held_is_shown_as_locked_and_counts_as_there() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b")
    hold(exchange, most=1)
    shown = views.queue(exchange.state, "orders")
    assert shown is not None
    assert (shown.messages, shown.locked, shown.bytes) == (1, 1, exchange.queue().total_bytes)
    exchange.manual_carrier.connects = False
    exchange.send(ELSEWHERE, b"c", b"d")
    hold(exchange, exchange.outgoing().number, key=(1, 8), most=1)
    outgoing = outgoing_queue(exchange.state, ELSEWHERE)
    assert outgoing is not None
    assert (outgoing.messages, outgoing.bytes) == (2, exchange.outgoing().total_bytes)


# -- end


@pytest.mark.parametrize("restarted", [False, True])
def test_delivered_messages_are_gone(restarted: bool) -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b", b"c")
    hold(exchange, most=2)
    if restarted:
        exchange.restart()
    end(exchange, Outcome.DELIVERED)
    queue = exchange.queue()
    assert exchange.bodies() == [b"c"]
    assert (queue.counts.stored, len(queue.order), queue.order.locked) == (1, 1, {})
    exchange.restart()
    assert exchange.bodies() == [b"c"]
    check(exchange.state)


@pytest.mark.parametrize("restarted", [False, True])
def test_what_was_not_delivered_is_back_at_its_old_place(restarted: bool) -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b", b"c", b"d")
    hold(exchange, most=1)
    hold(exchange, most=1, key=(1, 8))
    hold(exchange, most=1, key=(2, 8))
    if restarted:
        exchange.restart()
    end(exchange, Outcome.TRY_LATER, (1, 8))
    assert exchange.bodies() == [b"b", b"d"]
    end(exchange, Outcome.TRY_LATER, KEY, (2, 8))
    assert exchange.bodies() == [b"a", b"b", b"c", b"d"]
    assert exchange.state.travel.reservations == {}
    exchange.restart()
    assert exchange.bodies() == [b"a", b"b", b"c", b"d"]


def test_many_keys_end_in_one_fact_and_one_leaving() -> None:
    exchange = Exchange()
    exchange.send("orders", *[b"x"] * 10)
    for batch in range(5):
        hold(exchange, most=2, key=(1, batch))
    exchange.turns.clear()
    end(exchange, Outcome.DELIVERED, *[(1, batch) for batch in range(5)])
    assert [type(fact).__name__ for fact in exchange.facts] == ["ReservationsOver", "PositionsRemoved"]


def test_an_end_of_what_is_not_held_is_no_error() -> None:
    exchange = Exchange()
    end(exchange, Outcome.DELIVERED, (9, 9))
    end(exchange, Outcome.TRY_LATER, (9, 9))
    assert not any(isinstance(fact, ReservationsOver) for fact in exchange.facts)


def test_a_delivered_message_of_a_local_queue_counts_as_received() -> None:
    exchange = Exchange()
    exchange.create("kept", journaling=True)
    exchange.create("news")
    asks: dict[str, Any] = {
        "acknowledgements": (Acknowledgement.POS_RECEIVE,),
        "administration_queue": "DIRECT=OS:.\\private$\\news",
    }
    exchange.send("kept", b"a", **asks)
    hold(exchange, "kept")
    assert exchange.bodies("news") == []
    end(exchange, Outcome.DELIVERED)
    assert exchange.bodies("kept;journal") == [b"a"]
    (acknowledgement,) = walk(exchange.queue("news"))
    assert exchange.state.messages.get(acknowledgement).message_class == MessageClass.ACK_RECEIVE


def test_delivered_from_an_outgoing_queue_went_to_its_destination() -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    exchange.send(ELSEWHERE, b"a", positive_journaling=True)
    exchange.send(ELSEWHERE, b"b")
    hold(exchange, exchange.outgoing().number)
    end(exchange, Outcome.DELIVERED)
    assert exchange.link().delivered == exchange.state.travel.delivered["httpr"] == 2
    assert exchange.bodies("system$;journal") == [b"a"]
    assert exchange.outgoing().counts.stored == 0


def test_a_permanently_refused_message_becomes_a_dead_letter_if_it_requests_that() -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    exchange.send(ELSEWHERE, b"a", negative_journaling=True)
    hold(exchange, exchange.outgoing().number)
    refused = ReservationsEnded("httpr", (KEY,), Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE)
    exchange.say(refused)
    assert (exchange.link().refused, exchange.outgoing().counts.stored) == (1, 0)
    (letter,) = walk(exchange.queue("system$;deadletter"))
    assert letter.reason is MessageClass.NACK_BAD_DEST_QUEUE
    check(exchange.state)


# -- beside others


def test_recovery_locks_what_is_held() -> None:
    exchange = Exchange(sizes=Sizes(window=2))
    exchange.send("orders", *[bytes([65 + place]) for place in range(8)], allow_peek_when_locked=True)
    hold(exchange, most=3)
    hold(exchange, most=2, key=(2, 1))
    live = durable(exchange.state)
    exchange.restart(start=False)
    assert durable(exchange.state) == live
    check(exchange.state)
    exchange.start()
    assert exchange.bodies() == [b"F", b"G", b"H"]
    end(exchange, Outcome.TRY_LATER, (2, 1))
    end(exchange, Outcome.DELIVERED)
    assert exchange.bodies() == [b"D", b"E", b"F", b"G", b"H"]


def test_a_crash_takes_express_messages_and_their_part_of_the_hold() -> None:
    exchange = Exchange()
    exchange.send("orders", b"express", delivery=Delivery.EXPRESS)
    exchange.send("orders", b"a")
    assert held(exchange) == [b"express", b"a"]
    exchange.send("orders", b"alone", delivery=Delivery.EXPRESS)
    assert held(exchange, key=(1, 8)) == [b"alone"]
    check(exchange.state)
    exchange.restart()
    check(exchange.state)
    end(exchange, Outcome.TRY_LATER, KEY, (1, 8))
    assert exchange.bodies() == [b"a"]
    assert exchange.queue().counts.express_size == 0


def test_express_messages_are_delivered_and_given_back_like_others() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b", delivery=Delivery.EXPRESS)
    hold(exchange, most=1)
    hold(exchange, most=1, key=(1, 8))
    end(exchange, Outcome.DELIVERED)
    end(exchange, Outcome.TRY_LATER, (1, 8))
    assert exchange.bodies() == [b"b"]


def test_a_purge_waits_for_what_is_held_and_takes_it_when_it_comes_back() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b")
    hold(exchange, most=1)
    hold(exchange, most=1, key=(1, 8))
    exchange.send("orders", b"c")
    assert exchange.ask(PurgeQueue(0, "orders")).count == 1
    assert exchange.queue().counts.stored == 2
    exchange.restart()
    end(exchange, Outcome.TRY_LATER)
    end(exchange, Outcome.DELIVERED, (1, 8))
    assert exchange.queue().counts.stored == 0
    assert exchange.state.totals.bytes == 0


def test_what_expires_while_it_is_held_goes_when_it_comes_back() -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b", time_to_be_received=5)
    hold(exchange, most=1)
    hold(exchange, most=1, key=(1, 8))
    exchange.advance(6)
    assert exchange.queue().counts.stored == 2
    check(exchange.state)
    exchange.restart()
    end(exchange, Outcome.TRY_LATER)
    assert exchange.queue().counts.stored == 1
    end(exchange, Outcome.DELIVERED, (1, 8))
    assert exchange.queue().counts.stored == 0


@pytest.mark.parametrize("restarted", [False, True])
def test_a_queue_that_is_deleted_takes_what_is_held_along(restarted: bool) -> None:
    exchange = Exchange()
    exchange.send("orders", b"a", b"b", negative_journaling=True)
    hold(exchange, most=1)
    assert not exchange.ask(DeleteQueue(0, "orders")).status
    assert exchange.bodies("system$;deadletter") == [b"a", b"b"]
    if restarted:
        exchange.restart()
    end(exchange, Outcome.DELIVERED)
    assert exchange.state.travel.reservations == {}
    assert exchange.bodies("system$;deadletter") == [b"a", b"b"]


def test_what_is_held_is_not_moved_and_not_received_in_a_transaction() -> None:
    exchange = Exchange(None, "orders", "orders;done")
    exchange.send("orders", b"a")
    hold(exchange)
    (lookup_id,) = exchange.queue().order.locked
    handle = exchange.ask(OpenQueue(0, "orders", Access.MOVE)).handle
    assert exchange.ask(MoveMessage(0, handle, lookup_id, "orders;done")).status
    transaction = exchange.begin()
    assert exchange.ask(ReceiveMessages(0, "orders", transaction=transaction)).status
    end(exchange, Outcome.TRY_LATER)
    assert exchange.receive("orders").messages[0].message.body == b"a"


def test_a_transactions_message_is_held_from_its_commit_on() -> None:
    exchange = Exchange()
    exchange.create("strict", transactional=True)
    transaction = exchange.begin()
    exchange.send("strict", b"a", transaction=transaction)
    assert held(exchange, "strict") == []
    exchange.ask(CommitTransaction(0, transaction))
    assert held(exchange, "strict") == [b"a"]
    check(exchange.state)


def test_a_queue_on_hold_is_not_held_and_any_other_outgoing_queue_is() -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    exchange.send(ELSEWHERE, b"a")
    exchange.ask(PauseQueue(0, ELSEWHERE))
    number = exchange.outgoing().number
    assert hold(exchange, number).refusal is ReservationRefusal.NOT_NOW
