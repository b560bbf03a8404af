"""Tests that the age of a message is known by its number, and that few moments are kept for that."""

from __future__ import annotations

from random import Random

from reliquary.base.time import SECOND, later, seconds
from reliquary.queueing.feed.ages import PARTS, noted, outdated
from reliquary.queueing.feed.events import SetConsumer
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import Moments
from tests.queueing.feed.harness import dropped, opened
from tests.queueing.manager_harness import Bench

MINUTE = 60


def keep(bench: Bench, limit: float) -> None:
    bench.ask(SetConsumer(0, "orders", "lake", Keep(age=seconds(limit))))


def test_no_number_is_older_than_it_is_and_none_stays_young_for_long() -> None:
    """The marks are numbers that grow by one each second, so a number tells its own age."""
    chance = Random(7)
    moments, longest = Moments(), 100_000 * SECOND
    for _ in range(5_000):
        step = chance.choice((1, 1, 5, 60)) * SECOND
        moments = noted(moments, step, (moments.elapsed + step) // SECOND, longest)
        assert [*moments.marks] == sorted(moments.marks)
        for age in (1, 60, 3_000, 40_000, 100_000):
            number, now = outdated(moments, age * SECOND), moments.elapsed // SECOND
            assert now - number >= age or number == 0
            assert now - number <= age + age / PARTS + 2 * MINUTE or now < 2 * age
    assert len(moments.marks) < 200


def test_a_look_is_made_while_a_consumer_has_a_limit_by_age() -> None:
    bench = Bench()
    opened(bench)
    assert ("keep", 0) not in bench.timers
    keep(bench, 160)
    bench.advance(25)
    assert bench.state.ages.moments.elapsed == 10 * SECOND, "the first look begins the time"
    dropped(bench)
    bench.advance(20)
    assert ("keep", 0) not in bench.timers


def test_a_shorter_limit_is_looked_at_earlier() -> None:
    bench = Bench()
    opened(bench)
    opened(bench, name="audit")
    keep(bench, 86_400)
    assert bench.timers["keep", 0] == later(bench.now, seconds(3600))
    bench.ask(SetConsumer(0, "orders", "audit", Keep(age=seconds(160))))
    assert bench.timers["keep", 0] == later(bench.now, seconds(10))
    keep(bench, 86_400)
    assert bench.timers["keep", 0] == later(bench.now, seconds(10))
    bench.advance(15)
    assert bench.state.ages.watched == seconds(10)


def test_time_counts_only_while_a_manager_runs_and_a_calendar_does_not_count() -> None:
    bench = Bench(sizes=Sizes(keep=Keep(age=seconds(160))))
    opened(bench)
    bench.advance(40)
    elapsed = bench.state.ages.moments.elapsed
    bench.now = later(bench.now, seconds(10_000))
    bench.restart()
    bench.advance(10)
    assert bench.state.ages.moments.elapsed == elapsed
    bench.advance(10)
    assert bench.state.ages.moments.elapsed == elapsed + 10 * SECOND
    bench.now = later(bench.now, seconds(10_000))
    bench.advance(10)
    assert bench.state.ages.moments.elapsed <= elapsed + 40 * SECOND
