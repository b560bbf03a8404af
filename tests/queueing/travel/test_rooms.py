"""Carriers that report the room of queues to their peers are notified whenever it changes."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.queueing.model.events import AbortTransaction, ChangeQueue, DeleteQueue, PrepareTransaction
from reliquary.queueing.model.message import size_of
from reliquary.queueing.model.queue import KILOBYTE
from reliquary.queueing.model.travel.transfer import BatchArrived, BatchJudged, RoomKnown, RoomWatched
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import message


def watching(*names: str, **settings: int) -> Exchange:
    """Return an exchange whose carrier watches these queues; `bounded` has the settings."""
    exchange = Exchange()
    if settings:
        exchange.create("bounded", **settings)
    exchange.say(RoomWatched("manual_carrier", frozenset(names)))
    return exchange


def rooms(exchange: Exchange) -> list[tuple[str, int, int | None]]:
    """Return the reports of room that the carrier got since the last call."""
    heard = [each for each in exchange.manual_carrier.received if isinstance(each, RoomKnown)]
    exchange.manual_carrier.received.clear()
    assert all(each.to == "manual_carrier" for each in heard)
    return [(each.destination, each.unread, each.free) for each in heard]


def test_the_room_is_known_at_once_and_whenever_it_changes() -> None:
    exchange = watching("orders")
    assert rooms(exchange) == [("orders", 0, None)]
    exchange.send("orders", b"a")
    exchange.send("orders", b"b")
    assert rooms(exchange) == [("orders", 1, None), ("orders", 2, None)]
    exchange.receive("orders")
    assert rooms(exchange) == [("orders", 1, None)]


def test_queues_that_are_not_watched_are_not_reported() -> None:
    exchange = watching("orders")
    exchange.create("others")
    rooms(exchange)
    exchange.send("others", b"a")
    assert rooms(exchange) == []
    exchange.say(RoomWatched("manual_carrier", frozenset()))
    exchange.send("orders", b"a")
    assert rooms(exchange) == []


def test_what_is_left_of_a_quota_is_reported_in_bytes() -> None:
    exchange = watching("bounded", quota=2)
    assert rooms(exchange) == [("bounded", 0, 2 * KILOBYTE)]
    exchange.send("bounded", b"a" * 100)
    ((_, unread, free),) = rooms(exchange)
    assert unread == 1
    assert free is not None
    assert 2 * KILOBYTE - free == exchange.queue("bounded").total_bytes >= size_of(message(b"a" * 100))


def test_a_queue_that_comes_changes_or_goes_is_reported_too() -> None:
    exchange = watching("later")
    assert rooms(exchange) == [("later", 0, None)]
    exchange.create("later", quota=1)
    assert rooms(exchange)[-1] == ("later", 0, KILOBYTE)
    exchange.ask(ChangeQueue(0, "later", {"quota": 3}))
    assert rooms(exchange)[-1] == ("later", 0, 3 * KILOBYTE)
    exchange.ask(DeleteQueue(0, "later"))
    assert rooms(exchange)[-1] == ("later", 0, None)


def test_a_message_in_a_transaction_that_has_not_ended_is_unread() -> None:
    exchange = watching("orders")
    exchange.send("orders", b"a")
    transaction = exchange.begin()
    exchange.receive("orders", transaction=transaction)
    assert rooms(exchange)[-1] == ("orders", 1, None)
    exchange.ask(AbortTransaction(0, transaction))
    assert [each for each in rooms(exchange) if each[1] != 1] == []


def test_what_is_sent_in_a_transaction_takes_room_before_it_is_committed() -> None:
    exchange = watching("bounded", quota=2, transactional=True)
    rooms(exchange)
    transaction = exchange.begin()
    exchange.send("bounded", b"a", transaction=transaction)
    ((_, unread, free),) = rooms(exchange)
    assert (unread, free) == (0, 2 * KILOBYTE - exchange.queue("bounded").counts.reserved)
    exchange.ask(PrepareTransaction(0, transaction, single_phase=False))
    assert rooms(exchange) == [("bounded", 1, free)]
    exchange.ask(AbortTransaction(0, transaction))
    assert rooms(exchange)[-1] == ("bounded", 0, 2 * KILOBYTE)


def test_the_carrier_gets_the_room_before_the_verdict() -> None:
    exchange = watching("orders")
    exchange.manual_carrier.received.clear()
    exchange.say(BatchArrived("manual_carrier", 5, ("orders",), (message(b"a"),), UUID(int=9)))
    assert [type(each) for each in exchange.manual_carrier.received] == [RoomKnown, BatchJudged]


@pytest.mark.parametrize("name", [ELSEWHERE, "DIRECT=", r"system$;deadletter"])
def test_a_name_that_leads_to_no_queue_here_has_no_limit(name: str) -> None:
    assert rooms(watching(name)) == [(name, 0, None)]
