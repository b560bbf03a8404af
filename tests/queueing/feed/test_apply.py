"""Tests that facts about consumers and about retained messages change memory and rows alike."""

from __future__ import annotations

from reliquary.queueing.feed.facts import (
    ConsumerDropped,
    ConsumerLost,
    ConsumerPlaced,
    FeedsLooked,
    QueueKept,
    RetainedDropped,
)
from reliquary.queueing.model.facts import PositionsRemoved
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.tables import (
    CONSUMERS,
    KEEPS,
    MESSAGES,
    MOMENTS,
    ONLY,
    RETAINED,
    Consumer,
    Moments,
    consumer_key,
    queue_key,
)
from tests.queueing.fact_bench import REASON, FactBench
from tests.queueing.feed.harness import opened
from tests.queueing.manager_harness import NOON, Bench
from tests.queueing.state_checks import check, every


def test_a_consumer_is_kept_until_it_is_dropped(made: FactBench) -> None:
    one, two = Consumer(3, NOON, NOON), Consumer(5, NOON, NOON)
    made.apply(ConsumerPlaced(made.orders.number, "one", one))
    made.apply(ConsumerPlaced(made.orders.number, "two", two))
    assert made.orders.feed.consumers == {"one": one, "two": two}
    assert every(made.state, CONSUMERS) == {
        consumer_key(made.orders.number, "one"): one,
        consumer_key(made.orders.number, "two"): two,
    }
    mark = made.orders.feed.mark
    assert (mark > 0, made.orders.feed.pinned) == (True, 3)
    made.apply(ConsumerDropped(made.orders.number, "one"))
    assert (made.orders.feed.consumers, made.orders.feed.mark, made.orders.feed.pinned) == (
        {"two": two},
        mark,
        5,
    )
    made.apply(ConsumerDropped(made.orders.number, "two"))
    assert (made.orders.feed.consumers, made.orders.feed.mark, made.orders.feed.pinned) == ({}, 0, 0)
    assert every(made.state, CONSUMERS) == {}


def test_a_retained_message_goes_with_the_last_position_that_is_dropped(made: FactBench) -> None:
    made.apply(ConsumerPlaced(made.orders.number, "lake", Consumer(0, NOON, NOON)))
    made.store(made.at(1), made.at(2))
    made.apply(PositionsRemoved(made.orders.number, (made.at(1), made.at(2)), REASON))
    first, second = every(made.state, RETAINED).values()
    assert (made.orders.feed.retained, made.orders.feed.retained_size) == (2, 200)
    made.apply(RetainedDropped(made.orders.number, (first,)))
    assert list(every(made.state, RETAINED).values()) == [second]
    assert len(every(made.state, MESSAGES)) == 1
    assert (made.orders.feed.retained, made.orders.feed.retained_size) == (1, 100)
    made.apply(RetainedDropped(made.orders.number, (second,)))
    assert every(made.state, RETAINED) == {}
    assert every(made.state, MESSAGES) == {}
    assert (made.orders.feed.retained, made.orders.feed.retained_size) == (0, 0)
    check(made.state)


def test_a_limit_of_a_queue_is_a_row_until_it_is_taken_away(made: FactBench) -> None:
    made.apply(ConsumerPlaced(made.orders.number, "lake", Consumer(3, NOON, NOON)))
    made.apply(QueueKept(made.orders.number, Keep(count=5)))
    assert every(made.state, KEEPS) == {queue_key(made.orders.number): Keep(count=5)}
    assert (made.orders.feed.keep, made.orders.feed.limits) == (Keep(count=5), (Keep(count=5),))
    made.apply(ConsumerLost(made.orders.number, "lake", Consumer(4, NOON, NOON, keep=Keep(age=5))))
    assert made.orders.feed.pinned == 4
    assert not made.orders.feed.limits, "a limit by age is looked at when its timer fires"
    made.apply(QueueKept(made.orders.number, None))
    assert (every(made.state, KEEPS), made.orders.feed.keep) == ({}, None)


def test_the_moments_of_feeds_are_one_row(made: FactBench) -> None:
    made.apply(FeedsLooked(Moments(5, ((5, 3),))))
    assert every(made.state, MOMENTS) == {ONLY: made.state.ages.moments} == {ONLY: Moments(5, ((5, 3),))}


def test_a_consumer_is_a_row_and_is_known_again() -> None:
    bench = Bench()
    cursor = opened(bench)
    number = bench.queue().number
    row = Consumer(cursor, NOON, NOON)
    assert every(bench.state, CONSUMERS) == {consumer_key(number, "lake"): row}
    bench.restart()
    assert bench.queue().feed.consumers == {"lake": row}
    assert bench.queue().feed.mark == bench.state.numbers.ceiling - bench.sizes.sequence_block
    check(bench.state)
