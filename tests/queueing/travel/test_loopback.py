"""Tests the loop-back: through an outgoing queue and back into a queue of our own."""

from __future__ import annotations

import pytest

from reliquary.base.time import seconds
from reliquary.queueing.model.events import (
    CommitTransaction,
    DeleteQueue,
    FlowControl,
    PauseQueue,
    ReceiveMessages,
    ResumeQueue,
    TakeOffline,
)
from reliquary.queueing.model.facts import MessagesStored, PositionsRemoved
from reliquary.queueing.model.message import Delivery, MessageClass
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.travel.loopback import Loopback
from tests.queueing.exchange import ELSEWHERE, LOOPED, Exchange
from tests.queueing.state_checks import check, durable


@pytest.fixture
def exchange() -> Exchange:
    return Exchange(Loopback())


def test_a_message_goes_out_and_comes_in_again_with_its_identity(exchange: Exchange) -> None:
    sent = exchange.send(LOOPED, b"a", label="round trip")
    (delivered,) = exchange.receive("orders").messages
    assert delivered.message.identifier == sent.identifiers()[0]
    assert (delivered.message.body, delivered.message.label) == (b"a", "round trip")
    assert exchange.waiting(LOOPED) == []
    link = exchange.link(LOOPED)
    assert (link.state, link.next_hops, link.delivered) == (OutgoingState.CONNECTED, ("loopback",), 1)
    check(exchange.state)


def test_a_reader_that_waits_is_served(exchange: Exchange) -> None:
    waiting = exchange.begin_asking(ReceiveMessages(0, "orders", timeout=seconds(5)))
    exchange.send(LOOPED, b"a")
    assert exchange.answer_to(waiting).messages[0].message.body == b"a"


def test_arrival_and_leaving_are_facts_of_one_turn(exchange: Exchange) -> None:
    exchange.send(LOOPED, b"a")
    transfers = [turn for turn in exchange.turns if any(isinstance(f, PositionsRemoved) for f in turn.facts)]
    (turn,) = transfers
    assert [type(fact) for fact in turn.facts] == [MessagesStored, PositionsRemoved]


def test_a_crash_in_between_neither_loses_nor_doubles_a_message(exchange: Exchange) -> None:
    exchange.patient = True
    exchange.send(LOOPED, b"a", b"b", b"c")
    exchange.flush()
    exchange.go_on(1)  # the first transfer, which no flush covers
    assert exchange.bodies() == [b"a"]
    exchange.restart(crash=True)
    exchange.go_on()
    assert exchange.bodies() == [b"a", b"b", b"c"]
    assert exchange.waiting(LOOPED) == []
    check(exchange.state)


def test_order_is_kept_within_each_priority(exchange: Exchange) -> None:
    exchange.handle(TakeOffline(0))
    for number, priority in enumerate((3, 7, 3, 0, 7)):
        exchange.send(LOOPED, b"%d" % number, priority=priority)
    exchange.restart()
    assert exchange.bodies() == [b"1", b"4", b"0", b"2", b"3"]
    arrived = [fact for turn in exchange.turns for fact in turn.facts if isinstance(fact, MessagesStored)]
    assert [fact.messages[0].body for fact in arrived[-5:]] == [b"1", b"4", b"0", b"2", b"3"]


@pytest.mark.spec("DM-292", "DM-293")
def test_a_paused_queue_stays_paused_after_a_restart_until_it_is_resumed(exchange: Exchange) -> None:
    exchange.send(LOOPED, b"a")
    exchange.ask(PauseQueue(0, LOOPED))
    exchange.send(LOOPED, b"b")
    before = durable(exchange.state)
    exchange.restart(start=False)
    assert durable(exchange.state) == before
    exchange.start()
    assert exchange.bodies() == [b"a"]
    exchange.ask(ResumeQueue(0, LOOPED))
    assert exchange.bodies() == [b"a", b"b"]
    check(exchange.state)


@pytest.mark.spec("DM-294", "DM-295")
def test_a_throttled_manager_lets_messages_wait_in_the_outgoing_queue(exchange: Exchange) -> None:
    exchange.ask(PauseQueue(0, _sent_before(exchange)))
    exchange.send(LOOPED, b"b")
    exchange.handle(FlowControl(throttled=True))
    exchange.ask(ResumeQueue(0, LOOPED))
    assert exchange.waiting(LOOPED) == [b"b"]
    exchange.handle(FlowControl(throttled=False))
    exchange.advance(1)
    assert exchange.bodies() == [b"a", b"b"]


def _sent_before(exchange: Exchange) -> str:
    exchange.send(LOOPED, b"a")
    return LOOPED


def test_a_message_to_a_missing_local_queue_is_a_dead_letter_if_it_requests_it(exchange: Exchange) -> None:
    exchange.send(r"DIRECT=OS:LoopBack\private$\nowhere", b"a", negative_journaling=True)
    (position,) = exchange.queue("system$;deadletter").order.some(-1, 10)
    assert position.reason is MessageClass.NACK_BAD_DEST_QUEUE
    exchange.ask(DeleteQueue(0, "orders"))
    exchange.send(LOOPED, b"b")
    assert exchange.waiting(LOOPED) == []


def test_an_express_message_leaves_no_trace_on_disk(exchange: Exchange) -> None:
    exchange.send(LOOPED, b"a", delivery=Delivery.EXPRESS)
    assert exchange.bodies() == [b"a"]
    exchange.restart()
    assert exchange.bodies() == []


def test_the_loopback_serves_its_own_destinations_only(exchange: Exchange) -> None:
    exchange.send(ELSEWHERE, b"a")
    exchange.send(r"DIRECT=TCP:10.0.0.1\private$\orders", b"a")
    assert exchange.waiting(ELSEWHERE) == [b"a"]
    assert exchange.link(ELSEWHERE).state is OutgoingState.WAITING
    assert exchange.bodies() == []


def test_a_deep_outgoing_queue_drains_turn_by_turn(exchange: Exchange) -> None:
    exchange.ask(PauseQueue(0, _sent_before(exchange)))
    exchange.send(LOOPED, *(b"%d" % number for number in range(300)))
    exchange.patient = True
    exchange.handle(ResumeQueue(0, LOOPED))
    turns = 0
    while exchange.pending:
        exchange.go_on(1)
        turns += 1
        assert all(len(turn.facts) <= 2 for turn in exchange.turns[-1:])
    assert turns >= 300
    assert len(exchange.queue().order) == 301


def test_a_message_goes_as_a_packet(exchange: Exchange) -> None:
    exchange.send(LOOPED, b"a", response_queue="answers", allow_peek_when_locked=True, extension=b"e")
    (delivered,) = exchange.receive("orders").messages
    arrived = delivered.message
    assert arrived.response_queue == r"DIRECT=OS:.\private$\answers"
    assert arrived.extension == b"e"
    assert not arrived.allow_peek_when_locked  # no packet carries it


def test_a_message_that_fits_into_no_packet_is_refused_permanently(exchange: Exchange) -> None:
    exchange.send(LOOPED, b"a", response_queue="a;b;c", negative_journaling=True)
    (position,) = exchange.queue("system$;deadletter").order.some(-1, 10)
    assert position.reason is MessageClass.NACK_COULD_NOT_ENCRYPT
    exchange.send(LOOPED, b"b")
    assert exchange.bodies() == [b"b"]
    check(exchange.state)


def test_a_message_of_a_transaction_arrives_in_a_transactional_queue(exchange: Exchange) -> None:
    exchange.create("strict", transactional=True)
    transaction = exchange.begin()
    looped = r"DIRECT=OS:loopback\private$\strict"
    exchange.send(looped, b"a", transaction=transaction, priority=0)
    exchange.send(looped, b"b", transaction=transaction, priority=7)
    exchange.ask(CommitTransaction(0, transaction))
    assert exchange.bodies("strict") == [b"a", b"b"]
    exchange.send(looped, b"c")
    assert exchange.bodies("strict") == [b"a", b"b"]
    assert exchange.link(looped).refused == 1


@pytest.mark.spec("DM-049")
def test_the_source_journals_once_and_only_what_was_delivered(exchange: Exchange) -> None:
    exchange.handle(TakeOffline(0))
    exchange.send(LOOPED, b"a", positive_journaling=True)
    exchange.send(r"DIRECT=OS:loopback\private$\nowhere", b"b", positive_journaling=True)
    assert exchange.bodies("system$;journal") == []
    exchange.restart()
    assert exchange.bodies("system$;journal") == [b"a"]
    assert exchange.bodies() == [b"a"]
    check(exchange.state)
