"""Tests that retained messages are deleted, some in each turn, after every consumer has passed them."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.rows import Table
from reliquary.queueing.feed.events import TrimFeed
from reliquary.queueing.model import events
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import CONSUMERS, LATE, MESSAGES, RETAINED
from tests.queueing.feed.harness import bodies, dropped, mark, moved, opened
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, every

SIZES = Sizes(at_once=3)


@pytest.fixture
def bench() -> Bench:
    """Return a queue from which ten messages went that a consumer has yet to read."""
    made = Bench(sizes=SIZES)
    opened(made)
    made.send("orders", *[b"%d" % each for each in range(10)])
    made.receive("orders", count=10)
    made.patient = True
    return made


def test_a_move_releases_what_is_passed_in_as_many_turns_as_it_needs(bench: Bench) -> None:
    assert moved(bench, mark(bench)).status is HResult.OK
    assert bench.queue().feed.retained == 7
    check(bench.state)
    bench.go_on(1)
    assert bench.queue().feed.retained == 4
    bench.go_on()
    assert bench.queue().feed.retained == 0
    assert every(bench.state, MESSAGES) == {}
    check(bench.state)


def test_only_what_every_consumer_has_passed_goes(bench: Bench) -> None:
    first = min(each.message for each in every(bench.state, RETAINED).values())
    opened(bench, name="audit", at=first + 4)
    moved(bench, mark(bench))
    bench.go_on()
    assert bodies(bench, first + 4, name="audit") == [b"%d" % each for each in range(5, 10)]
    dropped(bench, name="audit")
    bench.go_on()
    assert bench.queue().feed.retained == 0


def test_the_last_drop_releases_all(bench: Bench) -> None:
    dropped(bench)
    bench.go_on()
    assert every(bench.state, RETAINED) == {}
    assert every(bench.state, CONSUMERS) == {}
    check(bench.state)


def test_a_new_process_continues_the_deletion_of_retained_messages(bench: Bench) -> None:
    moved(bench, mark(bench))
    bench.restart(start=False)
    assert bench.queue().feed.retained == 7
    bench.start()
    bench.go_on()
    assert bench.queue().feed.retained == 0
    check(bench.state)


def test_a_consumer_who_comes_while_it_goes_on_keeps_the_rest(bench: Bench) -> None:
    moved(bench, mark(bench))
    opened(bench, name="audit", at=0)
    bench.go_on()
    rest = [b"%d" % each for each in range(3, 10)]
    assert bodies(bench, name="audit") == rest
    bench.restart()
    bench.go_on()
    assert bodies(bench, name="audit") == rest
    check(bench.state)


def test_a_deleted_queue_takes_its_readers_and_all_that_was_kept_along(bench: Bench) -> None:
    bench.send("orders", *[b"x"] * 4)
    transaction = bench.begin()
    bench.send("orders", b"late", transaction=transaction)
    mark(bench)
    bench.ask(events.CommitTransaction(0, transaction))
    asked = bench.begin_asking(events.DeleteQueue(0, "orders"))
    check(bench.state)
    bench.go_on(3)
    check(bench.state)
    bench.restart()
    check(bench.state)
    bench.go_on()
    assert bench.answer_to(asked) is None  # the caller is gone with the process
    tables: list[Table[Any]] = [CONSUMERS, RETAINED, LATE, MESSAGES]
    assert [every(bench.state, table) for table in tables] == [{}] * 4
    assert len([each for each in bench.state.queues.values() if each.record.deleting]) == 0
    check(bench.state)


def test_a_delete_is_answered_when_all_is_gone(bench: Bench) -> None:
    asked = bench.begin_asking(events.DeleteQueue(0, "orders"))
    bench.go_on(3)
    assert bench.answer_to(asked) is None
    bench.go_on()
    assert bench.answer_to(asked).status is HResult.OK
    assert every(bench.state, RETAINED) == {}


def test_a_turn_for_a_queue_that_is_gone_does_nothing() -> None:
    assert Bench().handle(TrimFeed(99)).facts == ()
