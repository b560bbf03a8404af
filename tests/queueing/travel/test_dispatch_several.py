"""Dispatch with a carrier that sends several messages at once and gets their outcome later."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.time import later, seconds
from reliquary.queueing.model.events import (
    Access,
    BringOnline,
    DeleteQueue,
    OpenQueue,
    PauseQueue,
    PurgeQueue,
    ReceiveMessages,
    ResumeQueue,
    TakeOffline,
)
from reliquary.queueing.model.message import Acknowledgement, Delivery, MessageClass
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent, OutgoingState
from reliquary.queueing.model.travel.transfer import (
    ConnectionChanged,
    DestinationReached,
    Outcome,
    ResendWanted,
    TransferAccepted,
    TransferEnded,
)
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, durable, walk

DEAD = "system$;deadletter"
WEB = "DIRECT=HTTP://elsewhere/msmq/private$/orders"


def busy(*bodies: bytes, at_once: int = 3, **attributes: Any) -> Exchange:
    """Return an exchange whose carrier sends `at_once` messages in parallel and has been given these."""
    exchange = Exchange()
    exchange.manual_carrier.at_once = at_once
    exchange.send(ELSEWHERE, *bodies, **attributes)
    return exchange


# -- how many at once


@pytest.mark.spec("DM-322", "DM-323")
def test_as_many_are_in_progress_as_the_carrier_allows_and_in_order() -> None:
    exchange = busy(b"a", b"b", b"c", b"d", b"e")
    assert exchange.sent() == [b"a", b"b", b"c"]
    assert exchange.waiting() == [b"d", b"e"]
    exchange.conclude(Outcome.DELIVERED, b"b")
    assert exchange.sent() == [b"a", b"b", b"c", b"d"]
    exchange.conclude(Outcome.DELIVERED, b"a", b"c", b"d")
    assert exchange.sent() == [b"a", b"b", b"c", b"d", b"e"]
    assert exchange.link().delivered == 4
    check(exchange.state)


def test_no_more_bytes_are_in_progress_than_the_carrier_allows_but_for_the_last_message() -> None:
    exchange = Exchange()
    exchange.manual_carrier.at_once = 10
    exchange.manual_carrier.most_bytes = 25_000
    bodies = [bytes([letter]) * 10_000 for letter in b"abcde"]
    exchange.send(ELSEWHERE, *bodies)
    assert exchange.sent() == bodies[:3]
    exchange.conclude(Outcome.DELIVERED, bodies[0])
    assert exchange.sent() == bodies[:4]
    exchange.conclude(Outcome.DELIVERED, *bodies[1:4])
    assert exchange.sent() == bodies
    check(exchange.state)


def test_expired_messages_between_others_are_passed_over_and_become_dead_letters() -> None:
    exchange = Exchange()
    exchange.manual_carrier.at_once = 10
    exchange.handle(TakeOffline(0))
    for body in (b"a", b"b", b"late", b"later", b"c", b"latest", b"d"):
        hasty: dict[str, Any] = (
            {"time_to_reach_queue": 5, "negative_journaling": True} if body.startswith(b"late") else {}
        )
        exchange.send(ELSEWHERE, body, **hasty)
    exchange.now = later(exchange.now, seconds(10))  # and no timer fired
    exchange.handle(BringOnline(0))
    assert exchange.sent() == [b"a", b"b", b"c", b"d"]
    assert exchange.bodies(DEAD) == [b"late", b"later", b"latest"]
    check(exchange.state)


@pytest.mark.parametrize("sizes", [Sizes(cache_bytes=0, window=3), Sizes(cache_bytes=20, window=40)], ids=str)
def test_messages_that_are_read_from_disk_are_sent_like_those_that_memory_has(sizes: Sizes) -> None:
    exchange = Exchange(sizes=sizes)
    exchange.manual_carrier.at_once = 16
    exchange.handle(TakeOffline(0))
    for number in range(40):
        exchange.send(
            ELSEWHERE, b"%d" % number, delivery=Delivery.RECOVERABLE if number % 5 else Delivery.EXPRESS
        )
    exchange.handle(BringOnline(0))
    expected = [b"%d" % number for number in range(40)]
    for first in range(0, 40, 8):
        exchange.conclude(Outcome.DELIVERED, *expected[first : first + 8])
    assert exchange.sent() == expected
    check(exchange.state)


def test_a_message_that_was_accepted_makes_room_for_the_next_and_stays() -> None:
    exchange = busy(b"a", b"b", b"c", at_once=1)
    exchange.accept(b"a")
    exchange.accept(b"b")
    assert exchange.sent() == [b"a", b"b", b"c"]
    assert exchange.link().delivered == 0
    assert len(exchange.link().accepted) == 2
    assert len(exchange.outgoing().order.locked) == 3
    check(exchange.state)


def test_a_message_with_a_higher_priority_goes_before_those_that_wait_and_not_before_those_that_go() -> None:
    exchange = busy(b"a", b"b", b"c", at_once=2)
    exchange.send(ELSEWHERE, b"urgent", priority=7)
    exchange.accept(b"a")
    assert exchange.sent() == [b"a", b"b", b"urgent"]


def test_a_connection_that_was_made_anew_may_allow_another_number() -> None:
    exchange = busy(b"a", b"b", b"c", b"d", at_once=3)
    exchange.manual_carrier.at_once = 2
    exchange.happen(OutgoingEvent.DISCONNECTED, ConnectionStatus.ESTABLISHED)
    assert exchange.sent() == [b"a", b"b", b"c", b"a", b"b"]
    check(exchange.state)


# -- outcomes


def test_outcomes_of_several_are_one_write() -> None:
    exchange = busy(b"a", b"b", b"c")
    exchange.accept(b"a", b"b")
    turn = exchange.conclude(Outcome.DELIVERED, b"a", b"b")
    assert [len(fact.positions) for fact in turn.facts if hasattr(fact, "positions")] == [2]
    exchange.restart(start=False)
    assert exchange.waiting() == [b"c"]


def test_a_message_that_was_accepted_may_be_refused_in_the_end() -> None:
    exchange = busy(b"a", negative_journaling=True)
    exchange.accept(b"a")
    exchange.conclude(Outcome.REFUSED, b"a", reason=MessageClass.NACK_RECEIVE_TIMEOUT)
    (dead,) = walk(exchange.queue(DEAD))
    assert dead.reason is MessageClass.NACK_RECEIVE_TIMEOUT
    assert exchange.link().refused == 1
    check(exchange.state)


def test_an_outcome_or_a_report_about_what_is_not_sent_means_nothing() -> None:
    exchange = busy(b"a", b"b", at_once=1)
    number, before = exchange.outgoing().number, durable(exchange.state)
    for signal in (
        TransferAccepted(number, (99,)),
        DestinationReached(number, (99,)),
        TransferEnded(number, (99,), Outcome.DELIVERED),
        TransferEnded(number, (99,), Outcome.TRY_LATER),
        TransferAccepted(99, (1,)),
        DestinationReached(99, (1,)),
        ResendWanted(99),
    ):
        exchange.say(signal)
    assert durable(exchange.state) == before
    assert not exchange.link().resting
    assert exchange.sent() == [b"a"]


def test_an_accepted_message_resets_the_count_of_failures() -> None:
    exchange = busy(b"a")
    exchange.end(Outcome.TRY_LATER)
    exchange.advance(1)
    assert exchange.link().failures == 1
    exchange.accept(b"a")
    assert exchange.link().failures == 0


# -- failures


@pytest.mark.spec("DM-268")
def test_a_failure_gives_back_what_is_being_sent_and_not_what_was_accepted() -> None:
    exchange = busy(b"a", b"b", b"c", b"d")
    exchange.accept(b"a")
    exchange.conclude(Outcome.TRY_LATER, b"c")
    assert exchange.waiting() == [b"b", b"c", b"d"]
    assert list(exchange.link().accepted) == list(exchange.latest(b"a"))
    exchange.advance(1)
    assert exchange.sent()[-3:] == [b"b", b"c", b"d"]
    check(exchange.state)


@pytest.mark.spec("DM-268")
@pytest.mark.parametrize(
    "event", [OutgoingEvent.FAILED, OutgoingEvent.SESSION_CLEANED_UP, OutgoingEvent.DISCONNECTED]
)
def test_a_connection_that_ends_gives_back_what_is_being_sent_and_not_what_was_accepted(
    event: OutgoingEvent,
) -> None:
    exchange = busy(b"a", b"b", b"c", at_once=2)
    exchange.accept(b"a")
    exchange.manual_carrier.connects = False
    exchange.happen(event, ConnectionStatus.SOCKET_SEND_FAILURE)
    assert exchange.waiting() == [b"b", b"c"]
    assert len(exchange.link().accepted) == 1
    check(exchange.state)


def test_a_carrier_may_say_how_long_to_rest() -> None:
    exchange = busy(b"a")
    number, (lookup_id,) = exchange.outgoing().number, exchange.latest(b"a")
    exchange.say(TransferEnded(number, (lookup_id,), Outcome.TRY_LATER, rest=seconds(20)))
    exchange.advance(19.9)
    assert exchange.sent() == [b"a"]
    exchange.advance(0.1)
    assert exchange.sent() == [b"a", b"a"]
    status = ConnectionStatus.SOCKET_CONNECT_FAILURE
    exchange.say(ConnectionChanged(number, OutgoingEvent.FAILED, status, rest=seconds(7)))
    exchange.advance(6.9)
    assert exchange.sent() == [b"a", b"a"]
    exchange.advance(0.1)
    assert exchange.sent() == [b"a", b"a", b"a"]


def test_an_accepted_message_that_is_tried_later_is_no_failure_of_the_queue() -> None:
    exchange = busy(b"a", b"b")
    exchange.accept(b"a")
    exchange.conclude(Outcome.TRY_LATER, b"a")
    assert not exchange.link().resting
    assert len(exchange.link().accepted) == 1


# -- again


def test_a_resend_gives_back_all_that_was_accepted_in_its_order() -> None:
    exchange = busy(b"a", b"b", b"c", b"d", b"e", at_once=2)
    exchange.accept(b"a", b"b", b"c")
    assert exchange.sent() == [b"a", b"b", b"c", b"d", b"e"]
    exchange.say(ResendWanted(exchange.outgoing().number))
    assert exchange.sent()[5:] == [b"a", b"b"]
    exchange.accept(b"a", b"b", b"c", b"d", b"e")
    assert exchange.sent()[5:] == [b"a", b"b", b"c", b"d", b"e"]
    check(exchange.state)


def test_what_reached_its_destination_does_not_go_again() -> None:
    exchange = busy(b"a", b"b", b"c")
    exchange.accept(b"a", b"b")
    number = exchange.outgoing().number
    exchange.say(DestinationReached(number, exchange.latest(b"a")))
    exchange.say(ResendWanted(number))
    assert exchange.sent() == [b"a", b"b", b"c", b"b", b"c"]
    exchange.conclude(Outcome.DELIVERED, b"a")
    assert exchange.link().delivered == 1
    check(exchange.state)


def test_a_message_may_reach_its_destination_before_it_is_known_to_be_accepted() -> None:
    exchange = busy(b"a", b"b", b"c", at_once=1)
    exchange.say(DestinationReached(exchange.outgoing().number, exchange.latest(b"a")))
    assert exchange.sent() == [b"a", b"b"]
    exchange.accept(b"a")
    exchange.conclude(Outcome.TRY_LATER, b"a")
    assert not exchange.link().resting
    assert list(exchange.link().reached) == list(exchange.latest(b"a"))
    exchange.say(ResendWanted(exchange.outgoing().number))
    assert exchange.sent() == [b"a", b"b", b"b"]
    exchange.conclude(Outcome.DELIVERED, b"a")
    assert exchange.link().delivered == 1
    check(exchange.state)


@pytest.mark.spec("DM-004", "DM-071")
def test_a_restart_forgets_what_was_under_way_and_sends_it_again() -> None:
    exchange = busy(b"a", b"b", b"c", b"d", at_once=2)
    exchange.accept(b"a", b"b")
    exchange.say(DestinationReached(exchange.outgoing().number, exchange.latest(b"a")))
    before = durable(exchange.state)
    exchange.restart(start=False)
    assert durable(exchange.state) == before
    assert exchange.waiting() == [b"a", b"b", b"c", b"d"]
    exchange.manual_carrier.received.clear()
    exchange.start()
    assert exchange.sent() == [b"a", b"b"]
    exchange.accept(b"a", b"b")
    assert exchange.sent() == [b"a", b"b", b"c", b"d"]
    check(exchange.state)


def test_a_queue_on_hold_sends_nothing_again_until_it_is_resumed() -> None:
    exchange = busy(b"a", b"b")
    exchange.accept(b"a")
    exchange.ask(PauseQueue(0, ELSEWHERE))
    exchange.say(ResendWanted(exchange.outgoing().number))
    assert exchange.sent() == [b"a", b"b"]
    exchange.ask(ResumeQueue(0, ELSEWHERE))
    assert exchange.sent() == [b"a", b"b", b"a", b"b"]
    assert exchange.link().state is OutgoingState.CONNECTED


# -- time


def test_time_that_runs_out_while_a_message_is_accepted_counts_when_it_would_go_again() -> None:
    exchange = busy(b"a", b"b", time_to_reach_queue=5, negative_journaling=True)
    exchange.accept(b"a", b"b")
    exchange.advance(10)
    assert len(exchange.link().accepted) == 2
    exchange.conclude(Outcome.DELIVERED, b"a")
    exchange.say(ResendWanted(exchange.outgoing().number))
    assert exchange.sent() == [b"a", b"b"]
    (dead,) = walk(exchange.queue(DEAD))
    assert dead.reason is MessageClass.NACK_REACH_QUEUE_TIMEOUT
    (reported,) = exchange.withdrawn
    assert (reported.lookup_ids, reported.reason) == (exchange.latest(b"b"), dead.reason)
    check(exchange.state)


@pytest.mark.parametrize("purged", [False, True])
def test_time_does_not_run_out_for_what_reached_its_destination_not_even_after_a_restart(
    purged: bool,
) -> None:
    exchange = busy(b"a", time_to_reach_queue=5, negative_journaling=True)
    exchange.accept(b"a")
    if purged:
        exchange.ask(PurgeQueue(0, ELSEWHERE))
        exchange.advance(1)
    exchange.say(DestinationReached(exchange.outgoing().number, exchange.latest(b"a")))
    check(exchange.state)
    exchange.advance(10)
    assert len(exchange.link().reached) == 1
    exchange.restart()
    assert exchange.sent() == ([b"a"] if purged else [b"a", b"a"])  # a purge takes what it finds
    check(exchange.state)


# -- what leaves without its carrier


def test_a_carrier_is_notified_of_what_expires_while_it_waits() -> None:
    exchange = busy(b"a", b"hasty", at_once=1)
    exchange.send(ELSEWHERE, b"soon over", time_to_reach_queue=5)
    lookup_id = walk(exchange.outgoing())[-1].lookup_id
    exchange.advance(10)
    (reported,) = exchange.withdrawn
    assert reported.queue == exchange.outgoing().number
    assert (reported.lookup_ids, reported.reason) == ((lookup_id,), MessageClass.NACK_REACH_QUEUE_TIMEOUT)


def test_a_carrier_is_notified_of_a_purge_now_and_of_what_it_has_when_that_comes_back() -> None:
    exchange = busy(b"a", b"b", b"c", b"d", at_once=2)
    exchange.accept(b"a")
    waiting = tuple(position.lookup_id for position in walk(exchange.outgoing()))
    assert exchange.ask(PurgeQueue(0, ELSEWHERE)).count == 1
    assert [reported.lookup_ids for reported in exchange.withdrawn] == [waiting]
    exchange.conclude(Outcome.DELIVERED, b"b")
    exchange.say(ResendWanted(exchange.outgoing().number))
    reported = [reported.lookup_ids for reported in exchange.withdrawn[1:]]
    assert sorted(reported) == sorted((each,) for each in exchange.latest(b"a", b"c"))
    assert {each.reason for each in exchange.withdrawn} == {MessageClass.NACK_PURGED}
    check(exchange.state)


def test_a_carrier_is_notified_of_all_that_goes_with_its_queue() -> None:
    exchange = busy(b"a", b"b", b"c", at_once=1)
    exchange.accept(b"a")
    under_way = exchange.latest(b"a", b"b")
    waiting = tuple(position.lookup_id for position in walk(exchange.outgoing()))
    number = exchange.outgoing().number
    exchange.ask(DeleteQueue(0, ELSEWHERE))
    assert [reported.lookup_ids for reported in exchange.withdrawn] == [under_way, waiting]
    assert all(reported.queue == number for reported in exchange.withdrawn)
    exchange.say(TransferEnded(number, under_way, Outcome.DELIVERED))
    exchange.say(ResendWanted(number))
    assert not exchange.state.names.outgoing
    check(exchange.state)


def test_a_carrier_is_notified_of_what_an_administrator_takes_out() -> None:
    exchange = busy(b"a", b"b", at_once=1)
    (waiting,) = walk(exchange.outgoing())
    opened = exchange.ask(OpenQueue(0, ELSEWHERE, Access.RECEIVE_ADMIN)).handle
    assert exchange.ask(ReceiveMessages(0, opened)).messages[0].message.body == b"b"
    (reported,) = exchange.withdrawn
    assert (reported.lookup_ids, reported.reason) == ((waiting.lookup_id,), MessageClass.ACK_RECEIVE)


@pytest.mark.parametrize("outcome", [Outcome.DELIVERED, Outcome.REFUSED])
def test_a_carrier_is_not_notified_of_what_it_says_itself(outcome: Outcome) -> None:
    exchange = busy(b"a", b"b")
    exchange.accept(b"b")
    exchange.conclude(outcome, b"a", b"b", reason=MessageClass.NACK_BAD_DEST_QUEUE)
    assert exchange.withdrawn == []


def test_withdrawals_from_other_queues_or_without_a_listener_are_not_reported() -> None:
    exchange = busy(b"a", b"b", at_once=1)
    exchange.send("orders", b"a")
    exchange.ask(PurgeQueue(0, "orders"))
    assert exchange.withdrawn == []
    alone = Bench()
    alone.send(ELSEWHERE, b"a")
    alone.ask(PurgeQueue(0, ELSEWHERE))
    assert alone.signals == []


# -- who gets the report of a refusal


@pytest.mark.parametrize(
    ("name", "reason", "reported"),
    [
        (WEB, MessageClass.NACK_BAD_DEST_QUEUE, [MessageClass.NACK_BAD_DEST_QUEUE]),
        (WEB, MessageClass.NACK_RECEIVE_TIMEOUT, []),
        (ELSEWHERE, MessageClass.NACK_BAD_DEST_QUEUE, []),
    ],
)
def test_a_refusal_by_status_is_reported_by_us_and_one_that_a_peer_acknowledged_is_not(
    name: str, reason: MessageClass, reported: list[MessageClass]
) -> None:
    exchange = Exchange()
    exchange.create("admin")
    exchange.send(
        name,
        b"a",
        acknowledgements=(Acknowledgement.FULL_RECEIVE,),
        administration_queue=f"DIRECT=HTTP://{exchange.state.identity().computer_name}/msmq/private$/admin",
    )
    exchange.end(Outcome.REFUSED, reason)
    admin = [exchange.state.messages.get(position) for position in walk(exchange.queue("admin"))]
    assert [each.message_class for each in admin] == reported
    check(exchange.state)


def test_a_deep_queue_with_many_under_way_drains_in_order() -> None:
    bodies = [b"%d" % number for number in range(50)]
    exchange = busy(*bodies, at_once=7)
    for body in bodies:
        exchange.accept(body)
    assert exchange.sent() == bodies
    exchange.conclude(Outcome.DELIVERED, *bodies)
    assert exchange.outgoing().order.locked == {}
    check(exchange.state)
