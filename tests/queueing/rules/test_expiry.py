"""Tests of TimeToBeReceived: a message expires at its moment, not before, and no reader sees it later."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND, Instant, later, seconds
from reliquary.base.turn import TimerFired
from reliquary.queueing.model import events
from reliquary.queueing.model.facts import PositionDeleted
from reliquary.queueing.model.message import FOREVER, Delivery, MessageClass, Position
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import EXPIRY
from reliquary.queueing.rules.expiry import is_over
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, every, walk

EXPIRY_TIMER = ("expiry", 0)
KINDS = pytest.mark.parametrize("delivery", Delivery)


@pytest.mark.spec("DM-077")
@pytest.mark.parametrize(
    ("expires", "now", "over"),
    [
        pytest.param(0, 10**18, False, id="never"),
        pytest.param(100, 99, False, id="just before"),
        pytest.param(100, 100, True, id="at the moment"),
        pytest.param(100, 101, True, id="after"),
    ],
)
def test_when_a_time_is_over(expires: int, now: int, over: bool) -> None:
    assert is_over(Position(1, 1, 1, 0, expires=expires), Instant(now)) is over


@KINDS
@pytest.mark.spec("DM-077", "DM-194", "DM-297", "DM-287")
def test_a_message_leaves_at_its_moment_with_its_reason(delivery: Delivery) -> None:
    bench = Bench(subscribed=[PositionDeleted])
    bench.send("orders", b"short", time_to_be_received=10, delivery=delivery)
    bench.advance(9.999)
    assert bench.bodies() == [b"short"]
    bench.advance(0.001)
    assert bench.bodies() == []
    assert [each.reason for each in bench.signals if isinstance(each, PositionDeleted)] == [
        MessageClass.NACK_RECEIVE_TIMEOUT
    ]
    assert bench.queue().total_bytes == 0
    check(bench.state)


@KINDS
@pytest.mark.spec("DM-077")
def test_no_time_at_all_is_over_at_once(delivery: Delivery) -> None:
    bench = Bench()
    bench.send("orders", b"gone", time_to_be_received=0, delivery=delivery)
    assert bench.receive("orders").status is HResult.IO_TIMEOUT
    bench.fire_due_timers()
    assert bench.bodies() == []


@KINDS
@pytest.mark.spec("DM-058", "DM-077")
def test_all_ones_is_never(delivery: Delivery) -> None:
    bench = Bench()
    bench.send("orders", b"for ever", time_to_be_received=FOREVER, delivery=delivery)
    assert EXPIRY_TIMER not in bench.timers
    bench.advance(10**9)
    assert bench.bodies() == [b"for ever"]


@KINDS
@pytest.mark.spec("DM-077")
def test_a_reader_never_sees_a_message_whose_time_is_over_though_the_timer_is_late(
    delivery: Delivery,
) -> None:
    bench = Bench()
    bench.send("orders", b"over", time_to_be_received=5, delivery=delivery)
    bench.send("orders", b"there", delivery=delivery)
    over = walk(bench.queue())[0].lookup_id
    bench.now = later(bench.now, seconds(6))
    look = events.LookUpMessage(0, "orders", over)
    assert bench.ask(look).status is HResult.MESSAGE_NOT_FOUND
    assert bench.ask(events.PeekMessage(0, "orders")).messages[0].message.body == b"there"
    shown = bench.ask(events.BrowseMessages(0, "orders")).messages
    assert [each.message.body for each in shown] == [b"there"]
    assert bench.receive("orders", count=2).messages[0].message.body == b"there"
    assert bench.bodies() == []
    check(bench.state)


def test_more_expired_messages_than_python_can_nest_calls() -> None:
    bench = Bench()
    for _ in range(15):
        bench.send("orders", *[b"over"] * 100, time_to_be_received=5)
    bench.send("orders", b"there")
    bench.now = later(bench.now, seconds(6))
    assert bench.receive("orders").messages[0].message.body == b"there"


@pytest.mark.spec("DM-050", "DM-297")
def test_an_expired_message_goes_to_the_dead_letters_if_it_asked_for_that() -> None:
    bench = Bench()
    bench.send("orders", b"kept", time_to_be_received=5, negative_journaling=True)
    bench.send("orders", b"not kept", time_to_be_received=5)
    bench.advance(5)
    assert bench.bodies("system$;deadletter") == [b"kept"]
    [position] = walk(bench.queue("system$;deadletter"))
    assert position.reason is MessageClass.NACK_RECEIVE_TIMEOUT
    assert position.origin == bench.queue().number
    bench.advance(10**6)
    assert bench.bodies("system$;deadletter") == [b"kept"], "a dead letter does not expire again (DM-080)"


@KINDS
@pytest.mark.spec("DM-214")
def test_a_held_message_whose_time_runs_out_leaves_when_it_comes_back(delivery: Delivery) -> None:
    bench = Bench()
    bench.send("orders", b"a", time_to_be_received=5, delivery=delivery)
    receipt = bench.receive("orders", hold=100).receipt
    bench.advance(50)
    assert len(bench.queue().order.locked) == 1
    bench.ask(events.EndRead(0, receipt, delete=False))
    assert bench.bodies() == []
    assert bench.queue().total_bytes == 0
    check(bench.state)


@KINDS
@pytest.mark.spec("DM-213")
def test_a_held_message_whose_time_runs_out_may_still_be_acknowledged(delivery: Delivery) -> None:
    bench = Bench()
    bench.ask(events.ChangeQueue(0, "orders", {"journaling": True}))
    bench.send("orders", b"a", time_to_be_received=5, delivery=delivery)
    receipt = bench.receive("orders", hold=100).receipt
    bench.advance(50)
    assert bench.ask(events.EndRead(0, receipt, delete=True)).status is HResult.OK
    assert bench.bodies("orders;journal") == [b"a"]
    check(bench.state)


@pytest.mark.spec("DM-296", "DM-297")
def test_a_message_whose_time_runs_out_in_its_transaction_never_shows() -> None:
    bench = Bench(subscribed=[PositionDeleted])
    transaction = bench.begin()
    bench.send("orders", b"a", time_to_be_received=5, transaction=transaction)
    waiter = bench.begin_asking(events.ReceiveMessages(0, "orders", timeout=seconds(100)))
    bench.advance(10)
    bench.ask(events.CommitTransaction(0, transaction))
    assert bench.bodies() == []
    assert bench.answer_to(waiter) is None
    assert [each.reason for each in bench.signals if isinstance(each, PositionDeleted)] == [
        MessageClass.NACK_RECEIVE_TIMEOUT
    ]


@pytest.mark.spec("DM-114")
def test_a_message_whose_time_runs_out_while_a_transaction_has_it_does_not_come_back() -> None:
    bench = Bench()
    bench.send("orders", b"a", time_to_be_received=5)
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.advance(10)
    bench.ask(events.AbortTransaction(0, transaction))
    assert bench.bodies() == []
    check(bench.state)


def test_a_message_that_is_moved_takes_its_deadline_along() -> None:
    bench = Bench("orders", "done")
    sent = bench.send("orders", b"a", time_to_be_received=5)
    bench.ask(events.MoveMessage(0, "orders", sent.lookup_ids[0], "done"))
    bench.advance(4)
    assert bench.bodies("done") == [b"a"]
    bench.advance(1)
    assert bench.bodies("done") == []
    check(bench.state)


@KINDS
@pytest.mark.spec("DM-110", "DM-297")
def test_a_message_whose_time_runs_out_while_a_transaction_moves_it_expires_in_its_new_queue(
    delivery: Delivery,
) -> None:
    bench = Bench("orders", "done")
    sent = bench.send("orders", b"a", time_to_be_received=5, negative_journaling=True, delivery=delivery)
    transaction = bench.begin()
    bench.ask(events.MoveMessage(0, "orders", sent.lookup_ids[0], "done", transaction))
    bench.advance(10)
    bench.ask(events.CommitTransaction(0, transaction))
    assert bench.bodies("orders") == bench.bodies("done") == []
    [position] = walk(bench.queue("system$;deadletter"))
    assert position.origin == bench.queue("done").number
    check(bench.state)


def test_an_express_message_that_is_moved_away_and_back_expires_once() -> None:
    bench = Bench("orders", "done")
    sent = bench.send("orders", b"a", time_to_be_received=5, delivery=Delivery.EXPRESS)
    for source, target in (("orders", "done"), ("done", "orders")):
        bench.ask(events.MoveMessage(0, source, sent.lookup_ids[0], target))
    bench.advance(5)
    assert bench.bodies() == []


# -- the timer


def test_one_timer_watches_the_earliest_deadline() -> None:
    bench = Bench()
    bench.send("orders", b"later", time_to_be_received=50)
    assert bench.timers == {EXPIRY_TIMER: later(bench.now, seconds(50))}
    bench.send("orders", b"sooner", time_to_be_received=20)
    assert bench.timers == {EXPIRY_TIMER: later(bench.now, seconds(20))}
    bench.send("orders", b"no matter", time_to_be_received=30)
    assert bench.timers == {EXPIRY_TIMER: later(bench.now, seconds(20))}
    bench.advance(20)
    assert bench.timers == {EXPIRY_TIMER: later(bench.now, seconds(10))}
    bench.advance(30)
    assert bench.timers == {}


def test_a_deadline_that_is_far_is_looked_at_every_minute_because_calendars_jump() -> None:
    bench = Bench()
    bench.send("orders", b"a", time_to_be_received=86_400)
    assert bench.timers == {EXPIRY_TIMER: later(bench.now, seconds(60))}
    bench.now = later(bench.now, seconds(86_400))  # the calendar jumps
    bench.timers[EXPIRY_TIMER] = bench.now
    bench.fire_due_timers()
    assert bench.bodies() == []


def test_a_calendar_that_goes_back_loses_no_deadline() -> None:
    bench = Bench()
    bench.send("orders", b"first", time_to_be_received=1)
    bench.advance(100)
    bench.now = Instant(bench.now - 90 * SECOND)
    bench.send("orders", b"second", time_to_be_received=5)
    bench.advance(4)
    assert bench.bodies() == [b"second"]
    bench.advance(1)
    assert bench.bodies() == []
    check(bench.state)


@KINDS
def test_many_expire_in_many_turns(delivery: Delivery) -> None:
    bench = Bench(sizes=Sizes(at_once=10))
    bench.send("orders", *[b"x"] * 95, time_to_be_received=5, delivery=delivery)
    bench.patient = True
    bench.advance(5)
    assert len(bench.queue().order) == 85
    bench.go_on(1)
    assert len(bench.queue().order) == 75
    bench.go_on()
    assert len(bench.queue().order) == 0
    check(bench.state)


def test_locked_messages_do_not_keep_the_timer_busy() -> None:
    bench = Bench(sizes=Sizes(at_once=3))
    bench.send("orders", *[b"x"] * 10, time_to_be_received=5)
    bench.receive("orders", count=10, hold=1000)
    before = len(bench.turns)
    bench.advance(100)
    assert len(bench.turns) - before < 10
    assert len(bench.queue().order.locked) == 10
    check(bench.state)


def test_a_timer_that_fires_for_nothing_does_nothing() -> None:
    bench = Bench()
    turn = bench.handle(TimerFired(EXPIRY_TIMER))
    assert turn.facts == ()
    assert turn.effects == ()


# -- against a model

sends = st.tuples(
    st.just("send"), st.sampled_from((0, 1, 2, 5, 90, FOREVER)), st.sampled_from(Delivery), st.integers(1, 4)
)
waits = st.tuples(st.just("wait"), st.sampled_from((0.5, 1, 3, 61)), st.none(), st.none())
others = st.tuples(st.sampled_from(("receive", "flush", "restart")), st.none(), st.none(), st.none())


@pytest.mark.spec("DM-077", "DM-081", "DM-297")
@settings(max_examples=150)
@given(st.lists(st.one_of(sends, waits, others), max_size=30))
def test_what_is_in_the_queue_is_what_has_time_left(steps: list[tuple[str, Any, Any, Any]]) -> None:
    bench = Bench(sizes=Sizes(window=2, at_once=2))
    expected: dict[int, tuple[int, Delivery]] = {}
    for what, argument, delivery, count in steps:
        if what == "send":
            answer = bench.send("orders", *[b"x"] * count, time_to_be_received=argument, delivery=delivery)
            until = 0 if argument == FOREVER else bench.now + argument * SECOND
            expected |= dict.fromkeys(answer.lookup_ids, (until, delivery))
        elif what == "wait":
            bench.advance(argument)
        elif what == "receive":
            for delivered in getattr(bench.receive("orders"), "messages", ()):
                until, _ = expected.pop(delivered.position.lookup_id)
                assert until == 0 or until > bench.now
        elif what == "flush":
            bench.flush()
        else:
            bench.restart()
            expected = {key: value for key, value in expected.items() if value[1] is Delivery.RECOVERABLE}
        bench.fire_due_timers()
        expected = {key: value for key, value in expected.items() if value[0] == 0 or value[0] > bench.now}
        assert [position.lookup_id for position in walk(bench.queue())] == sorted(expected)
        kept = [until for until, delivery in expected.values() if until and delivery is Delivery.RECOVERABLE]
        assert len(every(bench.state, EXPIRY)) == len(kept)
