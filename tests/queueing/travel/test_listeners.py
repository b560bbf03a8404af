"""Tests queues that listen to multicast addresses: what they get, and how protocols get the addresses."""

from __future__ import annotations

from uuid import UUID

import msgspec
import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import (
    ChangeQueue,
    CommitTransaction,
    DeleteQueue,
    FlowControl,
    PrepareTransaction,
    ReceiveMessages,
    SendMessages,
    TakeOffline,
)
from reliquary.queueing.model.message import MessageClass, ObjectId, SequenceId
from reliquary.queueing.model.names.formats import MulticastName, parse_single
from reliquary.queueing.model.travel.transfer import ArrivalJudged, MessageArrived, Outcome
from reliquary.queueing.travel.listeners import listening_to
from tests.queueing.answers import everything
from tests.queueing.exchange import Exchange
from tests.queueing.manager_harness import Bench, message
from tests.queueing.state_checks import check, durable

GROUP, OTHER = "234.1.1.1:8001", "234.1.1.2:8001"
STRANGER = UUID(int=7)


def judge(exchange: Exchange, address: str = GROUP, **attributes: object) -> tuple[Outcome, MessageClass]:
    """Return the answer to the carrier about a message that was sent to an address."""
    name = f"MULTICAST={address}"
    known = {"identifier": ObjectId(STRANGER, 5), "source_machine": STRANGER, "destination_queue": name}
    brought = message(b"tick", **known | attributes)
    exchange.say(MessageArrived("manual_carrier", (1, 0), name, brought))
    reported = exchange.manual_carrier.received[-1]
    assert isinstance(reported, ArrivalJudged)
    return reported.outcome, reported.reason


def listening(**queues: str) -> Exchange:
    """Return an exchange whose queues listen to these addresses."""
    exchange = Exchange()
    for path, address in queues.items():
        assert exchange.create(path, multicast_address=address).status is HResult.OK
    return exchange


# -- what they get


@pytest.mark.spec("SR-184", "SR-005")
def test_every_queue_that_listens_gets_a_copy_and_no_other_does() -> None:
    exchange = listening(a=GROUP, b=GROUP, c=OTHER)
    assert judge(exchange) == (Outcome.DELIVERED, MessageClass.ACK_REACH_QUEUE)
    assert [exchange.bodies(path) for path in ("a", "b", "c", "orders")] == [[b"tick"], [b"tick"], [], []]
    (first,) = exchange.ask(ReceiveMessages(0, "a")).messages
    assert first.message.identifier == ObjectId(STRANGER, 5)
    assert exchange.bodies("b") == [b"tick"]
    exchange.restart()
    assert exchange.bodies("b") == [b"tick"]
    check(exchange.state)


@pytest.mark.spec("SR-184")
def test_what_has_no_listener_is_refused_and_leaves_nothing() -> None:
    exchange = listening(c=OTHER)
    before = everything(exchange.state)
    assert judge(exchange, soap_envelope="<e/>") == (Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE)
    assert everything(exchange.state) == before


def test_a_transactional_queue_gets_nothing_by_multicast() -> None:
    exchange = Exchange()
    exchange.create("strict", transactional=True, multicast_address=GROUP)
    assert judge(exchange) == (Outcome.REFUSED, MessageClass.NACK_BAD_DEST_QUEUE)
    assert judge(exchange, sequence=SequenceId(1, 1))[0] is Outcome.REFUSED
    assert exchange.manual_carrier.listening == [frozenset()]


def test_one_queue_that_takes_its_copy_is_enough() -> None:
    exchange = listening(b=GROUP)
    exchange.create("narrow", multicast_address=GROUP, quota=0)
    exchange.create("signed", multicast_address=GROUP, authentication=True)
    assert judge(exchange)[0] is Outcome.DELIVERED
    assert [exchange.bodies(path) for path in ("b", "narrow", "signed")] == [[b"tick"], [], []]
    exchange.ask(DeleteQueue(0, "b"))
    assert judge(exchange) == (Outcome.REFUSED, MessageClass.NACK_QUEUE_EXCEED_QUOTA)
    exchange.handle(FlowControl(throttled=True))
    assert judge(exchange)[0] is Outcome.TRY_LATER
    exchange.handle(TakeOffline(0))
    assert judge(exchange)[0] is Outcome.TRY_LATER


def test_what_is_sent_to_the_address_from_here_goes_out_and_not_straight_to_the_queue() -> None:
    exchange = listening(a=GROUP)
    exchange.ask(SendMessages(0, f"MULTICAST={GROUP}", (message(b"tick"),)))
    assert exchange.bodies("a") == []
    assert exchange.sent() == [b"tick"]


# -- who is notified


def test_the_addresses_are_reported_when_the_manager_is_ready_and_when_they_change() -> None:
    exchange = Exchange()
    reported = exchange.manual_carrier.listening
    assert reported == [frozenset()]
    exchange.create("a", multicast_address=GROUP)
    assert reported[1:] == [frozenset({GROUP})]
    exchange.create("b", multicast_address=GROUP)
    exchange.create("c")
    assert len(reported) == 2  # no more than before
    exchange.ask(ChangeQueue(0, "b", {"multicast_address": OTHER}))
    assert reported[2:] == [frozenset({GROUP, OTHER})]
    exchange.ask(DeleteQueue(0, "a"))
    assert reported[3:] == [frozenset({OTHER})]
    exchange.ask(ChangeQueue(0, "b", {"label": "still listens"}))
    exchange.ask(ChangeQueue(0, "b", {"multicast_address": None}))
    assert reported[4:] == [frozenset()]
    exchange.create("a", multicast_address=GROUP)
    reported.clear()
    exchange.restart(start=False)
    assert reported == []
    exchange.start()
    assert reported == [frozenset({GROUP})]


def test_a_manager_that_waits_for_outcomes_listens_when_it_is_ready() -> None:
    exchange = Exchange(in_doubt_wait=60)
    exchange.create("a", multicast_address=GROUP)
    transaction = exchange.begin()
    exchange.send("orders", b"in doubt", transaction=transaction)
    exchange.ask(PrepareTransaction(0, transaction, single_phase=False))
    exchange.manual_carrier.listening.clear()
    exchange.restart()
    assert exchange.manual_carrier.listening == []
    exchange.ask(CommitTransaction(0, transaction))
    assert exchange.manual_carrier.listening == [frozenset({GROUP})]


def test_a_queue_with_an_unchanged_address_reports_nothing() -> None:
    exchange = listening(a=GROUP)
    exchange.manual_carrier.listening.clear()
    exchange.ask(ChangeQueue(0, "a", {"label": "an equal address"}))
    assert exchange.manual_carrier.listening == []


def test_nothing_is_reported_without_a_listener() -> None:
    bench = Bench()
    bench.create("a", multicast_address=GROUP)
    assert bench.signals == []
    assert not bench.state.travel.listeners_changed


def test_listeners_are_known_after_a_restart_and_removed_with_the_queue() -> None:
    exchange = listening(a=GROUP, b=GROUP)
    name = parse_single(f"MULTICAST={GROUP}")
    assert isinstance(name, MulticastName)
    before, paths = durable(exchange.state), [exchange.queue("a").number, exchange.queue("b").number]
    exchange.restart(start=False)
    assert durable(exchange.state) == before
    assert [queue.number for queue in listening_to(exchange.state, name)] == paths
    exchange.start()
    exchange.ask(DeleteQueue(0, "a"))
    assert [queue.number for queue in listening_to(exchange.state, name)] == paths[1:]
    exchange.ask(DeleteQueue(0, "b"))
    assert exchange.state.travel.listeners == {}


# -- which addresses


def test_an_address_is_kept_in_its_one_spelling() -> None:
    bench = Bench()
    assert bench.create("a", multicast_address=" 234.1.1.1:08001").queue.settings.multicast_address == GROUP
    changed = bench.ask(ChangeQueue(0, "orders", {"multicast_address": "234.1.1.1:08001"}))
    assert changed.queue.settings.multicast_address == GROUP
    without = bench.ask(ChangeQueue(0, "orders", {"multicast_address": ""}))
    assert without.queue.settings.multicast_address is None


@pytest.mark.parametrize("address", ["10.0.0.1:8001", "234.1.1.1", "234.1.1.1:0", "anywhere"])
def test_what_is_no_address_is_refused_and_changes_nothing(address: str) -> None:
    bench = Bench()
    before = everything(bench.state)
    for answer in (
        bench.create("a", multicast_address=address),
        bench.ask(ChangeQueue(0, "orders", {"multicast_address": address})),
    ):
        assert answer.status is HResult.INVALID_PARAMETER
        assert "a multicast address is 224.0.0.0 to 239.255.255.255" in answer.why
    assert everything(bench.state) == before


def test_a_store_with_an_address_that_was_never_looked_at_opens() -> None:
    exchange = Exchange()
    record = exchange.queue().record
    settings = msgspec.structs.replace(record.settings, multicast_address="whatever")
    apply(exchange.state, facts.QueueChanged(msgspec.structs.replace(record, settings=settings)))
    exchange.restart()
    assert exchange.state.travel.listeners == {}
    exchange.ask(ChangeQueue(0, "orders", {"multicast_address": GROUP}))
    assert list(exchange.state.travel.listeners) == [GROUP]
