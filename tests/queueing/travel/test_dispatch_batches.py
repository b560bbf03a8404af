"""Tests queues whose carrier takes batches: the carrier is notified once that messages wait, until it
looks.
"""

from __future__ import annotations

import pytest

from reliquary.base.time import seconds
from reliquary.base.turn import Signal
from reliquary.queueing.model.events import (
    BringOnline,
    CommitTransaction,
    DeleteQueue,
    PauseQueue,
    ResumeQueue,
    TakeOffline,
)
from reliquary.queueing.model.message import Delivery
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.travel.carriers import Carrier
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import (
    ConnectionChanged,
    ConnectionWanted,
    MessagesReserved,
    MessagesWaiting,
    Outcome,
    QueuesWatched,
    ReservationsEnded,
    ReservationWanted,
)
from tests.queueing.exchange import Exchange
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check

AGENT = "DIRECT=HTTPR://elsewhere/httpr/mq#orders"
KEY = (1, 7)


@pytest.fixture
def exchange() -> Exchange:
    return Exchange()


def reported(exchange: Exchange) -> list[tuple[int, str]]:
    """Return the queues that the carrier was notified of since the last call."""
    heard, exchange.manual_carrier.received = exchange.manual_carrier.received, []
    return [(each.queue, each.destination) for each in heard if isinstance(each, MessagesWaiting)]


def hold(exchange: Exchange, *queues: int | str, key: tuple[int, int] = KEY, most: int = 100) -> list[bytes]:
    """Ask for a hold as the carrier, and return what it holds."""
    exchange.say(
        ReservationWanted("httpr", key, queues or (exchange.outgoing(AGENT).number,), most, 1_000_000)
    )
    held = [each for each in exchange.manual_carrier.received if isinstance(each, MessagesReserved)][-1]
    return [message.body for message in held.messages]


def change(exchange: Exchange, event: OutgoingEvent) -> None:
    """Report a change of the connection to AGENT, which stays established."""
    number = exchange.outgoing(AGENT).number
    exchange.say(ConnectionChanged(number, event, ConnectionStatus.ESTABLISHED, rest=seconds(5)))


# -- outgoing queues


def test_a_message_wants_a_connection_and_the_carrier_is_notified_on_it_and_is_sent_nothing(
    exchange: Exchange,
) -> None:
    exchange.manual_carrier.connects = False
    exchange.send(AGENT, b"a")
    number = exchange.outgoing(AGENT).number
    own = exchange.state.identity().identifier
    assert exchange.manual_carrier.received == [ConnectionWanted("httpr", number, AGENT, own)]
    exchange.send(AGENT, b"b")
    assert reported(exchange) == []
    change(exchange, OutgoingEvent.CONNECTED)
    assert exchange.manual_carrier.received == [MessagesWaiting("httpr", number, AGENT)]
    assert exchange.manual_carrier.sending == []


def test_the_carrier_is_notified_once_until_it_looks(exchange: Exchange) -> None:
    number = (exchange.send(AGENT, b"a"), exchange.outgoing(AGENT).number)[1]
    exchange.send(AGENT, b"b", b"c")
    assert reported(exchange) == [(number, AGENT)]
    assert hold(exchange, most=2) == [b"a", b"b"]
    assert reported(exchange) == [(number, AGENT)]  # one is left
    exchange.send(AGENT, b"d")
    assert reported(exchange) == []
    assert hold(exchange, key=(1, 8)) == [b"c", b"d"]
    assert reported(exchange) == []
    exchange.send(AGENT, b"e")
    assert reported(exchange) == [(number, AGENT)]


def test_a_message_that_comes_after_an_empty_search_is_reported(exchange: Exchange) -> None:
    number = (exchange.send(AGENT, b"a"), exchange.outgoing(AGENT).number)[1]
    assert hold(exchange) == [b"a"]
    assert hold(exchange, key=(1, 8)) == []
    assert reported(exchange) == [(number, AGENT)]  # of the first
    exchange.send(AGENT, b"b", delivery=Delivery.EXPRESS)
    assert reported(exchange) == [(number, AGENT)]


def test_what_is_given_back_is_reported(exchange: Exchange) -> None:
    number = (exchange.send(AGENT, b"a"), exchange.outgoing(AGENT).number)[1]
    hold(exchange)
    reported(exchange)
    exchange.say(ReservationsEnded("httpr", (KEY,), Outcome.TRY_LATER))
    assert reported(exchange) == [(number, AGENT)]


def test_a_queue_that_rests_is_reported_again_when_the_rest_is_over(exchange: Exchange) -> None:
    number = (exchange.send(AGENT, b"a"), exchange.outgoing(AGENT).number)[1]
    hold(exchange)
    exchange.send(AGENT, b"b")
    assert reported(exchange) == [(number, AGENT), (number, AGENT)]
    exchange.say(ReservationsEnded("httpr", (KEY,), Outcome.TRY_LATER, rest=seconds(5)))
    assert reported(exchange) == []
    exchange.advance(5)
    assert reported(exchange) == [(number, AGENT)]


def test_a_queue_that_failed_rests_and_can_be_held_meanwhile(exchange: Exchange) -> None:
    exchange.send(AGENT, b"a", b"b")
    change(exchange, OutgoingEvent.FAILED)
    reported(exchange)
    assert hold(exchange, most=1) == [b"a"]
    assert exchange.link(AGENT).failures == 1
    exchange.say(ReservationsEnded("httpr", (KEY,), Outcome.DELIVERED))
    assert (exchange.link(AGENT).failures, exchange.link(AGENT).delivered) == (0, 1)
    exchange.send(AGENT, b"c")
    assert reported(exchange) == []
    exchange.advance(5)
    assert reported(exchange) == [(exchange.outgoing(AGENT).number, AGENT)]  # connected again, at once
    check(exchange.state)


def test_a_new_connection_is_notified_of_what_waits(exchange: Exchange) -> None:
    exchange.send(AGENT, b"a")
    reported(exchange)
    change(exchange, OutgoingEvent.DISCONNECTED)
    assert reported(exchange) == [(exchange.outgoing(AGENT).number, AGENT)]


def test_a_queue_that_goes_on_is_reported_again(exchange: Exchange) -> None:
    exchange.send(AGENT, b"a")
    exchange.ask(PauseQueue(0, AGENT))
    assert hold(exchange) == []
    reported(exchange)
    exchange.send(AGENT, b"b")
    assert reported(exchange) == []
    exchange.ask(ResumeQueue(0, AGENT))
    assert reported(exchange) == [(exchange.outgoing(AGENT).number, AGENT)]


def test_a_manager_that_comes_online_or_is_started_reports_waiting_messages(exchange: Exchange) -> None:
    exchange.say(QueuesWatched("httpr", frozenset({exchange.queue().number})))
    exchange.send(AGENT, b"a")
    exchange.send("orders", b"b")
    expected = {(exchange.outgoing(AGENT).number, AGENT), (exchange.queue().number, "")}
    assert set(reported(exchange)) == expected
    exchange.ask(TakeOffline(0))
    assert hold(exchange) == hold(exchange, "orders") == []
    assert reported(exchange) == []
    exchange.ask(BringOnline(0))
    assert set(reported(exchange)) == expected
    exchange.restart()
    assert set(reported(exchange)) == {(exchange.outgoing(AGENT).number, AGENT)}


# -- queues of our own


def test_a_watched_queue_is_reported_once_until_the_carrier_looks(exchange: Exchange) -> None:
    number = exchange.queue().number
    exchange.say(QueuesWatched("httpr", frozenset({number, 999})))
    assert reported(exchange) == []
    exchange.send("orders", b"a")
    exchange.send("orders", b"b")
    assert reported(exchange) == [(number, "")]
    assert hold(exchange, "orders", most=1) == [b"a"]
    assert reported(exchange) == [(number, "")]
    assert hold(exchange, number, key=(1, 8)) == [b"b"]
    assert reported(exchange) == []
    exchange.send("orders", b"c")
    assert reported(exchange) == [(number, "")]


def test_messages_that_are_there_when_the_watch_begins_are_reported_at_once(exchange: Exchange) -> None:
    exchange.create("bills")
    number, bills = exchange.queue().number, exchange.queue("bills").number
    exchange.send("orders", b"a")
    exchange.say(QueuesWatched("httpr", frozenset({number})))
    assert reported(exchange) == [(number, "")]
    exchange.send("bills", b"b")
    exchange.say(QueuesWatched("httpr", frozenset({number, bills})))
    assert reported(exchange) == [(bills, "")]  # it was notified of the other one
    exchange.say(QueuesWatched("httpr", frozenset()))
    hold(exchange, "orders", "bills")
    exchange.send("orders", b"c")
    assert reported(exchange) == []


def test_every_message_that_becomes_available_in_a_watched_queue_is_reported(exchange: Exchange) -> None:
    exchange.create("strict", transactional=True)
    number, strict = exchange.queue().number, exchange.queue("strict").number
    exchange.say(QueuesWatched("httpr", frozenset({number, strict})))
    transaction = exchange.begin()
    exchange.send("strict", b"a", transaction=transaction)
    assert reported(exchange) == []
    exchange.ask(CommitTransaction(0, transaction))
    assert reported(exchange) == [(strict, "")]
    exchange.send("orders", b"late", delay=5_000_000)
    assert reported(exchange) == []
    exchange.advance(5)
    assert reported(exchange) == [(number, "")]
    assert hold(exchange, "orders") == [b"late"]
    exchange.say(ReservationsEnded("httpr", (KEY,), Outcome.TRY_LATER))
    assert reported(exchange) == [(number, "")]
    receipt = exchange.receive("orders", hold=5).receipt
    assert receipt
    assert hold(exchange, "orders") == []
    exchange.advance(5)
    assert reported(exchange) == [(number, "")]


def test_a_message_that_a_reader_gets_at_once_is_not_reported(exchange: Exchange) -> None:
    exchange.say(QueuesWatched("httpr", frozenset({exchange.queue().number})))
    exchange.receive("orders", timeout=None)
    exchange.send("orders", b"a")
    assert reported(exchange) == []
    exchange.send("orders", b"b")
    assert reported(exchange) == [(exchange.queue().number, "")]


def test_a_queue_that_goes_is_reported_no_longer(exchange: Exchange) -> None:
    exchange.say(QueuesWatched("httpr", frozenset({exchange.queue().number})))
    exchange.patient = True
    exchange.ask(DeleteQueue(0, "orders"))
    exchange.go_on()
    assert reported(exchange) == []


def test_expired_messages_are_not_reported() -> None:
    exchange = Exchange(sizes=Sizes(at_once=2))
    exchange.manual_carrier.connects = False
    exchange.send(AGENT, *[b"old"] * 5, time_to_be_received=5)
    exchange.now = type(exchange.now)(exchange.now + seconds(6))
    change(exchange, OutgoingEvent.CONNECTED)
    assert reported(exchange) == []
    assert exchange.outgoing(AGENT).counts.stored == 0
    check(exchange.state)


def test_each_carrier_that_watches_a_queue_is_notified_until_it_has_looked() -> None:
    one, two = (Carrier(name=name, claims=lambda _: False, takes_batches=True) for name in ("one", "two"))
    bench = Bench(carriers=(one, two))
    number = bench.queue().number

    def notified(*signals: Signal) -> list[str]:
        before = len(bench.signals)
        for signal in signals:
            bench.turns.append(bench.manager.on_signal(signal, bench.now))
        bench.send("orders", b"m")
        found = bench.signals[before:]
        return sorted(each.to for each in found if isinstance(each, MessagesWaiting))

    watch_both = [QueuesWatched(name, frozenset({number})) for name in ("one", "two")]
    assert notified(*watch_both) == ["one", "two"]
    assert notified() == []
    assert notified(ReservationWanted("one", (1, 1), (number,), 1, 1000)) == ["one"]
    assert notified() == []
    assert notified(
        QueuesWatched("one", frozenset()), ReservationWanted("two", (1, 1), (number,), 1, 1000)
    ) == ["two"]
