"""Tests TimeToBeReceived, [MS-MQDMPR] 3.1.2.4 and 3.1.7.2.7: before, at, after; locked, in a transaction."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import in_whole_seconds
from reliquary.base.turn import SetTimer
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    AbortTransaction,
    BrowseMessages,
    CommitTransaction,
    MoveMessage,
    PrepareTransaction,
    ReceiveMessages,
    SendMessages,
)
from reliquary.queueing.model.facts import PositionDeleted
from reliquary.queueing.model.message import FOREVER, Delivery, MessageClass, ObjectId
from reliquary.queueing.model.state import LONGEST_TIMER
from reliquary.queueing.model.tables import EXPIRY
from tests.queueing.answers import bodies, body, sleep_through
from tests.queueing.manager_harness import NOON, Bench, message
from tests.queueing.state_checks import check, every

TIMEOUT = MessageClass.NACK_RECEIVE_TIMEOUT
KINDS = pytest.mark.parametrize("delivery", list(Delivery))


def reasons(bench: Bench) -> list[MessageClass]:
    return [signal.reason for signal in bench.signals if isinstance(signal, PositionDeleted)]


@pytest.mark.spec("DM-077", "DM-194", "DM-297")
@KINDS
def test_a_message_is_gone_when_its_time_is_over(delivery: Delivery) -> None:
    """T64, TimeToBeReceived runs out: the message leaves with NackReceiveTimeout."""
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1", time_to_be_received=10, delivery=delivery)
    bench.advance(9.999999)
    assert bench.bodies() == [b"m1"]
    bench.advance(0.000001)
    assert bench.bodies() == []
    assert reasons(bench) == [TIMEOUT]
    assert bench.queue().total_bytes == 0
    check(bench.state)


@pytest.mark.parametrize("into_the_second", [0.0, 0.4, 0.999999])
def test_a_second_is_a_whole_second_whenever_it_begins(into_the_second: float) -> None:
    """SentTime knows whole seconds; the deadline of a message that did not travel does not suffer."""
    bench = Bench()
    bench.advance(into_the_second)
    bench.send("orders", b"m1", time_to_be_received=1)
    bench.advance(0.999999)
    assert bench.bodies() == [b"m1"]
    bench.advance(0.000001)
    assert bench.bodies() == []


@pytest.mark.spec("DM-077")
@KINDS
def test_a_message_without_any_time_expires_at_once(delivery: Delivery) -> None:
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1", time_to_be_received=0, delivery=delivery)
    assert bench.receive("orders").status is HResult.IO_TIMEOUT
    bench.fire_due_timers()
    assert reasons(bench) == [TIMEOUT]
    check(bench.state)


@pytest.mark.spec("DM-058", "DM-077")
def test_a_message_without_a_limit_never_expires() -> None:
    bench = Bench()
    bench.send("orders", b"default")
    bench.send("orders", b"said", time_to_be_received=FOREVER)
    assert not every(bench.state, EXPIRY)
    assert not bench.timers
    bench.advance(10**9)
    assert bench.bodies() == [b"default", b"said"]


def test_the_longest_time_that_is_no_limit_is_kept() -> None:
    bench = Bench()
    bench.send("orders", b"m1", time_to_be_received=FOREVER - 1)
    bench.restart()
    assert len(every(bench.state, EXPIRY)) == 1


@pytest.mark.spec("DM-077")
def test_the_time_of_a_message_that_travelled_began_when_it_was_sent() -> None:
    """AN-07: the deadline to be received counts from SentTime, else from arrival."""
    bench = Bench()
    sent = in_whole_seconds(NOON) - 8
    travelled = message(b"m1", identifier=ObjectId(uniquifier=1), sent_time=sent, time_to_be_received=10)
    bench.ask(SendMessages(0, "orders", (travelled,)))
    bench.advance(1.9)
    assert bench.bodies() == [b"m1"]
    bench.advance(0.1)
    assert bench.bodies() == []


def test_a_message_that_was_over_when_it_came_is_never_seen() -> None:
    bench = Bench()
    sent = in_whole_seconds(NOON) - 100
    over = message(
        b"m1",
        identifier=ObjectId(uniquifier=1),
        sent_time=sent,
        time_to_be_received=10,
        negative_journaling=True,
    )
    assert bench.ask(SendMessages(0, "orders", (over,))).status is HResult.OK
    assert bench.receive("orders").status is HResult.IO_TIMEOUT
    bench.fire_due_timers()
    assert bench.bodies("system$;deadletter") == [b"m1"]
    check(bench.state)


@pytest.mark.spec("DM-081")
def test_a_deadline_survives_a_restart() -> None:
    bench = Bench()
    bench.send("orders", b"m1", time_to_be_received=10, negative_journaling=True)
    bench.advance(5)
    bench.restart()
    bench.advance(4)
    assert bench.bodies() == [b"m1"]
    bench.advance(1)
    assert bench.bodies("system$;deadletter") == [b"m1"]
    check(bench.state)


@pytest.mark.spec("DM-081")
def test_a_deadline_that_passed_while_nothing_ran_counts() -> None:
    bench = Bench()
    bench.send("orders", b"m1", time_to_be_received=10)
    bench.flush()
    sleep_through(bench, 3600)
    bench.restart()
    bench.fire_due_timers()
    assert bench.bodies() == []
    check(bench.state)


def test_a_far_deadline_is_looked_at_every_minute_because_calendars_jump() -> None:
    bench = Bench()
    turn = bench.handle(SendMessages(1, "orders", (message(b"m1", time_to_be_received=3600),)))
    (timer,) = [effect for effect in turn.effects if isinstance(effect, SetTimer)]
    assert timer.after == LONGEST_TIMER
    sleep_through(bench, 3600)  # the calendar jumps
    bench.fire_due_timers()
    assert bench.bodies() == []


def test_one_timer_serves_all_deadlines_and_the_next_one_is_set_when_it_fires() -> None:
    bench = Bench("orders", "other")
    for span in (30, 10, 20):
        bench.send("orders", b"%d" % span, time_to_be_received=span)
        bench.send("other", b"%d" % span, time_to_be_received=span, delivery=Delivery.EXPRESS)
    assert len(bench.timers) == 1
    for gone in (10, 20, 30):
        bench.advance(10)
        left = [b"%d" % span for span in (30, 10, 20) if span > gone]
        assert bench.bodies() == bench.bodies("other") == left
    assert not bench.timers
    check(bench.state)


def test_many_deadlines_at_once_leave_room_for_others() -> None:
    bench = Bench()
    count = bench.state.sizes.at_once
    bench.send("orders", *[b"m"] * (count + 5), time_to_be_received=10)
    bench.send("orders", *[b"m"] * (count + 5), time_to_be_received=10, delivery=Delivery.EXPRESS)
    bench.patient = True
    bench.advance(10)
    assert bench.pending
    bench.go_on()
    assert bench.bodies() == []
    check(bench.state)


# -- locked


@pytest.mark.spec("DM-039")
@KINDS
@pytest.mark.parametrize("end", [CommitTransaction, AbortTransaction])
def test_a_message_that_a_transaction_received_in_time_waits_for_its_outcome(
    end: Any, delivery: Delivery
) -> None:
    """AN-09: a commit wins, an abort finds the time over."""
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1", time_to_be_received=10, delivery=delivery)
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.advance(20)
    assert reasons(bench) == []
    bench.ask(end(0, transaction))
    assert reasons(bench) == [MessageClass.ACK_RECEIVE if end is CommitTransaction else TIMEOUT]
    assert bench.bodies() == []
    check(bench.state)


def test_a_locked_message_whose_time_ran_out_expires_after_a_restart() -> None:
    bench = Bench()
    bench.send("orders", b"m1", time_to_be_received=10, negative_journaling=True)
    bench.receive("orders", transaction=bench.begin())
    bench.advance(20)
    bench.restart()
    bench.fire_due_timers()
    assert bench.bodies("system$;deadletter") == [b"m1"]
    check(bench.state)


@pytest.mark.spec("DM-296")
@pytest.mark.parametrize("prepared", [True, False])
@pytest.mark.parametrize("reader_waits", [True, False])
def test_a_message_that_expired_before_its_commit_is_never_shown(prepared: bool, reader_waits: bool) -> None:
    """The expired message wakes no waiting reader (T65, AN-46)."""
    bench = Bench(subscribed=[PositionDeleted])
    transaction = bench.begin()
    bench.send("orders", b"m1", time_to_be_received=10, negative_journaling=True, transaction=transaction)
    if prepared:
        bench.ask(PrepareTransaction(0, transaction))
    bench.advance(20)
    assert reasons(bench) == []
    waiting = bench.new_caller()
    if reader_waits:
        bench.handle(ReceiveMessages(waiting, "orders", timeout=FOREVER_WAIT))
    assert bench.ask(CommitTransaction(0, transaction)).status is HResult.OK
    assert bench.answer_to(waiting) is None
    assert reasons(bench) == [TIMEOUT]
    assert bench.bodies("system$;deadxact") == [b"m1"]
    check(bench.state)


def test_a_message_of_a_transaction_that_is_over_expires_like_any_other() -> None:
    """AN-08: a transaction that is over no longer holds back expiry."""
    bench = Bench(subscribed=[PositionDeleted])
    transaction = bench.begin()
    bench.send("orders", b"m1", time_to_be_received=10, transaction=transaction)
    bench.ask(CommitTransaction(0, transaction))
    bench.advance(10)
    assert reasons(bench) == [TIMEOUT]
    check(bench.state)


# -- moved


@KINDS
def test_a_moved_message_keeps_its_deadline(delivery: Delivery) -> None:
    bench = Bench("orders", "other", subscribed=[PositionDeleted])
    (lookup_id,) = bench.send("orders", b"m1", time_to_be_received=10, delivery=delivery).lookup_ids
    bench.ask(MoveMessage(0, "orders", lookup_id, "other"))
    check(bench.state)
    bench.advance(10)
    assert bench.bodies("other") == []
    assert reasons(bench) == [TIMEOUT]
    check(bench.state)


@KINDS
def test_a_message_that_was_moved_away_and_back_expires_once(delivery: Delivery) -> None:
    bench = Bench("orders", "other", subscribed=[PositionDeleted])
    (lookup_id,) = bench.send("orders", b"m1", time_to_be_received=10, delivery=delivery).lookup_ids
    bench.ask(MoveMessage(0, "orders", lookup_id, "other"))
    bench.ask(MoveMessage(0, "other", lookup_id, "orders"))
    bench.advance(10)
    assert reasons(bench) == [TIMEOUT]
    check(bench.state)


@KINDS
def test_a_received_message_leaves_no_deadline_behind(delivery: Delivery) -> None:
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m1", time_to_be_received=10, delivery=delivery)
    assert body(bench.receive("orders")) == b"m1"
    bench.advance(20)
    assert reasons(bench) == [MessageClass.ACK_RECEIVE]
    assert not every(bench.state, EXPIRY)


def test_a_reader_passes_over_many_messages_whose_time_is_over() -> None:
    bench = Bench()
    bench.send("orders", *[b"over"] * 3000, time_to_be_received=10)
    bench.send("orders", b"long")
    sleep_through(bench, 10)
    assert bodies(bench.ask(BrowseMessages(0, "orders"))) == [b"long"]
    assert body(bench.receive("orders")) == b"long"
    check(bench.state)


def test_a_message_whose_time_is_over_takes_no_place_in_an_answer() -> None:
    bench = Bench()
    bench.send("orders", b"over", priority=7, time_to_be_received=5)
    bench.send("orders", b"m1", b"m2", b"m3")
    sleep_through(bench, 10)
    assert bodies(bench.receive("orders", count=2)) == [b"m1", b"m2"]
