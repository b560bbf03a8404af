"""Tests of delayed messages, of purges that wait for a lock, and of clocks that jump."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant, later, seconds
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    AbortTransaction,
    BrowseMessages,
    CommitTransaction,
    DeleteQueue,
    EndRead,
    LookUpMessage,
    MoveMessage,
    PeekMessage,
    PrepareTransaction,
    PurgeQueue,
    ReceiveMessages,
)
from reliquary.queueing.model.facts import PositionDeleted
from reliquary.queueing.model.message import FOREVER, Delivery, MessageClass
from reliquary.queueing.model.state import LONGEST_TIMER, Sizes
from reliquary.queueing.model.tables import DELAYED, EXPIRY
from reliquary.queueing.rules.expiry import delayed
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, durable, every, walk

KINDS = pytest.mark.parametrize("delivery", list(Delivery))


def send(bench: Bench, body: bytes, delay: float, **attributes: Any) -> int:
    (lookup_id,) = bench.send("orders", body, delay=seconds(delay), **attributes).lookup_ids
    assert isinstance(lookup_id, int)
    return lookup_id


def reasons(bench: Bench) -> list[MessageClass]:
    return [each.reason for each in bench.signals if isinstance(each, PositionDeleted)]


# -- delays


@KINDS
def test_no_reader_sees_a_message_before_its_moment(delivery: Delivery) -> None:
    bench = Bench()
    lookup_id = send(bench, b"m", 10, delivery=delivery)
    bench.advance(9)
    assert bench.receive("orders").status is HResult.IO_TIMEOUT
    assert bench.ask(PeekMessage(0, "orders")).status is HResult.IO_TIMEOUT
    assert bench.ask(BrowseMessages(0, "orders")).messages == ()
    assert bench.ask(LookUpMessage(0, "orders", lookup_id)).status is HResult.MESSAGE_NOT_FOUND
    assert bench.ask(MoveMessage(0, "orders", lookup_id, "orders")).status is HResult.QUEUE_NOT_FOUND
    check(bench.state)
    bench.advance(1)
    assert bench.receive("orders").messages[0].message.body == b"m"
    check(bench.state)


@KINDS
def test_a_due_message_takes_its_position_and_wakes_waiting_readers(delivery: Delivery) -> None:
    bench = Bench()
    send(bench, b"first", 10, delivery=delivery)
    send(bench, b"second", 10, delivery=delivery)
    bench.send("orders", b"third", delivery=delivery)
    assert bench.bodies() == [b"third"]
    assert bench.receive("orders").messages[0].message.body == b"third"
    caller = bench.begin_asking(ReceiveMessages(0, "orders", count=9, timeout=FOREVER_WAIT))
    bench.send("orders", b"other", delivery=delivery, delay=seconds(20))
    assert bench.answer_to(caller) is None
    bench.advance(10)
    assert [each.message.body for each in bench.answer_to(caller).messages] == [b"first", b"second"]
    check(bench.state)


def test_a_delayed_message_is_counted_against_the_quota() -> None:
    bench = Bench("other")
    bench.create("orders", quota=1)
    send(bench, b"x" * 700, 10)
    assert bench.send("orders", b"x" * 700).status is HResult.INSUFFICIENT_RESOURCES
    assert bench.queue().total_bytes == bench.state.totals.bytes > 700


def test_a_message_without_a_delay_is_seen_at_once_and_leaves_no_row() -> None:
    bench = Bench()
    send(bench, b"m", 0)
    assert bench.bodies() == [b"m"]
    assert not every(bench.state, DELAYED)
    assert not every(bench.state, EXPIRY)


def test_a_delay_counts_from_the_time_a_message_was_sent() -> None:
    bench = Bench()
    sent = bench.now // 1_000_000 - 30
    bench.send("orders", b"over", sent_time=sent, delay=seconds(20))
    bench.send("orders", b"not yet", sent_time=sent, delay=seconds(40))
    assert bench.bodies() == [b"over"]
    bench.advance(10)
    assert bench.bodies() == [b"over", b"not yet"]


@pytest.mark.parametrize("wrong", [-1, FOREVER * 1_000_000 + 1])
def test_a_delay_outside_its_range_is_refused(wrong: int) -> None:
    bench = Bench()
    refused = bench.send("orders", b"m", delay=wrong)
    assert refused.status is HResult.INVALID_PARAMETER
    assert f"not {wrong}" in refused.why


@KINDS
@pytest.mark.parametrize("spare", [5, 10])
def test_a_message_that_expires_before_its_moment_is_never_seen(delivery: Delivery, spare: int) -> None:
    bench = Bench(subscribed=[PositionDeleted])
    send(bench, b"m", 10, time_to_be_received=spare, negative_journaling=True, delivery=delivery)
    caller = bench.begin_asking(ReceiveMessages(0, "orders", timeout=FOREVER_WAIT))
    bench.advance(20)
    assert bench.answer_to(caller) is None
    assert bench.bodies("system$;deadletter") == [b"m"]
    assert reasons(bench) == [MessageClass.NACK_RECEIVE_TIMEOUT]
    assert not every(bench.state, EXPIRY)
    check(bench.state)


def test_the_time_of_a_message_goes_on_after_its_delay() -> None:
    bench = Bench()
    send(bench, b"m", 10, time_to_be_received=15)
    bench.advance(10)
    assert bench.bodies() == [b"m"]
    bench.advance(5)
    assert bench.bodies() == []
    check(bench.state)


@KINDS
def test_a_purge_takes_what_is_delayed_and_not_what_came_after_it(delivery: Delivery) -> None:
    bench = Bench(subscribed=[PositionDeleted], sizes=Sizes(at_once=2))
    for body in (b"a", b"b", b"c"):
        send(bench, body, 10, delivery=delivery)
    bench.send("orders", b"d", delivery=delivery)
    bench.patient = True
    caller = bench.begin_asking(PurgeQueue(0, "orders"))
    send(bench, b"after", 10, delivery=delivery)
    bench.patient = False
    bench.go_on()
    assert bench.answer_to(caller).count == 4
    assert reasons(bench) == [MessageClass.NACK_QUEUE_PURGED] * 4
    bench.advance(10)
    assert bench.bodies() == [b"after"]
    check(bench.state)


@KINDS
def test_a_delete_takes_what_is_delayed(delivery: Delivery) -> None:
    bench = Bench(sizes=Sizes(at_once=2))
    for _ in range(5):
        send(bench, b"m", 10, negative_journaling=True, delivery=delivery)
    assert bench.ask(DeleteQueue(0, "orders")).count == 5
    assert bench.bodies("system$;deadletter") == [b"m"] * 5
    bench.advance(20)
    check(bench.state)


def test_a_copy_in_the_journal_is_not_delayed() -> None:
    bench = Bench()
    send(bench, b"m", 10, positive_journaling=True)
    assert bench.bodies("system$;journal") == [b"m"]
    bench.advance(10)
    assert bench.bodies() == [b"m"]
    check(bench.state)


# -- inside a transaction


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize(("pause", "seen"), [(3, []), (20, [b"m"])])
def test_a_delay_in_a_transaction_counts_from_the_send(prepared: bool, pause: int, seen: list[bytes]) -> None:
    bench = Bench()
    transaction = bench.begin()
    send(bench, b"m", 10, transaction=transaction)
    if prepared:
        bench.ask(PrepareTransaction(0, transaction, single_phase=False))
        bench.restart()
    bench.advance(pause)
    bench.ask(CommitTransaction(0, transaction))
    assert bench.bodies() == seen
    check(bench.state)
    live = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == live
    bench.start()
    bench.advance(10)
    assert bench.bodies() == [b"m"]
    check(bench.state)


@pytest.mark.parametrize("prepared", [False, True])
def test_a_delayed_message_of_an_aborted_transaction_never_comes(prepared: bool) -> None:
    bench = Bench()
    transaction = bench.begin()
    send(bench, b"m", 10, transaction=transaction)
    if prepared:
        bench.ask(PrepareTransaction(0, transaction))
    bench.ask(AbortTransaction(0, transaction))
    bench.advance(20)
    assert bench.bodies() == []
    assert not every(bench.state, EXPIRY)
    check(bench.state)


def test_a_delayed_message_into_a_queue_that_is_being_deleted_goes_with_it() -> None:
    bench = Bench()
    transaction = bench.begin()
    send(bench, b"m", 10, negative_journaling=True, transaction=transaction)
    bench.ask(PrepareTransaction(0, transaction, single_phase=False))
    bench.send("orders", b"here")
    bench.patient = True
    bench.ask(DeleteQueue(0, "orders"))
    bench.ask(CommitTransaction(0, transaction))
    bench.patient = False
    bench.go_on()
    assert bench.bodies("system$;deadxact") == [b"m"]
    check(bench.state)


@pytest.mark.spec("DM-077", "DM-296")
def test_each_message_of_a_transaction_has_its_own_time() -> None:
    """T65: a message whose time runs out inside a transaction is deleted by the commit."""
    bench = Bench(subscribed=[PositionDeleted])
    transaction = bench.begin()
    for body, time in ((b"short", 5), (b"long", 50), (b"for ever", FOREVER), (b"none", 0)):
        bench.send("orders", body, time_to_be_received=time, transaction=transaction)
    bench.advance(10)
    bench.ask(CommitTransaction(0, transaction))
    assert bench.bodies() == [b"long", b"for ever"]
    assert reasons(bench) == [MessageClass.NACK_RECEIVE_TIMEOUT] * 2
    bench.advance(40)
    assert bench.bodies() == [b"for ever"]
    check(bench.state)


# -- a purge that waits for its message


@pytest.mark.spec("DM-040", "DM-184")
@KINDS
def test_a_purge_of_a_held_message_is_not_forgotten_by_a_crash(delivery: Delivery) -> None:
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"m", negative_journaling=True, delivery=delivery)
    bench.receive("orders", hold=100)
    bench.ask(PurgeQueue(0, "orders"))
    bench.send("orders", b"after")
    bench.flush()
    bench.restart(crash=True)
    assert bench.receive("orders").messages[0].message.body == b"after"
    bench.fire_due_timers()
    kept = [] if delivery is Delivery.EXPRESS else [b"m"]
    assert bench.bodies("system$;deadletter") == kept
    assert all(not position.purged for position in walk(bench.queue("system$;deadletter")))
    check(bench.state)


@pytest.mark.spec("DM-184", "DM-213")
def test_a_purge_that_waits_does_not_keep_the_clock_busy() -> None:
    bench = Bench()
    bench.send("orders", b"m", time_to_be_received=1000)
    receipt = bench.receive("orders", hold=500).receipt
    bench.ask(PurgeQueue(0, "orders"))
    bench.fire_due_timers()
    assert bench.timers["expiry", 0] > bench.now
    bench.ask(EndRead(0, receipt, delete=False))
    assert bench.bodies() == []
    assert not every(bench.state, EXPIRY)
    check(bench.state)


@pytest.mark.spec("DM-110", "DM-184")
def test_a_message_that_a_transaction_moves_out_of_a_purged_queue_is_kept() -> None:
    bench = Bench("orders", "other")
    (lookup_id,) = bench.send("orders", b"m", time_to_be_received=50).lookup_ids
    transaction = bench.begin()
    bench.ask(MoveMessage(0, "orders", lookup_id, "other", transaction))
    bench.ask(PurgeQueue(0, "orders"))
    bench.ask(CommitTransaction(0, transaction))
    assert bench.bodies("other") == [b"m"]
    bench.advance(50)
    assert bench.bodies("other") == []
    check(bench.state)


# -- restarts and jumps


@pytest.mark.spec("DM-081")
def test_delays_and_deadlines_that_passed_while_no_process_ran_are_met_at_the_start() -> None:
    bench = Bench()
    send(bench, b"due", 10)
    bench.send("orders", b"over", time_to_be_received=10, negative_journaling=True)
    send(bench, b"both", 10, time_to_be_received=15, negative_journaling=True)
    bench.flush()
    bench.now = later(bench.now, seconds(3600))
    bench.restart()
    bench.fire_due_timers()
    assert bench.bodies() == [b"due"]
    assert sorted(bench.bodies("system$;deadletter")) == [b"both", b"over"]
    check(bench.state)


def test_a_clock_that_jumps_ahead_is_noticed_within_a_minute() -> None:
    """The engine's timers count elapsed time, and the calendar is set an hour ahead."""
    bench = Bench()
    send(bench, b"due", 1800)
    bench.send("orders", b"over", time_to_be_received=1800)
    [fires] = [at for name, at in bench.timers.items() if name[0] == "expiry"]
    assert fires - bench.now <= LONGEST_TIMER
    bench.now = later(bench.now, seconds(3600))
    bench.fire_due_timers()
    assert bench.bodies() == [b"due"]
    check(bench.state)


def test_a_clock_that_was_set_back_before_a_restart_delays_nothing_permanently() -> None:
    bench = Bench()
    send(bench, b"before", 10)
    bench.advance(3600)
    bench.receive("orders")
    bench.restart()
    bench.now = Instant(bench.now - seconds(3000))
    bench.restart()
    send(bench, b"after", 10)
    bench.send("orders", b"over", time_to_be_received=10)
    bench.advance(10)
    assert bench.bodies() == [b"after"]
    check(bench.state)


def test_many_that_are_due_at_once_are_let_in_a_turn_at_a_time() -> None:
    bench = Bench(sizes=Sizes(at_once=3))
    bench.send("orders", *[b"m"] * 10, delay=seconds(10))
    bench.advance(9)
    bench.patient = True
    bench.advance(1)
    assert len(bench.queue().order) == 3
    bench.go_on()
    assert len(bench.queue().order) == 10
    check(bench.state)


def test_a_restart_reads_no_delayed_message_until_it_is_due() -> None:
    bench = Bench()
    bench.send("orders", *[b"m"] * 50, delay=seconds(1000))
    bench.restart()
    assert bench.queue().counts.delayed == 50
    assert len(bench.queue().order) == 0
    lookup_id = int.from_bytes(min(every(bench.state, DELAYED))[4:], "big")
    assert delayed(bench.state, bench.queue(), lookup_id) is not None
    assert delayed(bench.state, bench.queue(), 1) is None
