"""Tests that a consumer loses only the oldest messages beyond its limits, and that each loss is reported."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.feed.events import LookAtFeeds, ReadFeed, SetConsumer
from reliquary.queueing.feed.facts import ConsumerLost
from reliquary.queueing.model.events import CommitTransaction, DeleteQueue
from reliquary.queueing.model.keep import EVERYTHING, Keep
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import KEEPS, Consumer
from tests.queueing.feed.harness import bodies, feed, mark, moved, opened
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, durable, every

SIZES = Sizes(at_once=3)


def limited(bench: Bench, keep: Keep | None, name: str = "lake", *, inherit: bool = False) -> None:
    answer = bench.ask(SetConsumer(0, "orders", name, keep, inherit))
    assert answer.status is HResult.OK, answer


def passed(bench: Bench, *messages: bytes) -> None:
    """Send messages and receive each of them at once."""
    for body in messages:
        bench.send("orders", body)
        bench.receive("orders")


def left(bench: Bench, name: str = "lake") -> list[bytes]:
    return bodies(bench, bench.queue().feed.consumers[name].cursor, name=name)


def record(bench: Bench, name: str = "lake") -> Consumer:
    return bench.queue().feed.consumers[name]


@pytest.fixture
def bench() -> Bench:
    made = Bench(sizes=SIZES)
    opened(made)
    return made


def test_the_oldest_of_too_many_messages_are_lost(bench: Bench) -> None:
    limited(bench, Keep(count=4))
    passed(bench, *[b"%d" % each for each in range(10)])
    assert left(bench) == [b"6", b"7", b"8", b"9"]
    assert record(bench).lost == 6
    check(bench.state)


def test_the_oldest_messages_beyond_the_byte_limit_are_lost(bench: Bench) -> None:
    passed(bench, b"first", b"second", b"third")
    size = bench.queue().feed.retained_size
    limited(bench, Keep(bytes=size))
    assert record(bench).lost == 0
    limited(bench, Keep(bytes=size - 1))
    assert left(bench) == [b"second", b"third"]
    assert (record(bench).lost, record(bench).lost_bytes) == (1, size - bench.queue().feed.retained_size)


def test_what_is_too_old_is_lost_and_what_is_younger_is_not(bench: Bench) -> None:
    limited(bench, Keep(age=seconds(160)))
    bench.advance(15)
    passed(bench, b"old")
    bench.advance(100)
    passed(bench, b"young")
    bench.advance(55)
    assert left(bench) == [b"old", b"young"], "the first look after it came was 155 seconds ago"
    bench.advance(10)
    assert left(bench) == [b"young"]
    bench.advance(200)
    assert left(bench) == []
    assert record(bench).lost == 2
    check(bench.state)


def test_a_message_that_becomes_visible_late_is_as_young_as_that(bench: Bench) -> None:
    limited(bench, Keep(age=seconds(160)))
    bench.send("orders", b"delayed", delay=seconds(1000))
    bench.advance(1001)
    bench.receive("orders")
    bench.advance(150)
    assert left(bench) == [b"delayed"]
    bench.advance(50)
    assert left(bench) == []


def test_a_message_that_a_transaction_commits_late_is_as_young_as_its_commit(bench: Bench) -> None:
    limited(bench, Keep(age=seconds(160)))
    transaction = bench.begin()
    bench.send("orders", b"committed", transaction=transaction)
    bench.advance(300)
    bench.ask(CommitTransaction(0, transaction))
    bench.receive("orders")
    bench.advance(150)
    assert left(bench) == [b"committed"]


def test_what_waits_in_the_queue_is_never_touched(bench: Bench) -> None:
    limited(bench, Keep(count=1, age=seconds(160)))
    bench.send("orders", b"waits", priority=1)
    passed(bench, b"a", b"b", b"c")
    bench.advance(400)
    assert record(bench).lost == 4, "it is behind those that were lost, and the consumer gets an error"
    assert [each.message.body for each in bench.receive("orders").messages] == [b"waits"]


def test_without_messages_that_left_nothing_is_lost(bench: Bench) -> None:
    limited(bench, Keep(count=1, bytes=1, age=seconds(16)))
    bench.send("orders", b"a", b"b", b"c")
    bench.advance(100)
    assert left(bench) == [b"a", b"b", b"c"]


def test_a_loss_is_reported_in_the_record_the_look_the_read_and_a_warning(bench: Bench) -> None:
    before = record(bench).cursor
    limited(bench, Keep(count=2))
    passed(bench, b"a", b"b", b"c", b"d", b"e")
    loss = record(bench).loss
    assert loss is not None
    assert (loss.after, loss.until, loss.messages) == (before, record(bench).cursor, 3)
    assert loss.bytes == record(bench).lost_bytes > 0
    [view] = bench.ask(LookAtFeeds(0, ("orders",), "lake")).feeds
    assert (view.cursor, view.loss) == (loss.until, loss)
    refused = bench.ask(ReadFeed(0, "orders", before, view.mark, 10, "lake"))
    assert refused.status is HResult.DATA_LOST
    assert f"lost 3 messages of orders ({loss.bytes} bytes) after {before} up to {loss.until}" in refused.why
    assert {each.what for each in bench.warnings} == {"messages lost for a consumer"}
    assert sum(each.count for each in bench.warnings) == 3
    assert "has passed its limit 2" in bench.warnings[-1].why


def test_losses_that_follow_each_other_are_one_and_others_are_not(bench: Bench) -> None:
    limited(bench, Keep(count=1))
    passed(bench, b"a", b"b", b"c")
    loss = record(bench).loss
    assert loss is not None
    assert loss.messages == 2
    moved(bench, mark(bench))
    passed(bench, b"d", b"e")
    again = record(bench).loss
    assert again is not None
    assert (again.messages, record(bench).lost) == (1, 3)
    assert again.after > loss.until


def test_no_consumer_loses_what_another_consumer_keeps(bench: Bench) -> None:
    opened(bench, name="audit")
    limited(bench, Keep(count=2))
    passed(bench, b"a", b"b", b"c", b"d")
    assert left(bench) == left(bench, "audit") == [b"a", b"b", b"c", b"d"]
    limited(bench, Keep(count=3), "audit")
    assert left(bench) == left(bench, "audit") == [b"b", b"c", b"d"]
    moved(bench, mark(bench), name="audit")
    assert left(bench) == [b"c", b"d"]
    assert (record(bench).lost, record(bench, "audit").lost) == (2, 1)


def test_a_queue_that_is_ahead_keeps_what_is_within_its_limit(bench: Bench) -> None:
    first = opened(bench, name="audit")
    passed(bench, b"a", b"b", b"c", b"d")
    moved(bench, list(feed(bench, first))[1], name="audit")
    limited(bench, Keep(count=1))
    assert left(bench) == left(bench, "audit") == [b"c", b"d"]
    assert (record(bench).lost, record(bench, "audit").lost) == (2, 0)


def test_a_limit_of_the_consumer_goes_before_that_of_the_queue_and_of_the_settings() -> None:
    bench = Bench(sizes=Sizes(keep=Keep(count=3)))
    opened(bench)
    passed(bench, b"a", b"b", b"c", b"d")
    assert left(bench) == [b"b", b"c", b"d"]
    limited(bench, Keep(count=2), name="")
    assert left(bench) == [b"c", b"d"]
    limited(bench, EVERYTHING)
    passed(bench, b"e", b"f")
    assert left(bench) == [b"c", b"d", b"e", b"f"]
    limited(bench, None, inherit=True)
    assert left(bench) == [b"e", b"f"]
    limited(bench, None, name="", inherit=True)
    passed(bench, b"g", b"h")
    assert left(bench) == [b"f", b"g", b"h"]


def test_limits_and_losses_survive_a_restart(bench: Bench) -> None:
    limited(bench, Keep(count=5, age=seconds(160)), name="")
    bench.advance(50)
    passed(bench, *[b"x"] * 6)
    before = durable(bench.state)
    bench.restart()
    assert durable(bench.state) == before
    assert bench.queue().feed.limits == (Keep(count=5, age=seconds(160)),)
    bench.advance(400)
    assert (record(bench).lost, left(bench)) == (6, [])
    check(bench.state)


def test_a_large_loss_takes_several_turns_and_ends_in_a_later_process(bench: Bench) -> None:
    passed(bench, *[b"%d" % each for each in range(12)])
    bench.patient = True
    limited(bench, Keep(count=2))
    assert bench.queue().feed.retained == 9
    bench.restart(start=False)
    bench.start()
    bench.go_on()
    assert left(bench) == [b"10", b"11"]
    assert record(bench).lost == 10
    check(bench.state)


def test_a_loss_passes_over_many_messages_that_wait_some_in_each_turn(bench: Bench) -> None:
    bench.send("orders", *[b"waits"] * 10, priority=1)
    limited(bench, Keep(count=1))
    passed(bench, b"a", b"b")
    assert (left(bench), record(bench).lost) == ([b"b"], 11)
    lost = [fact for turn in bench.turns for fact in turn.facts if isinstance(fact, ConsumerLost)]
    assert len(lost) == 4
    assert len(bench.receive("orders", count=20).messages) == 10


def test_a_large_limit_is_passed_a_little_before_messages_are_deleted(bench: Bench) -> None:
    limited(bench, Keep(count=32))
    passed(bench, *[b"x"] * 34)
    assert bench.queue().feed.retained == 34
    passed(bench, b"x")
    assert bench.queue().feed.retained == 32


def test_a_queue_that_goes_takes_its_limit_along(bench: Bench) -> None:
    limited(bench, Keep(count=5), name="")
    bench.ask(DeleteQueue(0, "orders"))
    assert every(bench.state, KEEPS) == {}
