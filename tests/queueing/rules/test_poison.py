"""Tests of the delivery counters of a message, of delays between tries, and of `QUEUE;poison`."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import AbortTransaction as Abort
from reliquary.queueing.model.events import (
    Access,
    ChangeQueue,
    CloseQueue,
    CommitTransaction,
    DeleteQueue,
    EndRead,
    LookUpMessage,
    MoveMessage,
    OpenCursor,
    OpenQueue,
    PeekMessage,
    PrepareTransaction,
    PurgeQueue,
    ReceiveMessages,
    Seek,
)
from reliquary.queueing.model.message import Delivery, MessageClass, Position
from reliquary.queueing.rules.poison import NO_ROOM_DELAY
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, durable, walk


def bench_with(**settings: Any) -> Bench:
    bench = Bench("orders")
    bench.ask(ChangeQueue(0, "orders", settings))
    return bench


def only(bench: Bench, path: str = "orders") -> Position:
    [position] = walk(bench.queue(path))
    return position


def counters(position: Position) -> tuple[int, int]:
    return position.handed_out, position.aborted


def take_and_give_back(bench: Bench, path: str = "orders") -> Any:
    received = bench.receive(path, hold=30)
    if received.status is HResult.OK:
        bench.ask(EndRead(0, received.receipt, delete=False))
    return received


# -- the two counters


def test_a_message_counts_how_often_it_was_handed_out_and_came_back() -> None:
    bench = Bench()
    bench.send("orders", b"m")
    for tries in (1, 2, 3):
        [delivered] = take_and_give_back(bench).messages
        assert counters(delivered.position) == (tries, tries - 1)
        assert counters(only(bench)) == (tries, tries)
    live = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == live
    assert counters(only(bench)) == (3, 3)
    check(bench.state)


def test_a_hand_out_is_counted_before_a_reader_sees_the_message() -> None:
    """A consumer that takes the process along has used up a try."""
    bench = Bench()
    bench.send("orders", b"m")
    turn = bench.handle(ReceiveMessages(7, "orders", hold=seconds(30)))
    assert [type(fact) for fact in turn.facts] == [facts.PositionsHandedOut]
    assert not turn.facts[0].volatile
    bench.flush()
    bench.restart(crash=True)
    assert counters(only(bench)) == (1, 0)


def test_all_that_one_receive_hands_out_is_one_fact() -> None:
    bench = Bench()
    bench.send("orders", *[b"m"] * 5)
    turn = bench.handle(ReceiveMessages(7, "orders", count=5, transaction=bench.begin()))
    [handed_out] = turn.facts
    assert isinstance(handed_out, facts.PositionsHandedOut)
    assert len(handed_out.positions) == 5


def test_a_permanent_receive_writes_only_the_removal() -> None:
    bench = Bench()
    bench.send("orders", b"m")
    turn = bench.handle(ReceiveMessages(7, "orders"))
    assert [type(fact) for fact in turn.facts] == [facts.PositionsRemoved]


def test_an_express_message_is_counted_in_memory_only() -> None:
    bench = Bench()
    bench.send("orders", b"m", delivery=Delivery.EXPRESS)
    bench.flush()
    take_and_give_back(bench)
    assert counters(only(bench)) == (1, 1)
    assert bench.rows.is_empty


@pytest.mark.parametrize(
    "ending", ["negative end", "hold time-out", "lost lease", "close", "abort", "time-out"]
)
def test_every_kind_of_return_counts(ending: str) -> None:
    bench = Bench()
    bench.send("orders", b"m")
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE, lease=seconds(20))).handle
    match ending:
        case "negative end":
            take_and_give_back(bench)
        case "hold time-out":
            bench.receive("orders", hold=5)
            bench.advance(5)
        case "lost lease":
            bench.receive(handle, hold=100)
            bench.advance(20)
        case "close":
            bench.receive(handle, hold=100)
            bench.ask(CloseQueue(0, handle))
        case "abort":
            transaction = bench.begin()
            bench.receive("orders", transaction=transaction)
            bench.ask(Abort(0, transaction))
        case _:
            bench.receive("orders", transaction=bench.begin(timeout=5))
            bench.advance(5)
    assert counters(only(bench)) == (1, 1)
    check(bench.state)


def test_what_was_not_tried_is_not_counted() -> None:
    """A consumer that fetched ahead gives back what it never looked at."""
    bench = bench_with(poison_limit=1, retry_delay=60)
    bench.send("orders", b"m")
    receipt = bench.receive("orders", hold=30).receipt
    bench.ask(EndRead(0, receipt, delete=False, unseen=True))
    assert counters(only(bench)) == (0, 0)
    check(bench.state)


def test_a_move_begins_the_counters_anew_and_counts_itself() -> None:
    bench = Bench("orders", "orders;retry")
    bench.send("orders", b"m")
    take_and_give_back(bench)
    bench.ask(MoveMessage(0, "orders", only(bench).lookup_id, "orders;retry"))
    assert counters(only(bench, "orders;retry")) == (0, 0)
    assert only(bench, "orders;retry").moved == 1
    bench.ask(MoveMessage(0, "orders;retry", only(bench, "orders;retry").lookup_id, "orders"))
    assert only(bench).moved == 2


def test_a_dead_letter_begins_its_counters_anew() -> None:
    bench = bench_with(poison_limit=3)
    bench.create("failed", poison_limit=2)
    bench.send("orders", b"a", negative_journaling=True, application_deadletter_queue="failed")
    take_and_give_back(bench)
    take_and_give_back(bench)
    bench.ask(PurgeQueue(0, "orders"))
    assert counters(only(bench, "failed")) == (0, 0)
    take_and_give_back(bench, "failed")
    assert counters(only(bench, "failed")) == (1, 1)
    check(bench.state)


def test_a_move_that_is_aborted_counts_as_a_failed_try_and_as_no_hand_out() -> None:
    bench = Bench("orders", "orders;retry")
    bench.send("orders", b"m")
    transaction = bench.begin()
    bench.ask(MoveMessage(0, "orders", only(bench).lookup_id, "orders;retry", transaction))
    bench.ask(Abort(0, transaction))
    assert counters(only(bench)) == (0, 1)


# -- the limit


def test_a_message_is_put_aside_in_the_turn_that_brings_it_back_once_too_often() -> None:
    bench = bench_with(poison_limit=2)
    bench.send("orders", b"bad", b"good")
    take_and_give_back(bench)
    assert bench.bodies() == [b"bad", b"good"]
    take_and_give_back(bench)
    assert bench.bodies() == [b"good"]
    assert bench.bodies("orders;poison") == [b"bad"]
    bad = only(bench, "orders;poison")
    assert counters(bad) == (2, 2)
    assert (bad.reason, bad.origin) == (MessageClass.NACK_RECEIVE_REJECTED, bench.queue().number)
    live = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == live
    check(bench.state)


@pytest.mark.parametrize("way", ["plain", "held", "inside", "lookup", "next", "cursor"])
def test_a_poison_message_is_put_aside_after_a_crash_instead_of_being_handed_out(way: str) -> None:
    bench = bench_with(poison_limit=1)
    bench.send("orders", b"bad", b"good")
    bad = walk(bench.queue())[0].lookup_id
    bench.receive("orders", hold=30)
    bench.flush()
    bench.restart(crash=True)
    assert bench.bodies() == [b"bad", b"good"]
    match way:
        case "plain":
            received = bench.receive("orders")
        case "held":
            received = bench.receive("orders", hold=5)
        case "inside":
            received = bench.receive("orders", transaction=bench.begin())
        case "lookup":
            assert bench.ask(LookUpMessage(0, "orders", bad, peek=False)).status is HResult.MESSAGE_NOT_FOUND
            received = bench.receive("orders")
        case "next":
            received = bench.ask(LookUpMessage(0, "orders", 0, Seek.FIRST, peek=False))
        case _:
            handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
            cursor = bench.ask(OpenCursor(0, handle)).handle
            received = bench.receive(handle, cursor=cursor)
    assert [each.message.body for each in received.messages] == [b"good"]
    assert bench.bodies("orders;poison") == [b"bad"]
    assert counters(only(bench, "orders;poison")) == (1, 0)
    check(bench.state)


def test_a_cursor_that_peeked_at_poison_finds_it_gone() -> None:
    bench = bench_with(poison_limit=1)
    bench.send("orders", b"bad")
    bench.receive("orders", hold=30)
    bench.flush()
    bench.restart(crash=True)
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
    cursor = bench.ask(OpenCursor(0, handle)).handle
    assert bench.ask(PeekMessage(0, handle, cursor=cursor)).status is HResult.OK
    assert bench.receive(handle, cursor=cursor).status is HResult.MESSAGE_ALREADY_RECEIVED
    assert bench.bodies("orders;poison") == [b"bad"]


def test_a_transaction_that_a_start_aborts_counts_too() -> None:
    bench = bench_with(poison_limit=1)
    bench.send("orders", b"bad")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(PrepareTransaction(0, transaction, single_phase=True))
    bench.restart()
    assert bench.bodies() == []
    assert counters(only(bench, "orders;poison")) == (1, 1)
    check(bench.state)


def test_a_message_that_is_consumed_at_the_last_try_is_consumed() -> None:
    bench = bench_with(poison_limit=1)
    bench.send("orders", b"m")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(CommitTransaction(0, transaction))
    assert bench.state.find(bench.state.parse("orders;poison")) is None


def test_a_message_is_tried_indefinitely_without_a_limit() -> None:
    bench = Bench()
    bench.send("orders", b"m")
    for _ in range(50):
        take_and_give_back(bench)
    assert bench.bodies() == [b"m"]


def test_poison_is_transactional_where_its_queue_is() -> None:
    bench = Bench("other")
    bench.create("orders", transactional=True, poison_limit=1)
    transaction = bench.begin()
    bench.send("orders", b"m", transaction=transaction)
    bench.ask(CommitTransaction(0, transaction))
    take_and_give_back(bench)
    assert bench.queue("orders;poison").record.settings.transactional
    assert bench.queue("orders;poison").record.parent == bench.queue().number


def test_poison_is_never_poisoned_again_and_never_expires() -> None:
    bench = bench_with(poison_limit=1)
    bench.send("orders", b"m", time_to_be_received=10)
    take_and_give_back(bench)
    bench.ask(ChangeQueue(0, "orders;poison", {"poison_limit": 1}))
    take_and_give_back(bench, "orders;poison")
    bench.advance(100)
    assert bench.bodies("orders;poison") == [b"m"]
    check(bench.state)


def test_poison_of_a_part_of_a_queue_goes_to_the_poison_of_the_whole() -> None:
    bench = Bench("orders", "orders;retry")
    bench.ask(ChangeQueue(0, "orders;retry", {"poison_limit": 1}))
    bench.send("orders;retry", b"m")
    take_and_give_back(bench, "orders;retry")
    assert bench.bodies("orders;poison") == [b"m"]


def test_no_acknowledgement_is_due_for_poison_because_it_may_still_be_received() -> None:
    bench = Bench(subscribed=[facts.PositionDeleted])
    bench.ask(ChangeQueue(0, "orders", {"poison_limit": 1}))
    bench.send("orders", b"m", negative_journaling=True)
    take_and_give_back(bench)
    assert bench.bodies("system$;deadletter") == []
    assert [each for each in bench.signals if isinstance(each, facts.PositionDeleted)] == []
    bench.ask(PurgeQueue(0, "orders;poison"))
    assert bench.bodies("system$;deadletter") == [b"m"]


def test_poison_can_be_returned_and_is_tried_anew() -> None:
    bench = bench_with(poison_limit=2)
    bench.send("orders", b"m")
    take_and_give_back(bench)
    take_and_give_back(bench)
    lookup_id = only(bench, "orders;poison").lookup_id
    assert bench.ask(MoveMessage(0, "orders;poison", lookup_id, "orders")).status is HResult.OK
    back = only(bench)
    assert counters(back) == (0, 0)
    assert (back.reason, back.origin) == (MessageClass.NORMAL, 0)
    take_and_give_back(bench)
    assert bench.bodies() == [b"m"]
    check(bench.state)


def test_poison_for_which_there_is_no_room_stays_and_is_not_received() -> None:
    bench = bench_with(poison_limit=1)
    bench.create("orders;poison", quota=0)
    bench.send("orders", b"bad", b"good")
    take_and_give_back(bench)
    assert bench.state.totals.poison_overflows == 1
    assert bench.queue().counts.delayed == 1
    assert bench.bodies() == [b"good"]
    live = durable(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == live
    bench.start()
    bench.advance(NO_ROOM_DELAY)
    assert bench.receive("orders").messages[0].message.body == b"good"
    assert bench.queue().counts.delayed == 1
    bench.ask(ChangeQueue(0, "orders;poison", {"quota": 10}))
    bench.advance(NO_ROOM_DELAY)
    assert bench.receive("orders").status is HResult.IO_TIMEOUT
    assert bench.bodies("orders;poison") == [b"bad"]
    check(bench.state)


def test_a_reader_that_waits_does_not_get_poison_but_what_comes_after_it() -> None:
    bench = bench_with(poison_limit=1)
    bench.send("orders", b"bad")
    receipt = bench.receive("orders", hold=30).receipt
    caller = bench.begin_asking(ReceiveMessages(0, "orders", timeout=seconds(100)))
    bench.ask(EndRead(0, receipt, delete=False))
    assert bench.answer_to(caller) is None
    bench.send("orders", b"good")
    assert bench.answer_to(caller).messages[0].message.body == b"good"


def test_a_cursor_that_waits_does_not_get_poison_for_which_there_was_no_room() -> None:
    bench = bench_with(poison_limit=1)
    bench.create("orders;poison", quota=0)
    bench.send("orders", b"bad")
    take_and_give_back(bench)
    handle = bench.ask(OpenQueue(0, "orders", Access.RECEIVE)).handle
    cursor = bench.ask(OpenCursor(0, handle)).handle
    caller = bench.begin_asking(ReceiveMessages(0, handle, timeout=seconds(500), cursor=cursor))
    bench.advance(NO_ROOM_DELAY)
    bench.advance(NO_ROOM_DELAY)
    assert bench.answer_to(caller) is None
    bench.send("orders", b"good")
    assert bench.answer_to(caller).messages[0].message.body == b"good"
    check(bench.state)


def test_what_comes_back_into_a_queue_that_is_being_deleted_goes_with_it() -> None:
    bench = bench_with(poison_limit=1, retry_delay=10)
    bench.send("orders", b"m")
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.patient = True
    bench.ask(DeleteQueue(0, "orders"))
    bench.ask(Abort(0, transaction))
    bench.patient = False
    bench.go_on()
    assert bench.state.find(bench.state.parse("orders")) is None
    check(bench.state)


# -- the pause between two tries


def test_a_message_that_came_back_is_not_handed_out_before_its_pause_is_over() -> None:
    bench = bench_with(retry_delay=10)
    bench.send("orders", b"first", b"second")
    take_and_give_back(bench)
    assert bench.bodies() == [b"second"]
    assert bench.queue().counts.delayed == 1
    bench.advance(9)
    assert bench.bodies() == [b"second"]
    bench.advance(1)
    assert bench.bodies() == [b"first", b"second"]
    check(bench.state)


@pytest.mark.parametrize(("tries", "pause"), [(1, 10), (2, 20), (3, 40), (4, 60), (9, 60)])
def test_the_pause_doubles_up_to_the_longest(tries: int, pause: int) -> None:
    bench = bench_with(retry_delay=10, longest_retry_delay=60)
    bench.send("orders", b"m")
    for _ in range(tries - 1):
        take_and_give_back(bench)
        bench.advance(60)
    take_and_give_back(bench)
    bench.advance(pause - 1)
    assert bench.bodies() == []
    bench.advance(1)
    assert bench.bodies() == [b"m"]


def test_a_pause_goes_on_over_a_restart() -> None:
    bench = bench_with(retry_delay=10)
    bench.send("orders", b"m")
    take_and_give_back(bench)
    bench.advance(4)
    bench.restart()
    assert bench.bodies() == []
    bench.advance(6)
    assert bench.bodies() == [b"m"]
    assert counters(only(bench)) == (1, 1)
    check(bench.state)
