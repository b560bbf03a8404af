"""Tests that a batch becomes visible as a whole, once, in the order of its parts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND, seconds
from reliquary.queueing.model import events
from reliquary.queueing.model.message import (
    ATTRIBUTES,
    Acknowledgement,
    Message,
)
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import SEQUENCE_MASK
from reliquary.queueing.rules.expiry import some_delayed
from reliquary.queueing.staging.events import CompleteStage, DropStages, PublishAnswer
from reliquary.queueing.staging.facts import BatchPublished, StagePublished
from tests.queueing.manager_harness import NOON, Bench
from tests.queueing.staging.inspection import staged
from tests.queueing.staging.writing import begin, publish, stage, write
from tests.queueing.state_checks import check, durable, walk

AWAY = "DIRECT=OS:elsewhere\\private$\\q"


@pytest.mark.parametrize("transactional", [True, False])
def test_a_batch_has_the_order_of_its_parts_and_not_of_their_writing(
    transactional: bool,
) -> None:
    bench = Bench()
    bench.create("sink", transactional=transactional)
    last = write(bench, b"3", b"4", part=1, queue="sink")
    first = write(bench, b"1", b"2", part=0, queue="sink")
    answer = publish(bench, first, last)
    assert answer == PublishAnswer(HResult.OK, messages=4)
    assert bench.bodies("sink") == [b"1", b"2", b"3", b"4"]
    assert bench.state.staging.stages == {}
    assert staged(bench.state) == []
    check(bench.state)


def test_one_turn_states_places_and_ledger_so_that_one_write_has_both() -> None:
    bench = Bench("orders", "other")
    one = write(bench, b"a", part=0)
    two = begin(bench, part=1)
    stage(bench, two, b"b", queue="other")
    stage(bench, two, b"c")
    bench.ask(CompleteStage(0, two))
    before = len(bench.turns)
    publish(bench, one, two, writer="w")
    turn = bench.turns[before]
    placed = [fact for fact in turn.facts if isinstance(fact, StagePublished)]
    assert [(fact.query, fact.batch, len(fact.positions)) for fact in placed] == [
        ("query", 0, 2),
        ("query", 0, 1),
    ]
    [noted] = [fact for fact in turn.facts if isinstance(fact, BatchPublished)]
    assert noted.stages == (one, two)
    assert bench.bodies("orders") == [b"a", b"c"]
    assert bench.bodies("other") == [b"b"]


def test_places_are_numbered_when_they_are_published_and_lanes_are_those_of_the_priorities() -> None:
    bench = Bench(sizes=Sizes(window=2, at_once=2))
    number = begin(bench)
    for body, priority in ((b"low", 0), (b"high", 7), (b"middle", 3), (b"also high", 7)):
        stage(bench, number, body, priority=priority)
    stage(bench, number, b"x", b"y", b"z", priority=1)
    bench.send("orders", b"sent meanwhile", priority=7)
    bench.ask(CompleteStage(0, number))
    before = bench.state.numbers.sequence
    publish(bench, number)
    assert bench.bodies() == [b"sent meanwhile", b"high", b"also high", b"middle", b"x", b"y", b"z", b"low"]
    assert all(each.lookup_id & SEQUENCE_MASK > before for each in walk(bench.queue())[1:])
    check(bench.state)


def test_a_batch_again_is_no_batch_and_its_parts_go() -> None:
    bench = Bench()
    assert publish(bench, write(bench, b"a", batch=3), batch=3).messages == 1
    for batch in (3, 2):
        again = write(bench, b"a", batch=batch)
        answer = publish(bench, again, batch=batch)
        assert answer == PublishAnswer(HResult.OK, already=True)
        assert bench.state.staging.stages == {}
    assert publish(bench, 4711, batch=3).already
    assert bench.bodies() == [b"a"]
    assert staged(bench.state) == []
    check(bench.state)


def test_a_late_request_for_a_published_batch_takes_no_part_of_the_next_along() -> None:
    bench = Bench()
    publish(bench, write(bench, b"a"))
    following = write(bench, b"b", batch=1)
    assert publish(bench, following).already
    assert publish(bench, following, batch=1).messages == 1
    assert bench.bodies() == [b"a", b"b"]


def test_what_lost_goes_with_the_publish_and_later_batches_stay() -> None:
    bench = Bench(sizes=Sizes(at_once=1))
    write(bench, b"slow", attempt="slow")
    begin(bench, attempt="never ended")
    older = write(bench, b"older", batch=0, part=5)
    later = write(bench, b"later", batch=2)
    other = write(bench, b"other", query="other")
    won = write(bench, b"won", batch=1)
    publish(bench, won, batch=1)
    assert set(bench.state.staging.stages) == {later, other}
    assert bench.bodies() == [b"won"]
    bench.ask(DropStages(0, (won, older)))
    assert bench.bodies() == [b"won"]
    check(bench.state)


def test_an_empty_batch_is_noted_too() -> None:
    bench = Bench()
    assert publish(bench) == PublishAnswer(HResult.OK)
    assert publish(bench).already
    assert publish(bench, write(bench, batch=1), batch=1).messages == 0
    assert bench.state.staging.ledger["query"].batch == 1


# -- refusals


def refused(bench: Bench, *stages: int, **parameters: Any) -> PublishAnswer:
    """Return the answer, and check that nothing has changed."""
    before = durable(bench.state)
    answer = publish(bench, *stages, **parameters)
    assert durable(bench.state) == before
    check(bench.state)
    return answer


def test_a_part_that_is_gone_or_not_complete_is_named() -> None:
    bench = Bench()
    good, open_ = write(bench, b"a"), begin(bench, part=1)
    answer = refused(bench, good, open_)
    assert answer == PublishAnswer(HResult.STAGE_GONE, f"stage {open_} is not complete; write it again")
    answer = refused(bench, good, 4711)
    assert answer.status is HResult.STAGE_GONE
    assert answer.why.startswith("stage 4711 is gone")
    bench.ask(DropStages(0, (good,)))
    assert publish(bench, good).status is HResult.STAGE_GONE


def test_parts_that_do_not_belong_together_are_refused() -> None:
    bench = Bench()
    one, same = write(bench, b"a"), write(bench, b"a", attempt="second")
    other = write(bench, b"b", query="other")
    answer = refused(bench, one, same)
    assert answer.why == f"stages {one} and {same} are both part 0 of the batch"
    answer = refused(bench, one, one)
    assert answer.why == f"stages {one} and {one} are both part 0 of the batch"
    answer = refused(bench, one, other)
    assert answer.why == f"stage {other} is of batch 0 of query other, not of batch 0 of query"
    assert publish(bench, one).messages == 1


def test_a_batch_is_too_large_also_when_it_only_became_so() -> None:
    bench = Bench(sizes=Sizes(batch=2))
    one = write(bench, b"a", b"b")
    bench.manager.state.sizes = Sizes(batch=1)
    answer = refused(bench, one)
    assert answer.status is HResult.BATCH_TOO_LARGE


@pytest.mark.parametrize("again", [True, False])
def test_a_queue_that_was_deleted_meanwhile_is_named(again: bool) -> None:
    bench = Bench("orders", "other")
    one = write(bench, b"a", part=0)
    two = write(bench, b"b", part=1, queue="other")
    bench.ask(events.DeleteQueue(0, "other"))
    if again:  # another queue under this name is not the one that was written to
        bench.create("other")
    answer = refused(bench, one, two)
    assert answer.status is HResult.QUEUE_NOT_FOUND
    assert answer.why == "the queue other was deleted after part 1 was written: write the batch again"
    assert bench.bodies("orders") == []


def test_a_queue_that_is_being_deleted_takes_nothing() -> None:
    bench = Bench(sizes=Sizes(at_once=1))
    one = write(bench, b"a")
    bench.send("orders", b"1", b"2", b"3")
    bench.patient = True
    bench.ask(events.DeleteQueue(0, "orders"))
    assert refused(bench, one).status is HResult.QUEUE_NOT_FOUND


def test_quotas_are_judged_exactly_for_all_queues_together() -> None:
    bench = Bench("orders", "other")
    one = write(bench, b"x" * 500, part=0)
    two = write(bench, b"x" * 500, part=1, queue="other")
    bench.ask(events.ChangeQueue(0, "other", {"quota": 1}))
    bench.send("other", b"x" * 200)
    answer = refused(bench, one, two)
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert answer.why.startswith("BENCH\\private$\\other: the queue's quota is 1 kilobytes, 4")
    bench.receive("other")
    assert publish(bench, one, two).messages == 2


def test_the_managers_quota_counts_too() -> None:
    bench = Bench(quota=2)
    one = write(bench, b"x" * 1000)
    bench.send("orders", b"x" * 1000)
    answer = refused(bench, one)
    assert answer.status is HResult.INSUFFICIENT_RESOURCES
    assert answer.why.startswith("the manager's quota is 2 kilobytes")
    bench.handle(events.FlowControl(throttled=True))
    assert refused(bench, one).why == "the manager takes no messages until its store has caught up"


def test_a_query_and_a_writer_are_names() -> None:
    bench = Bench()
    assert refused(bench, query="").why.startswith("a query has a name")
    assert refused(bench, writer="w" * 201).why.startswith("a writer has a name")
    assert refused(bench, batch=-1).why.startswith("a batch has a number")


# -- as a send


SENT: list[dict[str, Any]] = [
    {},
    {"time_to_be_received": 100},
    {"time_to_be_received": 100, "sent_time": NOON // SECOND - 10},
    {"time_to_be_received": 5, "sent_time": NOON // SECOND - 10},
    {"delay": seconds(5)},
    {"delay": seconds(5), "time_to_be_received": 3},
    {"positive_journaling": True},
    {"negative_journaling": True, "allow_peek_when_locked": True},
    {"acknowledgements": (Acknowledgement.FULL_RECEIVE, Acknowledgement.POS_ARRIVAL),
     "administration_queue": "admin"},
    {"application_tag": 7, "extension": b"more", "correlation": Message().correlation, "priority": 5},
]  # fmt: skip
NOT_ALIKE = dict.fromkeys(("identifier", "transaction", "correlation"))


def events_of(bench: Bench) -> list[Any]:
    """Return all that is in the queues, without names and keys of rows."""
    found: list[Any] = []
    for number, queue in sorted(bench.state.queues.items()):
        for position in [*walk(queue), *some_delayed(bench.state, queue, -1, 100)]:
            kept = bench.state.messages.get(position)
            place = msgspec.structs.asdict(position) | {"lookup_id": 0, "message": 0, "inline_in": 0}
            said = {name: getattr(kept, name) for name in ATTRIBUTES}
            found.append((number, place, said | NOT_ALIKE))
    return found


@pytest.mark.parametrize("destination", ["orders", "strict", AWAY])
@pytest.mark.parametrize("attributes", SENT, ids=lambda each: ", ".join(each) or "plain")
def test_what_is_published_is_as_if_it_were_sent_in_a_transaction_now(
    attributes: dict[str, Any], destination: str
) -> None:
    sent, published = Bench("orders", "admin"), Bench("orders", "admin")
    for bench in (sent, published):
        bench.create("strict", transactional=True)
    transaction = sent.begin()
    sent.send(destination, b"a", b"b", transaction=transaction, **attributes)
    sent.ask(events.CommitTransaction(0, transaction))
    number = write(published, b"a", b"b", queue=destination, **attributes)
    publish(published, number)
    assert events_of(published) == events_of(sent)
    for bench in (sent, published):
        bench.advance(200)
        check(bench.state)
    assert events_of(published) == events_of(sent)


@pytest.mark.parametrize("destination", ["orders", AWAY])
def test_time_begins_with_the_publish_however_long_the_batch_had_to_wait(destination: str) -> None:
    bench = Bench(sizes=Sizes(stage_age=seconds(1_000_000)))
    number = write(bench, b"a", queue=destination, time_to_be_received=100)
    bench.advance(500_000)
    assert publish(bench, number).messages == 1
    [queue] = [each for each in bench.state.queues.values() if len(each.order)]
    [position] = walk(queue)
    assert position.expires == bench.now + 100 * SECOND
    assert position.arrived == bench.now
    assert bench.state.messages.get(position).sent_time == bench.now // SECOND
    bench.advance(99)
    assert len(queue.order) == 1
    bench.advance(2)
    assert len(queue.order) == 0


@pytest.mark.spec("DM-103", "DM-104")
def test_the_first_and_the_last_message_of_a_batch_say_so() -> None:
    bench = Bench(sizes=Sizes(at_once=2))
    bench.create("other")
    empty, one = write(bench, part=0), write(bench, b"1", b"2", b"3", part=1)
    two = write(bench, b"4", b"5", part=2, queue="other")
    publish(bench, empty, one, two)
    shown = [
        (each.message.body, each.message.first_in_transaction, each.message.last_in_transaction)
        for path in ("orders", "other")
        for each in bench.ask(events.BrowseMessages(0, path, limit=10)).messages
    ]
    assert shown == [
        (b"1", True, False),
        (b"2", False, False),
        (b"3", False, False),
        (b"4", False, False),
        (b"5", False, True),
    ]


def test_waiting_readers_are_served_in_that_turn() -> None:
    bench = Bench()
    waiting = bench.begin_asking(events.ReceiveMessages(0, "orders", timeout=events.FOREVER_WAIT))
    number = write(bench, b"a", b"b")
    assert bench.answer_to(waiting) is None
    before = len(bench.turns)
    publish(bench, number)
    assert len(bench.turns) == before + 1
    assert [each.message.body for each in bench.answer_to(waiting).messages] == [b"a"]
    assert bench.bodies() == [b"b"]


def test_after_a_crash_the_batch_is_there_with_its_ledger_or_neither_is() -> None:
    for flushed in (True, False):
        bench = Bench()
        number = write(bench, b"a")
        bench.flush()
        publish(bench, number)
        if flushed:
            bench.flush()
        bench.restart(crash=True)
        assert bench.bodies() == ([b"a"] if flushed else [])
        again = publish(bench, number)
        assert again.already is flushed
        assert bench.bodies() == [b"a"]
        check(bench.state)
