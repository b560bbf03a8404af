"""Messages from elsewhere: which are taken, which are refused and why."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.time import SECOND, later, seconds
from reliquary.queueing.events import AccessChange, ChangeAccess, FlowControl, ReceiveMessages, TakeOffline
from reliquary.queueing.message import (
    AuthenticationLevel,
    Message,
    MessageClass,
    MessagePrivacy,
    ObjectId,
)
from reliquary.queueing.queue import QueuePrivacy
from reliquary.queueing.security.principals import EVERYONE
from reliquary.queueing.security.rights import QueueRight
from reliquary.queueing.travel.transfer import ArrivalJudged, MessageArrived, Outcome
from tests.queueing.exchange import Exchange
from tests.queueing.manager_harness import NOON, check, message

TICKET = (1, 2)
STRANGER = UUID(int=7)
LATE = {"sent_time": NOON // SECOND - 10, "time_to_reach_queue": 5}


def judge(exchange: Exchange, destination: str = "orders", **attributes: object) -> ArrivalJudged:
    """What the carrier is told about a message it brings."""
    brought = message(b"a", identifier=ObjectId(STRANGER, 5), source_machine=STRANGER, **attributes)
    exchange.say(MessageArrived("clerk", TICKET, destination, brought))
    told = exchange.clerk.heard[-1]
    assert isinstance(told, ArrivalJudged)
    assert (told.carrier, told.ticket) == ("clerk", TICKET)
    return told


def test_a_message_that_arrives_keeps_its_identity_and_wakes_a_reader() -> None:
    exchange = Exchange()
    waiting = exchange.begin_asking(ReceiveMessages(0, "orders", timeout=seconds(5)))
    assert judge(exchange).outcome is Outcome.DELIVERED
    (delivered,) = exchange.answer_to(waiting).messages
    arrived: Message = delivered.message
    assert (arrived.body, arrived.source_machine) == (b"a", STRANGER)
    assert arrived.identifier == ObjectId(STRANGER, 5)


def test_a_message_that_was_taken_survives_a_restart() -> None:
    exchange = Exchange()
    judge(exchange)
    exchange.restart()
    assert exchange.bodies() == [b"a"]
    check(exchange.state)


@pytest.mark.spec("DM-023")
@pytest.mark.parametrize(
    ("destination", "attributes", "reason"),
    [
        ("nowhere", {}, MessageClass.NACK_BAD_DEST_QUEUE),
        ("DIRECT=OS:.\\private$\\nowhere", {}, MessageClass.NACK_BAD_DEST_QUEUE),
        ("DIRECT=", {}, MessageClass.NACK_BAD_DEST_QUEUE),
        ("system$;deadletter", {}, MessageClass.NACK_ACCESS_DENIED),
        ("system$;order-ack", {}, MessageClass.NACK_ACCESS_DENIED),
        ("strict", {}, MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE),
        ("orders", {"transaction": STRANGER}, MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE),
        ("narrow", {}, MessageClass.NACK_QUEUE_EXCEED_QUOTA),
        ("signed", {}, MessageClass.NACK_BAD_SIGNATURE),
        ("sealed", {}, MessageClass.NACK_BAD_ENCRYPTION),
        ("open", {"privacy": MessagePrivacy.BASE}, MessageClass.NACK_BAD_ENCRYPTION),
        ("guarded", {}, MessageClass.NACK_ACCESS_DENIED),
        ("orders", LATE, MessageClass.NACK_REACH_QUEUE_TIMEOUT),
    ],
)
def test_a_message_is_refused_with_the_reason(
    destination: str, attributes: dict[str, object], reason: MessageClass
) -> None:
    exchange = Exchange()
    exchange.create("strict", transactional=True)
    exchange.create("narrow", quota=0)
    exchange.create("signed", authentication=True)
    exchange.create("sealed", privacy=QueuePrivacy.BODY)
    exchange.create("open", privacy=QueuePrivacy.NONE)
    exchange.create("guarded")
    exchange.ask(ChangeAccess(0, "guarded", AccessChange.DENY, EVERYONE, QueueRight.WRITE_MESSAGE))
    told = judge(exchange, destination, **attributes)
    assert (told.outcome, told.reason) == (Outcome.REFUSED, reason)
    for path in ("orders", "strict", "narrow", "signed", "sealed", "open", "guarded"):
        assert exchange.bodies(path) == []


def test_a_message_that_is_what_its_queue_wants_is_taken() -> None:
    exchange = Exchange()
    exchange.create("careful", authentication=True, privacy=QueuePrivacy.BODY)
    claims = {"authentication": AuthenticationLevel.SIG30, "privacy": MessagePrivacy.ADVANCED}
    assert judge(exchange, "careful", **claims).outcome is Outcome.DELIVERED


def test_a_stream_s_message_is_taken_by_a_transactional_queue() -> None:
    exchange = Exchange()
    exchange.create("strict", transactional=True)
    assert judge(exchange, "strict", transaction=STRANGER).outcome is Outcome.DELIVERED
    assert exchange.bodies("strict") == [b"a"]


@pytest.mark.spec("DM-124", "DM-294", "DM-295")
def test_a_manager_that_takes_nothing_now_asks_to_try_later() -> None:
    exchange = Exchange()
    exchange.handle(FlowControl(throttled=True))
    assert judge(exchange).outcome is Outcome.TRY_LATER
    exchange.handle(FlowControl(throttled=False))
    exchange.handle(TakeOffline(0))
    assert judge(exchange).outcome is Outcome.TRY_LATER
    assert exchange.bodies() == []


def test_a_message_outside_its_ranges_is_refused() -> None:
    exchange = Exchange()
    assert judge(exchange, priority=9).outcome is Outcome.REFUSED


def test_a_message_that_comes_in_time_is_taken() -> None:
    exchange = Exchange()
    exchange.now = later(exchange.now, seconds(5))
    sent = exchange.now // SECOND - 5
    assert judge(exchange, sent_time=sent, time_to_reach_queue=5).outcome is Outcome.DELIVERED
