"""Tests that every arrival number up to a mark is final, whichever messages become visible later."""

from __future__ import annotations

import pytest

from reliquary.queueing.changes.numbering import PENDING, arrival_of
from reliquary.queueing.model import events
from reliquary.queueing.model.message import Delivery
from reliquary.queueing.model.tables import LATE, POSITIONS, SEQUENCE_MASK
from tests.queueing.feed.harness import bodies, dropped, feed, mark, opened
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, every, walk


def test_the_number_of_a_message_is_its_own_sequence_where_nothing_forbids_it() -> None:
    bench = Bench()
    opened(bench)
    sent = bench.send("orders", b"low", b"high", priority=7).lookup_ids
    assert list(feed(bench)) == [each & SEQUENCE_MASK for each in sent]
    assert every(bench.state, LATE) == {}


def test_the_feed_is_in_the_order_of_arrival_with_any_priorities() -> None:
    bench = Bench()
    opened(bench)
    for priority in (0, 7, 3, 0):
        bench.send("orders", b"%d" % priority, priority=priority)
    assert bodies(bench) == [b"0", b"7", b"3", b"0"]


@pytest.mark.parametrize("prepared", [True, False])
def test_what_a_commit_shows_comes_behind_the_mark_that_was_reported_before(prepared: bool) -> None:
    bench = Bench()
    cursor = opened(bench)
    transaction = bench.begin()
    bench.send("orders", b"late", b"later", transaction=transaction)
    bench.send("orders", b"first")
    if prepared:
        bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    marked = mark(bench)
    assert bodies(bench, cursor, marked) == [b"first"]
    bench.ask(events.CommitTransaction(0, transaction))
    assert bodies(bench, cursor, marked) == [b"first"]
    assert bodies(bench, marked) == [b"late", b"later"]
    assert bodies(bench, cursor) == [b"first", b"late", b"later"]
    check(bench.state)


@pytest.mark.parametrize("prepared", [True, False])
def test_a_transaction_stays_in_its_order_though_the_mark_was_reported_in_its_middle(prepared: bool) -> None:
    bench = Bench()
    opened(bench)
    transaction = bench.begin()
    bench.send("orders", b"begin", transaction=transaction)
    marked = mark(bench)
    bench.send("orders", b"between")
    bench.send("orders", b"end", transaction=transaction)
    if prepared:
        bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    bench.ask(events.CommitTransaction(0, transaction))
    assert bodies(bench, marked) == [b"between", b"begin", b"end"]
    check(bench.state)
    bench.restart()
    assert bodies(bench, marked) == [b"between", b"begin", b"end"]


def test_what_is_prepared_is_in_no_feed_also_without_a_consumer() -> None:
    bench = Bench()
    transaction = bench.begin()
    bench.send("orders", b"prepared", transaction=transaction)
    bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
    [row] = every(bench.state, POSITIONS).values()
    assert row.position.arrival == PENDING
    assert bodies(bench, name="") == []
    bench.restart()
    assert bodies(bench, name="") == []
    bench.ask(events.CommitTransaction(0, transaction))
    assert bodies(bench, name="") == [b"prepared"]


def test_nothing_is_left_of_an_abort() -> None:
    bench = Bench()
    opened(bench)
    for prepared in (True, False):
        transaction = bench.begin()
        bench.send("orders", b"never", transaction=transaction)
        mark(bench)
        if prepared:
            bench.ask(events.PrepareTransaction(0, transaction, single_phase=False))
        bench.ask(events.AbortTransaction(0, transaction))
    assert bodies(bench) == []


def test_a_delayed_message_arrives_when_its_delay_is_over() -> None:
    bench = Bench()
    cursor = opened(bench)
    bench.send("orders", b"delayed", delay=1_000_000)
    marked = mark(bench)
    assert bodies(bench, cursor, marked) == []
    bench.advance(2)
    assert bodies(bench, cursor, marked) == []
    assert bodies(bench, marked) == [b"delayed"]


def test_what_is_put_off_for_a_retry_has_arrived_and_keeps_its_number() -> None:
    bench = Bench()
    bench.ask(events.ChangeQueue(0, "orders", {"retry_delay": 30}))
    opened(bench)
    bench.send("orders", b"tried")
    before, marked = feed(bench), mark(bench)
    receipt = bench.receive("orders", hold=100).receipt
    bench.ask(events.EndRead(0, receipt, delete=False))
    assert bench.bodies() == []
    check(bench.state)
    assert feed(bench, until=marked) == before
    assert feed(bench, until=marked, name="") == {}  # it is not there to be seen
    bench.restart()
    bench.advance(31)
    assert bench.bodies() == [b"tried"]
    check(bench.state)
    assert feed(bench, until=marked) == feed(bench) == before
    bench.receive("orders")
    assert feed(bench) == before
    check(bench.state)


def test_what_is_moved_away_and_back_arrives_twice_though_no_reader_looked_meanwhile() -> None:
    bench = Bench("orders", "other")
    opened(bench)
    [lookup_id] = bench.send("orders", b"moved").lookup_ids
    bench.ask(events.MoveMessage(0, "orders", lookup_id, "other"))
    bench.ask(events.MoveMessage(0, "other", lookup_id, "orders"))
    check(bench.state)
    numbers = feed(bench)
    assert list(numbers.values()) == [b"moved", b"moved"]
    assert walk(bench.queue())[0].arrival == max(numbers)
    bench.ask(events.MoveMessage(0, "orders", lookup_id, "other"))
    assert walk(bench.queue("other"))[0].arrival == 0  # the number was of the other feed
    assert feed(bench) == numbers


def test_journals_dead_letters_and_copies_arrive_where_they_come_to() -> None:
    bench = Bench()
    bench.ask(events.ChangeQueue(0, "orders", {"journaling": True}))
    places = ("orders", "orders;journal", "system$;deadletter", "system$;journal")
    for place in places:
        opened(bench, place, at=0)
    bench.send("orders", b"received", positive_journaling=True)
    bench.send("orders", b"expired", negative_journaling=True, time_to_be_received=5)
    for place in places:
        mark(bench, place)
    bench.receive("orders")
    bench.advance(10)
    assert [bodies(bench, queue=place) for place in places] == [
        [b"received", b"expired"], [b"received"], [b"expired"], [b"received"],
    ]  # fmt: skip
    check(bench.state)


def test_express_messages_are_in_no_feed() -> None:
    bench = Bench("orders", "other")
    opened(bench)
    [lookup_id] = bench.send("orders", b"express", delivery=Delivery.EXPRESS).lookup_ids
    bench.ask(events.MoveMessage(0, "orders", lookup_id, "other"))
    bench.ask(events.MoveMessage(0, "other", lookup_id, "orders"))
    bench.receive("orders")
    assert feed(bench) == {}
    check(bench.state)


def test_a_queue_that_is_not_read_pays_nothing() -> None:
    bench = Bench()
    opened(bench)
    dropped(bench)
    mark(bench)
    transaction = bench.begin()
    bench.send("orders", b"x", transaction=transaction)
    mark(bench)
    bench.ask(events.CommitTransaction(0, transaction))
    assert every(bench.state, LATE) == {}
    assert bench.queue().feed.mark == 0


def test_late_numbers_survive_the_last_consumer_and_go_with_their_messages() -> None:
    bench = Bench()
    opened(bench)
    transaction = bench.begin()
    bench.send("orders", b"late", transaction=transaction)
    mark(bench)
    bench.ask(events.CommitTransaction(0, transaction))
    numbers = feed(bench)
    dropped(bench)
    bench.restart()
    assert feed(bench, name="") == numbers
    assert [arrival_of(each) for each in walk(bench.queue())] == list(numbers)
    check(bench.state)
    bench.receive("orders")
    assert every(bench.state, LATE) == {}


def test_after_a_crash_no_number_up_to_a_mark_is_given_again() -> None:
    bench = Bench()
    cursor = opened(bench)
    bench.send("orders", b"one")
    marked = mark(bench)
    bench.flush()
    bench.send("orders", b"lost")
    bench.restart(crash=True)
    bench.send("orders", b"two")
    assert bodies(bench, cursor, marked) == [b"one"]
    assert bodies(bench, marked) == [b"two"]
