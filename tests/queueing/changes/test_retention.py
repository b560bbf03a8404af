"""Tests that messages which left a queue with consumers are retained until every consumer has passed them."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.queueing.model import events
from reliquary.queueing.model.events import PieceStored, SendMessages, StorePiece
from reliquary.queueing.model.message import MessageClass, StoredBody
from reliquary.queueing.model.tables import MESSAGES, PIECES, RETAINED, SHARES
from reliquary.queueing.model.travel.transfer import Outcome, ReservationsEnded, ReservationWanted
from tests.queueing.exchange import Exchange
from tests.queueing.feed.harness import bodies, feed, mark, moved, opened
from tests.queueing.manager_harness import Bench, message
from tests.queueing.state_checks import check, every, walk


def receive(bench: Bench) -> None:
    bench.receive("orders")


def purge(bench: Bench) -> None:
    bench.ask(events.PurgeQueue(0, "orders"))


def expire(bench: Bench) -> None:
    bench.advance(1000)


def move(bench: Bench) -> None:
    bench.ask(events.MoveMessage(0, "orders", walk(bench.queue())[0].lookup_id, "other"))


def journal(bench: Bench) -> None:
    bench.ask(events.ChangeQueue(0, "orders", {"journaling": True}))
    bench.receive("orders")


def commit(bench: Bench) -> None:
    transaction = bench.begin()
    bench.receive("orders", transaction=transaction)
    bench.ask(events.CommitTransaction(0, transaction))


def large(bench: Bench, **attributes: Any) -> None:
    """Send a message whose body is stored in pieces."""
    stored: PieceStored = bench.ask(StorePiece(0, 0, b"a large body"))
    body = StoredBody(stored.spool, stored.size, stored.pieces)
    bench.ask(SendMessages(0, "orders", (message(stored_body=body, **attributes),)))


@pytest.mark.parametrize("in_pieces", [True, False])
@pytest.mark.parametrize("copied", [True, False])
@pytest.mark.parametrize("leaves", [receive, purge, expire, move, journal, commit])
def test_however_a_message_leaves_it_is_read_again_and_then_released(
    leaves: Any, copied: bool, in_pieces: bool
) -> None:
    bench = Bench("orders", "other")
    cursor = opened(bench)
    asked: dict[str, Any] = {
        "positive_journaling": copied,
        "negative_journaling": True,
        "time_to_be_received": 500,
    }
    if in_pieces:
        large(bench, **asked)
    else:
        bench.send("orders", b"a large body", **asked)
    before = feed(bench, cursor)
    leaves(bench)
    assert bench.bodies() == []
    queue = bench.queue()
    assert (queue.feed.retained, queue.total_bytes) == (1, 0)
    check(bench.state)
    assert feed(bench, cursor) == before
    bench.restart()
    check(bench.state)
    assert feed(bench, cursor) == before
    moved(bench, mark(bench))
    assert bench.queue().feed.retained == bench.queue().feed.retained_size == 0
    check(bench.state)
    for path in ("other", "orders;journal", "system$;journal", "system$;deadletter"):
        bench.ask(events.PurgeQueue(0, path))
    assert every(bench.state, MESSAGES) == {}
    assert every(bench.state, PIECES) == {}
    assert every(bench.state, SHARES) == {}
    check(bench.state)


def test_what_every_consumer_has_passed_is_not_kept_when_it_leaves() -> None:
    bench = Bench()
    opened(bench)
    bench.send("orders", b"read", b"unread")
    moved(bench, mark(bench))
    bench.send("orders", b"new")
    bench.ask(events.PurgeQueue(0, "orders"))
    assert [bench.state.messages.get(row).body for row in every(bench.state, RETAINED).values()] == [b"new"]


def test_what_is_kept_counts_against_no_quota() -> None:
    bench = Bench()
    bench.ask(events.ChangeQueue(0, "orders", {"quota": 1}))
    opened(bench)
    for _ in range(5):
        assert bench.send("orders", b"x" * 700).lookup_ids
        bench.receive("orders")
    assert bench.state.totals.bytes == 0
    assert len(bodies(bench)) == 5


def test_what_is_kept_makes_room_in_memory_for_what_comes() -> None:
    bench = Bench()
    opened(bench)
    bench.send("orders", b"x" * 100)
    assert bench.state.messages._cached_bytes == 100
    bench.receive("orders")
    assert bench.state.messages._cached_bytes == 0
    assert bodies(bench) == [b"x" * 100]


@pytest.mark.parametrize("outcome", Outcome)
def test_what_a_carrier_holds_is_read_and_kept_when_it_is_delivered(outcome: Outcome) -> None:
    exchange = Exchange(None, "orders")
    cursor = opened(exchange)
    exchange.send("orders", b"a", b"b")
    before = feed(exchange, cursor)
    exchange.say(ReservationWanted("httpr", (1, 7), ("orders",), 100, 1_000_000))
    assert exchange.bodies() == []
    assert feed(exchange, cursor) == feed(exchange, name="") == before
    exchange.restart()
    assert feed(exchange, cursor) == before
    exchange.say(ReservationsEnded("httpr", ((1, 7),), outcome, MessageClass.NACK_ACCESS_DENIED))
    assert feed(exchange, cursor) == before
    assert exchange.queue().feed.retained == (0 if outcome is Outcome.TRY_LATER else 2)
    check(exchange.state)
