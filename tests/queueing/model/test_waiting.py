"""Reads that wait: which read gets a message, and every event that ends a wait without one."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import Duration, seconds
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    AbortTransaction,
    Access,
    CallerGone,
    CancelRead,
    CloseQueue,
    CommitTransaction,
    DeleteQueue,
    EndRead,
    MoveMessage,
    OpenQueue,
    PeekMessage,
    PrepareTransaction,
    ReceiveMessages,
    SendMessages,
)
from reliquary.queueing.model.message import Delivery
from reliquary.queueing.model.waiting import NEXT, Waiter, WaitingReadEvent, WaitingReadState
from tests.queueing.answers import bodies, body, everything
from tests.queueing.manager_harness import Bench, message
from tests.queueing.state_checks import check


def wait(
    bench: Bench, queue: int | str = "orders", timeout: Duration = FOREVER_WAIT, **parameters: Any
) -> int:
    """Begin to receive from an empty queue."""
    caller = bench.begin_asking(ReceiveMessages(0, queue, timeout=timeout, **parameters))
    assert bench.answer_to(caller) is None
    return caller


def wait_to_peek(bench: Bench, queue: int | str = "orders", timeout: Duration = FOREVER_WAIT) -> int:
    caller = bench.begin_asking(PeekMessage(0, queue, timeout))
    assert bench.answer_to(caller) is None
    return caller


# -- what a wait is


@pytest.mark.spec("DM-038", "DM-073")
def test_a_waiter_knows_what_it_will_do() -> None:
    receive = Waiter(1, ReceiveMessages(9, "orders", tag=7, cursor=3), 2)
    assert (receive.destructive, receive.tag, receive.request.cursor) == (True, 7, 3)
    peek = Waiter(1, PeekMessage(9, "orders"), 2)
    assert (peek.destructive, peek.tag, peek.request.cursor, peek.transaction) == (False, 0, 0, None)


@pytest.mark.spec("DM-079", "DM-300", "DM-314")
def test_a_wait_stands_in_the_queue_and_its_timer_runs() -> None:
    bench = Bench()
    wait(bench, timeout=seconds(5))
    (waiter,) = bench.queue().readers.waiting.values()
    assert bench.timers[("wait", waiter.number)] == bench.now + seconds(5)


@pytest.mark.spec("DM-076", "DM-200")
def test_a_wait_without_a_limit_has_no_timer() -> None:
    bench = Bench()
    caller = wait(bench)
    assert not bench.timers
    bench.advance(10**9)
    assert bench.answer_to(caller) is None


# -- time


@pytest.mark.spec("DM-076", "DM-130", "DM-204", "DM-302", "DM-315")
def test_a_receive_gives_up_when_its_time_is_over() -> None:
    """T35, a wait of 5 s without a message: time-out after 5 s."""
    bench = Bench()
    caller = wait(bench, timeout=seconds(5))
    bench.advance(4.999)
    assert bench.answer_to(caller) is None
    bench.advance(0.001)
    assert body(bench.answer_to(caller)) is HResult.IO_TIMEOUT
    assert not bench.queue().readers.waiting
    assert not bench.state.open.callers
    bench.send("orders", b"m1")
    assert bench.bodies() == [b"m1"]
    assert len(bench.answers[caller]) == 1


@pytest.mark.spec("DM-230")
def test_a_peek_gives_up_when_its_time_is_over() -> None:
    bench = Bench()
    caller = wait_to_peek(bench, timeout=seconds(5))
    bench.advance(5)
    assert body(bench.answer_to(caller)) is HResult.IO_TIMEOUT


@pytest.mark.spec("DM-302")
def test_a_wait_that_was_served_takes_its_timer_along() -> None:
    bench = Bench()
    wait(bench, timeout=seconds(5))
    bench.send("orders", b"m1")
    assert not bench.timers
    bench.advance(5)
    check(bench.state)


# -- who is served


@pytest.mark.spec("DM-204", "DM-207", "DM-289", "DM-301", "DM-316")
def test_a_waiting_receive_gets_the_next_message() -> None:
    """T36, a message arrives for a waiting read: the read returns it."""
    bench = Bench()
    caller = wait(bench)
    bench.send("orders", b"m1")
    assert body(bench.answer_to(caller)) == b"m1"
    assert bench.bodies() == []
    assert bench.queue().total_bytes == 0
    check(bench.state)


@pytest.mark.spec("DM-289", "DM-290")
def test_the_one_who_waited_longest_is_served_first() -> None:
    """T38, two waiting reads, one message: the first gets it."""
    bench = Bench()
    first, second, third = wait(bench), wait(bench), wait(bench)
    bench.send("orders", b"m1")
    assert body(bench.answer_to(first)) == b"m1"
    assert bench.answer_to(second) is None
    bench.send("orders", b"m2")
    assert body(bench.answer_to(second)) == b"m2"
    assert bench.answer_to(third) is None


def test_the_order_of_waiting_holds_across_handles() -> None:
    """The handle that was opened first is not served first."""
    bench = Bench()
    old, new = (bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle for _ in range(2))
    first, second = wait(bench, new), wait(bench, old)
    bench.send("orders", b"m1")
    assert body(bench.answer_to(first)) == b"m1"
    assert bench.answer_to(second) is None


@pytest.mark.spec("DM-225", "DM-230", "DM-291", "DM-317")
def test_waiting_peeks_see_the_message_before_it_is_taken() -> None:
    """T39, a waiting peek before a waiting receive: both get the message (AN-21)."""
    bench = Bench()
    peeks = [wait_to_peek(bench), wait_to_peek(bench)]
    receive = wait(bench)
    late = wait_to_peek(bench)
    bench.send("orders", b"m1")
    for caller in (*peeks, receive):
        assert body(bench.answer_to(caller)) == b"m1"
    assert bench.answer_to(late) is None
    assert bench.bodies() == []


def test_a_waiter_gets_all_that_one_request_sent() -> None:
    bench = Bench()
    caller = wait(bench, count=10)
    bench.send("orders", b"a", b"b", b"c")
    assert bodies(bench.answer_to(caller)) == [b"a", b"b", b"c"]


def test_a_waiter_gets_no_more_than_it_asked_for_and_the_next_one_the_rest() -> None:
    bench = Bench()
    first, second = wait(bench, count=2), wait(bench, count=2)
    bench.send("orders", b"a", b"b", b"c")
    assert bodies(bench.answer_to(first)) == [b"a", b"b"]
    assert bodies(bench.answer_to(second)) == [b"c"]


@pytest.mark.parametrize("delivery", list(Delivery))
def test_a_waiter_is_served_in_the_order_of_priority(delivery: Delivery) -> None:
    bench = Bench()
    caller = wait(bench, count=2)
    low, high = (
        message(text, priority=priority, delivery=delivery) for text, priority in ((b"l", 0), (b"h", 7))
    )
    bench.ask(SendMessages(0, "orders", (low, high)))
    assert bodies(bench.answer_to(caller)) == [b"h", b"l"]


@pytest.mark.spec("DM-206")
def test_a_waiter_can_hold_what_it_gets() -> None:
    bench = Bench()
    caller = wait(bench, hold=seconds(30))
    bench.send("orders", b"m1")
    receipt = bench.answer_to(caller).receipt
    assert len(bench.queue().order.locked) == 1
    assert bench.ask(EndRead(0, receipt, delete=False)).status is HResult.OK
    assert bench.bodies() == [b"m1"]


@pytest.mark.spec("DM-205", "DM-202")
def test_a_waiter_can_receive_in_a_transaction() -> None:
    bench = Bench()
    transaction = bench.begin()
    caller = wait(bench, transaction=transaction)
    bench.send("orders", b"m1")
    assert body(bench.answer_to(caller)) == b"m1"
    check(bench.state)
    bench.ask(AbortTransaction(0, transaction))
    assert bench.bodies() == [b"m1"]


@pytest.mark.spec("DM-108", "DM-114", "DM-214", "DM-233")
@pytest.mark.parametrize("how", ["commit", "abort", "give back", "move", "hold runs out"])
def test_every_way_a_message_becomes_available_serves_those_who_wait(how: str) -> None:
    bench = Bench("orders", "other")
    transaction = bench.begin()
    receipt = moved = 0
    if how == "commit":
        bench.send("orders", b"m1", transaction=transaction)
    elif how == "abort":
        bench.send("orders", b"m1")
        bench.receive("orders", transaction=transaction)
    elif how == "move":
        (moved,) = bench.send("other", b"m1").lookup_ids
    else:
        bench.send("orders", b"m1")
        receipt = bench.receive("orders", hold=30).receipt
    caller = wait(bench)
    if how == "commit":
        bench.ask(CommitTransaction(0, transaction))
    elif how == "abort":
        bench.ask(AbortTransaction(0, transaction))
    elif how == "move":
        bench.ask(MoveMessage(0, "other", moved, "orders"))
    elif how == "give back":
        bench.ask(EndRead(0, receipt, delete=False))
    else:
        bench.advance(30)
    assert body(bench.answer_to(caller)) == b"m1"
    check(bench.state)


def test_readers_that_wait_at_a_dead_letter_queue_are_served() -> None:
    """AN-14: a move into a system queue counts bytes and wakes local readers."""
    bench = Bench()
    caller = wait(bench, "system$;deadletter")
    bench.send("orders", b"m1", time_to_be_received=5, negative_journaling=True)
    bench.advance(5)
    assert body(bench.answer_to(caller)) == b"m1"


def test_readers_that_wait_at_a_journal_are_served() -> None:
    bench = Bench("other")
    bench.create("orders", journaling=True)
    caller = wait(bench, "orders;journal")
    bench.send("orders", b"m1")
    bench.receive("orders")
    assert body(bench.answer_to(caller)) == b"m1"


def test_a_message_whose_time_is_over_serves_no_reader() -> None:
    bench = Bench()
    caller, peek = wait(bench), wait_to_peek(bench)
    bench.send("orders", b"m1", time_to_be_received=0)
    assert bench.answer_to(caller) is None
    assert bench.answer_to(peek) is None
    bench.send("orders", b"m2")
    assert body(bench.answer_to(caller)) == b"m2"


# -- what ends a wait


@pytest.mark.spec("DM-236", "DM-237", "DM-315")
def test_a_wait_is_cancelled_by_its_tag() -> None:
    """T66, one of two tagged waits is cancelled; an unknown tag: it ends; refused."""
    bench = Bench()
    first, second = wait(bench, tag=1), wait(bench, tag=2)
    assert bench.ask(CancelRead(0, "orders", 2)).status is HResult.OK
    assert body(bench.answer_to(second)) is HResult.OPERATION_CANCELLED
    assert bench.answer_to(first) is None
    assert bench.ask(CancelRead(0, "orders", 9)).status is HResult.STATUS_NOT_FOUND
    assert bench.ask(CancelRead(0, "orders", 2)).status is HResult.STATUS_NOT_FOUND
    assert len(bench.queue().readers.waiting) == 1


@pytest.mark.spec("DM-236")
def test_the_first_of_two_waits_with_one_tag_is_cancelled() -> None:
    bench = Bench()
    first, second = wait(bench, tag=1), wait(bench, tag=1)
    bench.ask(CancelRead(0, "orders", 1))
    assert body(bench.answer_to(first)) is HResult.OPERATION_CANCELLED
    assert bench.answer_to(second) is None


@pytest.mark.spec("DM-237")
@pytest.mark.parametrize("queue", ["orders", "nowhere", 999])
def test_a_wait_without_a_tag_is_not_found_by_one(queue: int | str) -> None:
    bench = Bench()
    caller = wait(bench)
    wait_to_peek(bench)
    assert bench.ask(CancelRead(0, queue, 0)).status is HResult.STATUS_NOT_FOUND
    assert bench.answer_to(caller) is None


def test_a_wait_is_cancelled_through_a_handle() -> None:
    bench = Bench()
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
    caller = wait(bench, handle, tag=5)
    assert bench.ask(CancelRead(0, handle, 5)).status is HResult.OK
    assert body(bench.answer_to(caller)) is HResult.OPERATION_CANCELLED


def test_a_message_is_not_lost_to_a_caller_who_is_gone() -> None:
    bench = Bench()
    caller = wait(bench, timeout=seconds(60))
    bench.handle(CallerGone(caller))
    bench.send("orders", b"m1")
    assert bench.bodies() == [b"m1"]
    assert not bench.queue().readers.waiting
    assert not bench.timers


def test_an_unknown_caller_that_disconnects_changes_nothing() -> None:
    bench = Bench()
    caller = wait(bench)
    before = everything(bench.state)
    bench.handle(CallerGone(12345))
    assert everything(bench.state) == before
    bench.send("orders", b"m1")
    assert body(bench.answer_to(caller)) == b"m1"


@pytest.mark.spec("DM-181")
@pytest.mark.parametrize("tag", [0, 7])
def test_closing_the_handle_ends_its_waits(tag: int) -> None:
    bench = Bench()
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
    caller = wait(bench, handle, tag=tag)
    bench.ask(CloseQueue(0, handle))
    assert body(bench.answer_to(caller)) is HResult.OPERATION_CANCELLED


def test_deleting_the_queue_ends_its_waits() -> None:
    """Waits at its journal and subqueues end too (AN-23)."""
    bench = Bench("orders", "orders;retry")
    callers = [wait(bench, queue) for queue in ("orders", "orders;retry", "orders;journal")]
    callers.append(wait_to_peek(bench))
    bench.ask(DeleteQueue(0, "orders"))
    for caller in callers:
        assert body(bench.answer_to(caller)) is HResult.QUEUE_NOT_AVAILABLE
    assert not bench.state.open.handles
    assert not bench.state.open.callers


def test_a_stop_ends_all_waits() -> None:
    bench = Bench("orders", "other")
    callers = [wait(bench), wait(bench, "other"), wait_to_peek(bench)]
    bench.stop()
    for caller in callers:
        assert body(bench.answer_to(caller)) is HResult.OPERATION_CANCELLED


@pytest.mark.parametrize("end", [CommitTransaction, AbortTransaction, PrepareTransaction])
def test_the_end_of_a_transaction_ends_the_waits_inside_it(end: Any) -> None:
    """A message that came after the prepare would belong to a transaction whose record is written."""
    bench = Bench()
    transaction = bench.begin()
    inside, outside = wait(bench, transaction=transaction), wait(bench)
    assert bench.ask(end(0, transaction)).status is HResult.OK
    assert body(bench.answer_to(inside)) is HResult.TRANSACTION_SEQUENCE
    bench.send("orders", b"m1")
    assert body(bench.answer_to(outside)) == b"m1"
    check(bench.state)


def test_a_transaction_that_is_not_touched_ends_with_the_wait_inside_it() -> None:
    bench = Bench()
    transaction = bench.begin(timeout=10)
    caller = wait(bench, transaction=transaction)
    bench.advance(10)
    assert body(bench.answer_to(caller)) is HResult.TRANSACTION_SEQUENCE
    assert transaction not in bench.state.transactions.open


def test_a_wait_does_not_survive_the_process() -> None:
    bench = Bench()
    wait(bench)
    bench.restart()
    assert not bench.queue().readers.waiting
    bench.send("orders", b"m1")
    assert bench.bodies() == [b"m1"]


@pytest.mark.spec("DM-038")
def test_the_table_of_waits_answers_every_case() -> None:
    assert set(NEXT) == set(product(WaitingReadState, WaitingReadEvent))
    assert {following for following, _ in NEXT.values()} == {WaitingReadState.OVER}


@pytest.mark.spec("DM-237", "DM-302")
def test_only_a_message_is_a_success_and_what_is_over_stays_over() -> None:
    reported = {event: NEXT[WaitingReadState.WAITING, event][1] for event in WaitingReadEvent}
    assert [each for each, status in reported.items() if status is HResult.OK] == [WaitingReadEvent.SATISFIED]
    assert {NEXT[WaitingReadState.OVER, event][1] for event in WaitingReadEvent} == {HResult.STATUS_NOT_FOUND}
