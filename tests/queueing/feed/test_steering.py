"""Tests that people set, pause and reset consumers, and see before what a reset would do."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import seconds
from reliquary.queueing.feed import steering
from reliquary.queueing.feed.events import FindArrivalNumber, LookAtFeeds, ResetConsumer, SetConsumer
from reliquary.queueing.model.keep import Keep
from tests.queueing.feed.harness import bodies, feed, mark, moved, opened
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check


@pytest.fixture
def bench() -> Bench:
    """Return a queue with a message that waits, and two that left and are kept."""
    made = Bench()
    opened(made, at=0)
    made.send("orders", b"first", b"second", b"third")
    made.receive("orders", count=2)
    return made


def cursor(bench: Bench) -> int:
    return bench.queue().feed.consumers["lake"].cursor


def test_a_pause_is_seen_by_readers_and_survives_a_restart(bench: Bench) -> None:
    assert bench.ask(SetConsumer(0, "orders", "lake", paused=True)).status is HResult.OK
    bench.restart()
    [view] = bench.ask(LookAtFeeds(0, ("orders",), "lake")).feeds
    assert view.paused
    assert bodies(bench) == [b"first", b"second", b"third"], "what was planned may still be read"
    bench.ask(SetConsumer(0, "orders", "lake", Keep(count=9)))
    assert bench.queue().feed.consumers["lake"].paused, "a limit does not end a pause"
    bench.ask(SetConsumer(0, "orders", "lake", paused=False))
    record = bench.queue().feed.consumers["lake"]
    assert (record.paused, record.keep) == (False, Keep(count=9))


def test_a_queue_is_not_paused(bench: Bench) -> None:
    assert bench.ask(SetConsumer(0, "orders", paused=True)).status is HResult.INVALID_PARAMETER


@pytest.mark.parametrize(
    "request_", [SetConsumer(0, "orders", "missing"), ResetConsumer(0, "orders", "missing")]
)
def test_a_consumer_that_is_missing_is_named(bench: Bench, request_: SetConsumer | ResetConsumer) -> None:
    answer = bench.ask(request_)
    assert (answer.status, answer.why) == (
        HResult.OBJECT_NOT_FOUND,
        "orders has no consumer 'missing'",
    )


@pytest.mark.parametrize(
    "request_",
    [SetConsumer(0, "none", "x"), ResetConsumer(0, "none", "x"), FindArrivalNumber(0, "none", 0, 0)],
)
def test_a_queue_that_is_missing_is_named(
    bench: Bench, request_: SetConsumer | ResetConsumer | FindArrivalNumber
) -> None:
    assert bench.ask(request_).status is HResult.QUEUE_NOT_FOUND


def test_a_reset_forward_reports_the_skipped_messages(bench: Bench) -> None:
    second = list(feed(bench))[1]
    reported = bench.ask(ResetConsumer(0, "orders", "lake", second, dry_run=True))
    assert (reported.before, reported.cursor, reported.messages, reported.more) == (0, second, 2, False)
    assert reported.bytes > 0
    assert cursor(bench) == 0, "it was only asked"
    assert bench.ask(ResetConsumer(0, "orders", "lake", second)) == reported
    assert cursor(bench) == second
    assert bench.queue().feed.retained == 0
    check(bench.state)


def test_a_reset_to_the_mark_leaves_only_what_comes_later(bench: Bench) -> None:
    assert bench.ask(ResetConsumer(0, "orders", "lake")).messages == 3
    bench.send("orders", b"later")
    assert bodies(bench, cursor(bench)) == [b"later"]


def test_a_reset_back_reports_the_messages_to_read_again(bench: Bench) -> None:
    moved(bench, mark(bench))
    reported = bench.ask(ResetConsumer(0, "orders", "lake", 0))
    assert (reported.cursor, reported.messages) == (0, 1), "two were read by all, and are gone"
    assert bodies(bench) == [b"third"]
    bench.receive("orders")
    assert bodies(bench) == [b"third"], "it is kept again"
    bench.restart()
    assert bodies(bench) == [b"third"]
    check(bench.state)


def test_a_reset_to_a_number_that_is_not_given_yet_is_refused(bench: Bench) -> None:
    answer = bench.ask(ResetConsumer(0, "orders", "lake", bench.state.numbers.sequence + 1))
    assert answer.status is HResult.INVALID_PARAMETER


def test_more_than_one_read_gives_is_not_counted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "READ_LIMIT", 2)
    reported = bench.ask(ResetConsumer(0, "orders", "lake", dry_run=True))
    assert (reported.messages, reported.more) == (2, True)


def test_the_place_of_a_moment_is_before_the_first_message_that_came_then(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.advance(10)
    bench.send("orders", b"later")
    last = list(feed(bench))[-1]
    assert bench.ask(FindArrivalNumber(0, "orders", bench.now, 0)).place == last - 1
    assert bench.ask(FindArrivalNumber(0, "orders", 0, 0)).place < min(feed(bench))
    late = bench.ask(FindArrivalNumber(0, "orders", bench.now + seconds(1), 0))
    assert (late.place, late.more) == (mark(bench), False)
    monkeypatch.setattr(steering, "READ_LIMIT", 2)
    page = bench.ask(FindArrivalNumber(0, "orders", bench.now, 0))
    assert page.more
    assert bench.ask(FindArrivalNumber(0, "orders", bench.now, page.place)).place == last - 1
