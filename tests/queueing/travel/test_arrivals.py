"""Tests messages from other managers: which are taken, which are refused and why."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND, later, seconds
from reliquary.queueing.model.events import (
    AccessChange,
    BringOnline,
    ChangeAccess,
    FlowControl,
    ReceiveMessages,
    TakeOffline,
)
from reliquary.queueing.model.message import (
    HOP_LIMIT,
    Acknowledgement,
    AuthenticationLevel,
    Delivery,
    Message,
    MessageClass,
    MessagePrivacy,
    ObjectId,
    SequenceId,
    size_of,
)
from reliquary.queueing.model.queue import QueuePrivacy
from reliquary.queueing.model.security.principals import EVERYONE
from reliquary.queueing.model.security.rights import QueueRight
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import ArrivalJudged, MessageArrived, Outcome, ReceiptDue
from tests.queueing.exchange import Exchange
from tests.queueing.manager_harness import NOON, message
from tests.queueing.state_checks import check

TICKET = (1, 2)
STRANGER = UUID(int=7)
LATE = {"sent_time": NOON // SECOND - 10, "time_to_reach_queue": 5}


def judge(exchange: Exchange, destination: str = "orders", **attributes: object) -> ArrivalJudged:
    """Return the answer to the carrier about a message that it brings."""
    brought = message(b"a", identifier=ObjectId(STRANGER, 5), source_machine=STRANGER, **attributes)
    exchange.say(MessageArrived("manual_carrier", TICKET, destination, brought))
    reported = exchange.manual_carrier.received[-1]
    assert isinstance(reported, ArrivalJudged)
    assert (reported.to, reported.ticket) == ("manual_carrier", TICKET)
    return reported


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
    judge(exchange, "nowhere")
    assert exchange.state.travel.taken == {"manual_carrier": 1}
    exchange.restart()
    assert exchange.bodies() == [b"a"]
    check(exchange.state)


@pytest.mark.spec("DM-023", "SR-189", "SR-236", "SR-238")
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
    reported = judge(exchange, destination, **attributes)
    assert (reported.outcome, reported.reason) == (Outcome.REFUSED, reason)
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


@pytest.mark.spec("DM-124", "DM-294", "DM-295", "SR-239")
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


@pytest.mark.spec("SR-193")
def test_a_message_may_be_taken_however_long_it_travelled() -> None:
    exchange = Exchange()
    old = message(b"old", identifier=ObjectId(STRANGER, 5), **LATE)
    exchange.say(MessageArrived("manual_carrier", TICKET, "orders", old, expires=False))
    assert exchange.bodies() == [b"old"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("private$/orders;journal", MessageClass.NACK_ACCESS_DENIED),
        ("system$;deadletter", MessageClass.NACK_ACCESS_DENIED),
        ("private$/missing", MessageClass.NACK_BAD_DEST_QUEUE),
        ("private$/%ff", MessageClass.NACK_BAD_DEST_QUEUE),
    ],
)
def test_by_url_nothing_gets_into_a_journal_or_a_system_queue(path: str, reason: MessageClass) -> None:
    exchange = Exchange(None, "orders", "orders;retry")
    assert judge(exchange, f"DIRECT=HTTP://localhost/msmq/{path}").reason is reason
    assert (
        judge(exchange, "DIRECT=HTTP://localhost/MSMQ/PRIVATE$/orders;retry?q").outcome is Outcome.DELIVERED
    )
    assert exchange.bodies("orders;retry") == [b"a"]


# -- by SRMP

ENVELOPE = "<se:Envelope/>"
STREAM = SequenceId(1, 1)
WEB = "DIRECT=HTTP://elsewhere/msmq/private$/orders"


@pytest.mark.spec("SR-190", "SR-191")
def test_a_message_of_a_stream_wants_a_transactional_queue_and_no_other_message_does() -> None:
    exchange = Exchange()
    exchange.create("strict", transactional=True)
    assert judge(exchange, "strict", sequence=STREAM).outcome is Outcome.DELIVERED
    assert judge(exchange, sequence=STREAM).reason is MessageClass.NACK_NOT_TRANSACTIONAL_QUEUE
    assert judge(exchange, "strict").reason is MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE


@pytest.mark.parametrize("destination", ["nowhere", "narrow", "strict"])
@pytest.mark.parametrize("envelope", ["", ENVELOPE])
def test_the_sender_of_an_srmp_message_gets_a_refusal_by_the_status_alone(
    destination: str, envelope: str
) -> None:
    exchange = Exchange(None, "orders", "admin")
    exchange.create("strict", transactional=True)
    exchange.create("narrow", quota=0)
    reported = judge(
        exchange,
        destination,
        soap_envelope=envelope,
        acknowledgements=(Acknowledgement.FULL_RECEIVE,),
        administration_queue="admin",
        final_ack_required=True,
        negative_journaling=True,
    )
    assert reported.outcome is Outcome.REFUSED
    assert len(exchange.bodies("admin")) == (not envelope)
    assert not any(isinstance(signal, ReceiptDue) for signal in exchange.manual_carrier.received)
    assert exchange.bodies("system$;deadletter") == []


@pytest.mark.parametrize("hops", [0, 7, HOP_LIMIT - 1])
def test_a_manager_that_passes_a_message_on_counts_the_hop(hops: int) -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    brought = message(b"a", identifier=ObjectId(STRANGER, 5), hops=hops)
    exchange.say(MessageArrived("manual_carrier", TICKET, WEB, brought))
    (position,) = exchange.outgoing(WEB).order.some(-1, 5)
    assert exchange.state.messages.get(position).hops == hops + 1


def test_a_message_that_goes_in_a_circle_is_refused_where_it_would_be_passed_on_once_more() -> None:
    exchange = Exchange()
    reported = judge(exchange, WEB, hops=HOP_LIMIT)
    assert (reported.outcome, reported.reason) == (Outcome.REFUSED, MessageClass.NACK_HOP_COUNT_EXCEEDED)
    assert [len(queue.order) for queue in exchange.state.names.outgoing.values()] in ([], [0])
    assert judge(exchange, hops=HOP_LIMIT).outcome is Outcome.DELIVERED  # here its way ends


@pytest.mark.spec("SR-186")
def test_a_message_that_is_passed_on_keeps_its_content_and_its_order_with_any_priority() -> None:
    exchange = Exchange()
    exchange.manual_carrier.connects = False
    for number, priority in enumerate((0, 7, 3), start=1):
        passed = message(
            b"%d" % number,
            identifier=ObjectId(STRANGER, number),
            priority=priority,
            sequence=STREAM,
            sequence_number=number,
            soap_envelope=f"<{number}/>",
            destination_queue="DIRECT=http://as.it.was/msmq/q",
            negative_journaling=True,
            positive_journaling=True,
        )
        exchange.say(MessageArrived("manual_carrier", TICKET, WEB, passed))
    exchange.happen(OutgoingEvent.CONNECTED, ConnectionStatus.ESTABLISHED, WEB)
    for _ in range(3):
        exchange.end(Outcome.DELIVERED)
    sent = [signal.message for signal in exchange.manual_carrier.sending]
    assert [each.soap_envelope for each in sent] == ["<1/>", "<2/>", "<3/>"]
    assert {each.destination_queue for each in sent} == {"DIRECT=http://as.it.was/msmq/q"}
    assert [each.identifier.uniquifier for each in sent] == [1, 2, 3]
    assert exchange.bodies("system$;journal") == exchange.bodies("system$;deadxact") == []
    check(exchange.state)


@pytest.mark.parametrize("online", [True, False])
def test_what_a_carrier_writes_itself_gets_an_identity_and_takes_its_way(online: bool) -> None:
    exchange = Exchange()
    if not online:
        exchange.handle(TakeOffline(0))
    receipt = Message.of(message_class=MessageClass.ACK_REACH_QUEUE, soap_header="<deliveryReceipt/>")
    exchange.say(MessageArrived("manual_carrier", TICKET, WEB, receipt))
    judged = ArrivalJudged("manual_carrier", TICKET, Outcome.DELIVERED, MessageClass.ACK_REACH_QUEUE)
    assert judged in exchange.manual_carrier.received
    if not online:
        exchange.handle(BringOnline(0))
    (sent,) = exchange.manual_carrier.sending
    assert sent.message.destination_queue == WEB
    assert sent.message.identifier.lineage == exchange.state.identity().identifier
    assert sent.message.sent_time == exchange.now // SECOND


def filled(full: str) -> Exchange:
    """Return a manager without room: its quota is used up, or it is throttled."""
    exchange = Exchange(quota=1)
    exchange.manual_carrier.connects = False
    sent = exchange.send("orders", bytes(1024 - size_of(message(b""))))
    assert sent.status is HResult.OK
    exchange.handle(FlowControl(full == "throttled", "the disk is almost full"))
    if full == "quota":
        exchange.say(MessageArrived("manual_carrier", (9, 9), WEB, durable_receipt()))  # it exceeds the quota
    return exchange


def durable_receipt() -> Message:
    """Return a receipt that its carrier writes only once."""
    return Message.of(
        message_class=MessageClass.ACK_RECEIVE, delivery=Delivery.RECOVERABLE, soap_header="<receipt/>"
    )


@pytest.mark.spec("DM-187")
@pytest.mark.parametrize("full", ["quota", "throttled"])
def test_a_durable_receipt_is_taken_without_room_and_an_express_one_is_not(full: str) -> None:
    exchange = filled(full)
    exchange.say(MessageArrived("manual_carrier", TICKET, WEB, durable_receipt()))
    express = Message.of(message_class=MessageClass.ACK_REACH_QUEUE, soap_header="<receipt/>")
    exchange.say(MessageArrived("manual_carrier", (1, 3), WEB, express))
    verdicts = [each.outcome for each in exchange.manual_carrier.received if isinstance(each, ArrivalJudged)]
    assert verdicts[-2:] == [Outcome.DELIVERED, Outcome.TRY_LATER]
    exchange.restart()
    assert len(exchange.outgoing(WEB).order) == (2 if full == "quota" else 1)


@pytest.mark.parametrize("full", ["quota", "throttled"])
def test_a_refusal_that_its_carrier_has_to_send_waits_for_room(full: str) -> None:
    exchange = filled(full)
    brought = message(b"a", identifier=ObjectId(STRANGER, 5), source_machine=STRANGER)
    for is_sent in (False, True):
        exchange.say(MessageArrived("manual_carrier", TICKET, "nowhere", brought, refusal_is_sent=is_sent))
    verdicts = [each.outcome for each in exchange.manual_carrier.received if isinstance(each, ArrivalJudged)]
    assert verdicts[-2:] == [Outcome.REFUSED, Outcome.TRY_LATER]


def test_a_manager_that_is_not_ready_asks_to_try_later() -> None:
    exchange = Exchange()
    exchange.stop()
    assert judge(exchange).outcome is Outcome.TRY_LATER
    exchange.restart(start=False)
    assert judge(exchange).outcome is Outcome.TRY_LATER
    exchange.start()
    assert judge(exchange).outcome is Outcome.DELIVERED
    assert exchange.bodies() == [b"a"]


def test_a_message_that_comes_in_time_is_taken() -> None:
    exchange = Exchange()
    exchange.now = later(exchange.now, seconds(5))
    sent = exchange.now // SECOND - 5
    assert judge(exchange, sent_time=sent, time_to_reach_queue=5).outcome is Outcome.DELIVERED


# -- what a carrier decides


def bring(exchange: Exchange, **options: Any) -> ArrivalJudged:
    """Return the answer about a message for a small queue, whose sender wants a report."""
    brought = message(
        bytes(2000),
        identifier=ObjectId(STRANGER, 5),
        source_machine=STRANGER,
        administration_queue="acks",
        acknowledgements=(Acknowledgement.NEG_ARRIVAL,),
        negative_journaling=True,
    )
    exchange.say(MessageArrived("manual_carrier", TICKET, "small", brought, **options))
    reported = exchange.manual_carrier.received[-1]
    assert isinstance(reported, ArrivalJudged)
    return reported


def full() -> Exchange:
    """Return a manager with a queue that has no room."""
    exchange = Exchange()
    exchange.create("small", quota=1)
    exchange.create("acks")
    return exchange


def test_a_message_that_its_carrier_refuses_is_acknowledged_and_not_stored() -> None:
    exchange = full()
    judged = bring(exchange, refusal=MessageClass.NACK_BAD_SIGNATURE)
    assert (judged.outcome, judged.reason) == (Outcome.REFUSED, MessageClass.NACK_BAD_SIGNATURE)
    assert exchange.bodies("small") == []
    assert len(exchange.bodies("acks")) == 1


def test_a_refusal_that_is_to_be_silent_is_not_acknowledged() -> None:
    exchange = full()
    reason = MessageClass.NACK_BAD_SIGNATURE
    assert bring(exchange, refusal=reason, silent=frozenset({reason})).outcome is Outcome.REFUSED
    assert exchange.bodies("acks") == []


@pytest.mark.parametrize("keep", [True, False])
def test_a_message_without_room_becomes_a_dead_letter_here_if_its_carrier_says_so(keep: bool) -> None:
    exchange = full()
    assert bring(exchange, keep_if_full=keep).reason is MessageClass.NACK_QUEUE_EXCEED_QUOTA
    assert len(exchange.bodies("system$;deadletter")) == int(keep)
    assert len(exchange.bodies("acks")) == 1
