"""Tests that a large batch gets its places in several turns, and is still all there or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.feed.events import LookAtFeeds, OpenConsumer, ReadFeed
from reliquary.queueing.model.counting import counter_faults
from reliquary.queueing.model.events import FOREVER_WAIT, DeleteQueue, PeekMessage, ReceiveMessages
from reliquary.queueing.model.message import Acknowledgement
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.staging.events import (
    BeginStage,
    CompleteStage,
    DropStages,
    PublishAnswer,
    PublishBatch,
)
from reliquary.queueing.staging.facts import BatchPublished, StagePlaced, StagePublished
from tests.queueing.manager_harness import Bench
from tests.queueing.staging.writing import QUERY, begin, publish, stage, write
from tests.queueing.state_checks import check, durable

SMALL = Sizes(window=2, at_once=2, placed=2)
BODIES = [b"%d" % number for number in range(9)]


def begun(*queues: str, turns: int = 2) -> tuple[Bench, int]:
    """Return a manager that has begun to publish a batch of nine, and the caller who waits for it."""
    bench = Bench(*queues, sizes=SMALL)
    bench.send("orders", b"before")
    first, last = write(bench, *BODIES[:5], part=0), write(bench, *BODIES[5:], part=1)
    bench.patient = True
    caller = bench.begin_asking(PublishBatch(0, QUERY, 0, (first, last), "writer"))
    bench.go_on(turns)
    return bench, caller


def finish(bench: Bench) -> None:
    bench.patient = False
    bench.go_on()


def test_readers_see_nothing_before_the_last_turn_and_then_all() -> None:
    bench, caller = begun(turns=0)
    seen = []
    while bench.state.staging.current is not None:
        check(bench.state)
        assert bench.bodies() == [b"before"]
        assert bench.queue().counts.stored == 1
        assert bench.answer_to(caller) is None
        seen.append(bench.state.staging.current.record.placed)
        bench.go_on(1)
    assert seen == sorted(seen)
    assert len(seen) >= len(BODIES) // SMALL.placed
    assert bench.answer_to(caller) == PublishAnswer(HResult.OK, messages=len(BODIES))
    assert bench.bodies() == [b"before", *BODIES]
    assert bench.state.staging.stages == {}
    assert bench.state.staging.ledger[QUERY].messages == len(BODIES)
    check(bench.state)


def test_no_turn_places_more_than_its_share_and_one_fact_notes_the_batch() -> None:
    bench, _ = begun(turns=0)
    before = len(bench.turns)
    finish(bench)
    placed = [
        sum(len(fact.positions) for fact in turn.facts if isinstance(fact, StagePlaced))
        for turn in bench.turns[before:]
    ]
    assert max(placed) < SMALL.placed + SMALL.at_once  # a chunk is placed as a whole
    assert sum(placed) == len(BODIES)
    assert sum(isinstance(fact, BatchPublished) for fact in bench.facts) == 1


def test_a_crash_after_each_turn_goes_on_where_the_turn_ended() -> None:
    for turns in range(6):
        bench, _ = begun(turns=turns)
        bench.flush()
        before = durable(bench.state)
        bench.on_build = lambda built: _same(before, built)  # noqa: B023 - it is called in this round
        bench.patient = False
        bench.restart(crash=True)
        assert bench.bodies() == [b"before", *BODIES], f"after {turns} turns"
        again = publish(bench, 1, 2, writer="writer")
        assert again == PublishAnswer(HResult.OK, already=True)
        assert bench.bodies() == [b"before", *BODIES]
        check(bench.state)


def _same(before: Any, bench: Bench) -> None:
    assert durable(bench.state) == before


def test_a_crash_that_loses_the_first_turn_leaves_the_parts_to_be_published_again() -> None:
    bench = Bench(sizes=SMALL)
    stages = write(bench, *BODIES[:5], part=0), write(bench, *BODIES[5:], part=1)
    bench.flush()
    bench.patient = True
    bench.begin_asking(PublishBatch(0, QUERY, 0, stages))
    bench.go_on(2)
    bench.patient = False
    bench.restart(crash=True)
    assert bench.bodies() == []
    assert publish(bench, *stages).messages == len(BODIES)
    assert bench.bodies() == BODIES
    check(bench.state)


def test_other_clients_are_served_between_the_turns_and_their_messages_come_after_the_batch() -> None:
    bench, _ = begun()
    bench.send("orders", b"meanwhile")
    assert [each.message.body for each in bench.receive("orders").messages] == [b"before"]
    small = write(bench, b"small", query="other")
    assert publish(bench, small, query="other").messages == 1
    assert bench.bodies() == [b"meanwhile", b"small"]
    check(bench.state)
    finish(bench)
    assert bench.bodies() == [*BODIES, b"meanwhile", b"small"]
    check(bench.state)


def waits(bench: Bench, request: Any) -> int:
    caller = bench.begin_asking(request)
    assert bench.answer_to(caller) is None
    return caller


@pytest.mark.parametrize("peek", [True, False])
def test_a_reader_that_waits_gets_the_first_message_at_the_last_turn(peek: bool) -> None:
    bench, _ = begun()
    bench.receive("orders")
    request = (
        PeekMessage(0, "orders", timeout=FOREVER_WAIT)
        if peek
        else ReceiveMessages(0, "orders", timeout=FOREVER_WAIT)
    )
    caller = waits(bench, request)
    bench.go_on(1)
    assert bench.answer_to(caller) is None
    finish(bench)
    assert [each.message.body for each in bench.answer_to(caller).messages] == BODIES[:1]


def mark_of(bench: Bench) -> int:
    [view] = bench.ask(LookAtFeeds(0, ("orders",), "lake")).feeds
    mark: int = view.mark
    return mark


def test_a_feed_is_notified_of_no_number_behind_the_batch_and_then_reads_all_in_order() -> None:
    bench, _ = begun()
    start = bench.ask(OpenConsumer(0, "orders", "lake", at=0)).mark
    bench.send("orders", b"meanwhile")
    bench.receive("orders")
    assert mark_of(bench) == start
    refused = bench.ask(ReadFeed(0, "orders", 0, start + 1, 10, consumer="lake"))
    assert refused.status is HResult.INVALID_PARAMETER
    finish(bench)
    mark = mark_of(bench)
    read = bench.ask(ReadFeed(0, "orders", 0, mark, 100, consumer="lake"))
    bodies = [bench.state.messages.get(each).body for each in read.positions]
    assert bodies == [b"before", *BODIES, b"meanwhile"]
    check(bench.state)


def test_a_repeated_request_waits_and_is_answered_that_the_batch_is_published() -> None:
    bench, first = begun()
    again = waits(bench, PublishBatch(0, QUERY, 0, (1, 2), "writer"))
    stranger = waits(bench, PublishBatch(0, "stranger", 0, (), "writer"))
    finish(bench)
    assert bench.answer_to(first).messages == len(BODIES)
    assert bench.answer_to(again) == PublishAnswer(HResult.OK, already=True)
    assert bench.answer_to(stranger).status is HResult.WRITER_TAKEN
    assert [len(events_of) for events_of in (bench.answers[first], bench.answers[again])] == [1, 1]


def test_a_second_large_batch_waits_for_the_first_and_is_published_then() -> None:
    bench, _ = begun()
    stages = write(bench, *BODIES, query="other")
    caller = waits(bench, PublishBatch(0, "other", 0, (stages,)))
    finish(bench)
    assert bench.answer_to(caller).messages == len(BODIES)
    assert bench.bodies() == [b"before", *BODIES, *BODIES]
    check(bench.state)


def test_drops_and_new_attempts_change_nothing_of_a_batch_that_is_being_placed() -> None:
    bench, _ = begun()
    bench.ask(DropStages(0, tuple(bench.state.staging.stages)))
    bench.ask(BeginStage(0, QUERY, 0, 0, "first"))
    finish(bench)
    assert bench.bodies() == [b"before", *BODIES]
    assert bench.state.staging.stages == {}
    check(bench.state)


def test_a_queue_that_is_deleted_meanwhile_lets_the_batch_be_published_first() -> None:
    bench = Bench("orders", "other", sizes=SMALL)
    number = begin(bench)
    for body in BODIES:
        stage(bench, number, body, queue="other" if body in BODIES[:2] else "orders")
    bench.ask(CompleteStage(0, number))
    bench.patient = True
    caller = bench.begin_asking(PublishBatch(0, QUERY, 0, (number,)))
    bench.go_on(1)
    bench.ask(DeleteQueue(0, "other"))
    assert bench.answer_to(caller).messages == len(BODIES)
    finish(bench)
    assert bench.bodies("orders") == BODIES[2:]
    check(bench.state)


def test_messages_that_request_something_come_with_the_last_turn_at_their_places() -> None:
    bench = Bench("orders", "admin", sizes=SMALL)
    number = begin(bench)
    stage(bench, number, b"0", b"1")
    stage(bench, number, b"2", time_to_be_received=60)
    stage(
        bench,
        number,
        b"3",
        acknowledgements=frozenset({Acknowledgement.POS_ARRIVAL}),
        administration_queue="DIRECT=OS:.\\private$\\admin",
    )
    stage(bench, number, b"4", b"5", delay=5)
    bench.ask(CompleteStage(0, number))
    bench.patient = True
    bench.begin_asking(PublishBatch(0, QUERY, 0, (number,)))
    while bench.state.staging.current is not None:
        assert (bench.bodies(), len(bench.bodies("admin"))) == ([], 0)
        check(bench.state)
        bench.go_on(1)
    finish(bench)
    assert bench.bodies() == [b"0", b"1", b"2", b"3"]
    assert len(bench.bodies("admin")) == 1
    bench.advance(5)
    assert bench.bodies() == [b"%d" % number for number in range(6)]
    bench.advance(60)
    assert b"2" not in bench.bodies()
    check(bench.state)


def expiring(*lives: int) -> tuple[Bench, int]:
    """Return a manager that has begun to publish messages with these lives in seconds, and the caller."""
    bench = Bench(sizes=SMALL)
    number = begin(bench)
    for place, life in enumerate(lives):
        stage(bench, number, b"%d" % place, time_to_be_received=life)
    bench.ask(CompleteStage(0, number))
    bench.patient = True
    return bench, bench.begin_asking(PublishBatch(0, QUERY, 0, (number,)))


def test_messages_that_expire_are_placed_in_bounded_turns_too() -> None:
    bench, _ = expiring(*[60] * 9)
    before = len(bench.turns)
    finish(bench)
    placed = [
        sum(len(fact.positions) for fact in turn.facts if isinstance(fact, (StagePlaced, StagePublished)))
        for turn in bench.turns[before:]
    ]
    assert max(placed) == SMALL.placed
    assert sum(placed) == 9
    assert len(bench.bodies()) == 9
    check(bench.state)
    bench.advance(59)
    assert len(bench.bodies()) == 9
    bench.advance(1)
    assert bench.bodies() == []
    check(bench.state)


def test_a_message_whose_time_ends_before_its_batch_is_shown_expires_with_the_last_turn() -> None:
    bench, caller = expiring(60, 4, 60, 5, 60)
    bench.go_on(2)
    assert bench.state.staging.current is not None
    bench.send("orders", b"short", time_to_be_received=5)
    for _ in range(2):
        bench.advance(5)
        check(bench.state)
        assert bench.answer_to(caller) is None
    finish(bench)
    assert bench.answer_to(caller) == PublishAnswer(HResult.OK, messages=5)
    bench.fire_due_timers()
    assert bench.bodies() == [b"0", b"2", b"4"]
    check(bench.state)
    bench.advance(60)
    assert bench.bodies() == []
    check(bench.state)


def test_a_crash_keeps_the_deadlines_of_messages_that_are_hidden() -> None:
    for turns in range(5):
        bench, _ = expiring(60, 4, 60, 5, 60)
        bench.go_on(turns)
        bench.advance(10)
        bench.flush()
        bench.patient = False
        bench.restart(crash=True)
        bench.fire_due_timers()
        assert bench.bodies() == [b"0", b"2", b"4"], f"after {turns} turns"
        check(bench.state)
        bench.advance(60)
        assert bench.bodies() == [], f"after {turns} turns"
        check(bench.state)


def test_lanes_are_those_of_the_priorities() -> None:
    bench = Bench(sizes=SMALL)
    bench.send("orders", b"low", priority=0)
    bench.send("orders", b"high", priority=7)
    number = begin(bench)
    for body, priority in ((b"low too", 0), (b"high too", 7), (b"middle", 3)):
        stage(bench, number, body, priority=priority)
    bench.ask(CompleteStage(0, number))
    assert publish(bench, number).messages == 3
    assert bench.bodies() == [b"high", b"high too", b"middle", b"low", b"low too"]
    check(bench.state)


def test_the_counters_of_a_store_with_half_a_batch_are_right() -> None:
    bench, _ = begun()
    bench.flush()
    assert list(counter_faults(bench.rows)) == []
    finish(bench)
    bench.flush()
    assert list(counter_faults(bench.rows)) == []


def test_the_bytes_of_the_batch_are_reserved_so_that_its_end_has_room() -> None:
    bench = Bench(sizes=SMALL)
    bench.create("small", quota=4)
    number = write(bench, *[bytes(200)] * 7, queue="small")
    bench.patient = True
    caller = bench.begin_asking(PublishBatch(0, QUERY, 0, (number,)))
    assert bench.send("small", bytes(2000)).status is HResult.INSUFFICIENT_RESOURCES
    finish(bench)
    assert bench.answer_to(caller).messages == 7
    assert bench.queue("small").counts.reserved == 0
    assert bench.state.staging.reserved == 0
