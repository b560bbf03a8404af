"""Tests that a range of a feed is read in the order of arrival, from all tables that hold positions."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from reliquary.base.faults import StoreDamage
from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.feed.reading import read
from reliquary.queueing.model import events
from reliquary.queueing.model.message import Delivery, Message, Position
from reliquary.queueing.model.tables import LATE, POSITIONS, Late, arrival_key
from tests.queueing.feed.harness import bodies, feed, mark, opened
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import every


def scattered(seed: int) -> tuple[Bench, int]:
    """Return a queue whose feed is in many lanes, late rows and what was kept; and where its reader is."""
    chance = Random(seed)
    bench = Bench()
    cursor = opened(bench)
    transactions = []
    for each in range(60):
        inside = bench.begin() if chance.random() < 0.3 else None
        delivery = Delivery.EXPRESS if inside is None and chance.random() < 0.1 else Delivery.RECOVERABLE
        attributes = {"priority": chance.choice((0, 3, 3, 3, 7)), "delivery": delivery}
        bench.send("orders", b"%d" % each, transaction=inside, **attributes)
        if inside is not None:
            transactions.append(inside)
        if chance.random() < 0.3:
            bench.receive("orders")
        if chance.random() < 0.2:
            mark(bench)
        if transactions and chance.random() < 0.2:
            bench.ask(events.CommitTransaction(0, transactions.pop(chance.randrange(len(transactions)))))
    return bench, cursor


@pytest.mark.parametrize("seed", range(10))
def test_pages_of_any_size_are_one_feed(seed: int) -> None:
    bench, cursor = scattered(seed)
    until = mark(bench)
    queue = bench.queue()
    for whole in (True, False):
        all_at_once = read(bench.state, queue, cursor, until, 1000, whole=whole)
        assert all_at_once.reached == until
        numbers = [arrival_of(each) for each in all_at_once.positions]
        assert numbers == sorted(set(numbers))
        for size in (1, 2, 5, 17):
            pages, after = list[Position](), cursor
            while after < until:
                page = read(bench.state, queue, after, until, size, whole=whole)
                assert page.reached > after
                pages += page.positions
                after = page.reached
            assert pages == all_at_once.positions


@pytest.mark.parametrize("seed", range(10))
def test_a_range_is_what_the_whole_has_in_it(seed: int) -> None:
    bench, cursor = scattered(seed)
    until, chance = mark(bench), Random(seed)
    whole = feed(bench, cursor, until)
    for _ in range(20):
        first, last = sorted(chance.sample(range(cursor, until + 1), 2))
        part = {number: body for number, body in whole.items() if first < number <= last}
        assert feed(bench, first, last) == part


def test_a_read_without_a_consumer_returns_the_present_messages_of_the_queue() -> None:
    bench, cursor = scattered(3)
    there = {row.position.lookup_id for row in every(bench.state, POSITIONS).values()}
    found = read(bench.state, bench.queue(), cursor, mark(bench), 1000, whole=False).positions
    assert {each.lookup_id for each in found} == there


def test_what_a_reader_has_and_has_not_consumed_is_read() -> None:
    bench = Bench()
    bench.send("orders", b"held", b"free")
    bench.receive("orders", hold=100)
    assert bodies(bench, name="") == [b"held", b"free"]


def test_messages_in_the_rows_come_with_their_positions() -> None:
    bench = Bench()
    bench.send("orders", b"early", b"late", b"gone")
    opened(bench)  # from here on, messages have rows of their own
    bench.send("orders", b"apart")
    bench.restart()
    messages: dict[int, msgspec.Raw] = {}
    page = read(bench.state, bench.queue(), 0, mark(bench), 10, whole=True, messages=messages)
    found = [
        msgspec.msgpack.decode(messages[position.message], type=Message) if position.inline_in else None
        for position in page.positions
    ]
    stored = [bench.state.messages.get(position) for position in page.positions]
    assert found == [*stored[:3], None]
    assert len(messages) == 3


def test_a_message_that_is_not_written_yet_has_no_bytes() -> None:
    bench = Bench()
    bench.send("orders", b"x")
    messages: dict[int, msgspec.Raw] = {}
    page = read(bench.state, bench.queue(), 0, mark(bench), 10, whole=False, messages=messages)
    assert (len(page.positions), messages) == (1, {})


def test_an_empty_range_is_read_to_its_end() -> None:
    bench = Bench()
    bench.send("orders", b"x")
    assert read(bench.state, bench.queue(), 1, 1, 10, whole=False) == ([], 1)
    assert read(bench.state, bench.queue(), 5, 9, 10, whole=False) == ([], 9)


def test_a_late_row_without_its_position_is_damage() -> None:
    bench = Bench()
    opened(bench)
    bench.send("orders", b"x")
    bench.rows.put(LATE, arrival_key(bench.queue().number, 1), Late(77))
    with pytest.raises(StoreDamage, match="no position"):
        read(bench.state, bench.queue(), 0, 9, 10, whole=True)
