"""Tests of acknowledgements for messages that come from other managers or go to them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND
from reliquary.queueing.model.events import DeleteQueue, EndRead, PurgeQueue
from reliquary.queueing.model.message import (
    Acknowledgement,
    Delivery,
    Message,
    MessageClass,
    ObjectId,
    SequenceId,
)
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.travel.transfer import ReceiptDue
from reliquary.queueing.rules.destinations import route
from reliquary.queueing.rules.enqueue import enqueue, refused
from reliquary.queueing.rules.leave import leave
from reliquary.queueing.rules.losses import by_word
from reliquary.queueing.travel.loopback import Loopback
from tests.queueing.administration import ARRIVED, DEAD, FULL, TAKEN, ask, bench_with, classes, news
from tests.queueing.exchange import LOOPED, MANUAL, Exchange, carriers
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import check, walk

WEB = "DIRECT=HTTP://elsewhere/msmq/private$/orders"
FAR = "DIRECT=HTTP://far.example/msmq/private$/admin"

# -- from elsewhere

TRAVELLED = Message.of(
    identifier=ObjectId(UUID(int=77), 5),
    source_machine=UUID(int=77),
    body=b"m",
    delivery=Delivery.RECOVERABLE,
    acknowledgements=FULL,
    administration_queue="admin",
    negative_journaling=True,
    sent_time=1_700_000_000,
)


def refuse(bench: Bench, message: Message, reason: MessageClass, *, keep: bool = True) -> None:
    refused(bench.state, message, reason, bench.now, keep=keep)
    bench.manager._finish(bench.now)
    bench.state.draft.take()


@pytest.mark.parametrize("reason", [each for each in MessageClass if 0x8000 <= each < 0xC000])
def test_the_sender_of_a_message_that_was_refused_is_written_to(reason: MessageClass) -> None:
    bench = bench_with()
    refuse(bench, TRAVELLED, reason)
    (made,) = news(bench)
    assert (made.message_class, made.correlation, made.body) == (reason, TRAVELLED.identifier, b"m")
    (dead,) = walk(bench.queue(DEAD))
    assert dead.reason is reason
    check(bench.state)


def test_what_its_sender_keeps_is_no_dead_letter_here() -> None:
    bench = bench_with()
    streamed = TRAVELLED.changed(sequence=SequenceId(1, 1))
    refuse(bench, streamed, MessageClass.NACK_QUEUE_EXCEED_QUOTA)
    refuse(bench, TRAVELLED, MessageClass.NACK_QUEUE_EXCEED_QUOTA, keep=False)
    assert classes(bench) == [MessageClass.NACK_QUEUE_EXCEED_QUOTA] * 2
    assert bench.bodies(DEAD) == bench.bodies("system$;deadxact") == []


def test_a_sender_here_has_the_status_of_a_late_message_and_nothing_more() -> None:
    bench = bench_with()
    bench.advance(100)
    answer = ask(bench, b"m", time_to_reach_queue=1, sent_time=1_700_000_000)
    assert answer.status is HResult.IO_TIMEOUT
    assert classes(bench) == []


def test_a_local_sender_gets_only_the_status_of_a_full_queue() -> None:
    bench = bench_with(quota=1)
    assert ask(bench, b"x" * 2000).status is HResult.INSUFFICIENT_RESOURCES
    assert classes(bench) == []


@pytest.mark.spec("DM-063")
@pytest.mark.parametrize("how", ["receive", "purge"])
def test_the_last_word_on_a_message_of_a_stream_is_reported_to_the_protocol(how: str) -> None:
    bench = Bench(carriers=[MANUAL])
    stream = SequenceId(3, 4)
    known: dict[str, Any] = {
        "identifier": TRAVELLED.identifier,
        "source_machine": UUID(int=77),
        "sequence": stream,
    }
    bench.send("orders", b"m", sequence_number=9, final_ack_required=True, **known)
    bench.send("orders", b"not this one", sequence_number=10, **known)
    assert not bench.signals
    if how == "receive":
        bench.receive("orders", count=2)
    else:
        bench.ask(PurgeQueue(0, "orders"))
    reason = TAKEN if how == "receive" else MessageClass.NACK_QUEUE_PURGED
    (reported,) = bench.signals
    assert isinstance(reported, ReceiptDue)
    assert (reported.queue, reported.reason) == (bench.queue().number, reason)
    assert (reported.message.body, reported.message.sequence_number) == (b"m", 9)


# -- by SRMP

BY_SRMP = TRAVELLED.changed(soap_envelope="<se:Envelope/>", final_ack_required=True)


def arrive(message: Message, *, how: str = "", heard: bool = True) -> Bench:
    """Let a message come by SRMP, and leave its queue for this reason."""
    bench = Bench("orders", "admin", carriers=carriers() if heard else [])
    enqueue(bench.state, bench.queue(), (message,), bench.now, travelled=True)
    bench.manager._finish(bench.now)
    bench.timers["expiry", 0] = bench.now  # this was no turn, so the manager has not set it
    match how:
        case "receive":
            bench.receive("orders")
        case "purge":
            bench.ask(PurgeQueue(0, "orders"))
        case "delete":
            bench.ask(DeleteQueue(0, "orders"))
        case "reject":
            receipt = bench.receive("orders", hold=30).receipt
            bench.ask(EndRead(0, receipt, delete=True, reject=True))
        case "expire":
            bench.advance(60)
        case _:
            pass
    return bench


@pytest.mark.spec("SR-294")
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("receive", TAKEN),
        ("purge", MessageClass.NACK_QUEUE_PURGED),
        ("delete", MessageClass.NACK_QUEUE_DELETED),
        ("reject", MessageClass.NACK_RECEIVE_REJECTED),
        ("expire", MessageClass.NACK_RECEIVE_TIMEOUT),
    ],
)
def test_srmp_is_informed_how_a_message_it_brought_left_and_the_manager_writes_nothing(
    how: str, reason: MessageClass
) -> None:
    sent = Bench().now // SECOND
    message = msgspec.structs.replace(BY_SRMP, sent_time=sent, time_to_be_received=5)
    bench = arrive(message)
    assert bench.signals == []
    assert classes(bench) == []
    bench = arrive(message, how=how)
    (reported,) = bench.signals
    assert isinstance(reported, ReceiptDue)
    assert (reported.reason, reported.message.soap_envelope) == (reason, "<se:Envelope/>")
    assert classes(bench) == []
    check(bench.state)


@pytest.mark.spec("SR-242", "SR-299")
def test_what_srmp_brought_outside_any_stream_is_a_dead_letter_here() -> None:
    assert arrive(BY_SRMP, how="purge").bodies(DEAD) == [b"m"]
    assert arrive(BY_SRMP, how="receive").bodies(DEAD) == []
    streamed = BY_SRMP.changed(sequence=SequenceId(1, 1))
    assert arrive(streamed, how="purge").bodies(DEAD) == []


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({}, True),
        ({"final_ack_required": False}, False),
        ({"final_ack_required": False, "sequence": SequenceId(1, 1)}, True),
        ({"final_ack_required": False, "sequence": SequenceId(1, 1), "negative_journaling": False}, False),
        ({"message_class": MessageClass.ACK_RECEIVE}, False),
    ],
)
def test_srmp_is_notified_only_of_messages_that_want_a_receipt(
    changes: dict[str, Any], reported: bool
) -> None:
    bench = arrive(BY_SRMP.changed(**changes), how="receive")
    assert [type(signal) for signal in bench.signals] == [ReceiptDue] * reported
    assert arrive(BY_SRMP.changed(**changes), how="receive", heard=False).signals == []


# -- outgoing queues


def outgoing(bench: Bench) -> QueueState:
    queue = route(bench.state, "DIRECT=OS:there\\q", bench.now)
    assert isinstance(queue, QueueState)
    return queue


def send_away(bench: Bench, queue: QueueState, reason: MessageClass, **attributes: Any) -> None:
    """Put a message into an outgoing queue, which it leaves for this reason."""
    message = Message.of(
        body=b"m",
        **{"acknowledgements": tuple(Acknowledgement), "administration_queue": "admin"} | attributes,
    )
    enqueue(bench.state, queue, (message,), bench.now)
    bench.manager._finish(bench.now)
    leave(bench.state, queue, walk(queue), reason)
    bench.manager._finish(bench.now)
    bench.state.draft.take()


@pytest.mark.parametrize(
    ("reason", "reported"),
    [
        (MessageClass.ACK_REACH_QUEUE, None),
        (MessageClass.NACK_QUEUE_PURGED, MessageClass.NACK_PURGED),
        (MessageClass.NACK_QUEUE_DELETED, MessageClass.NACK_PURGED),
        (MessageClass.NACK_REACH_QUEUE_TIMEOUT, MessageClass.NACK_REACH_QUEUE_TIMEOUT),
        (MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER, MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER),
    ],
)
def test_an_outgoing_queue_reports_only_outcomes_that_its_destination_cannot(
    reason: MessageClass, reported: MessageClass | None
) -> None:
    bench = bench_with()
    send_away(bench, outgoing(bench), reason)
    assert classes(bench) == ([reported] if reported else [])
    check(bench.state)


@pytest.mark.spec("DM-049", "DM-050")
@pytest.mark.parametrize("fails", [False, True])
def test_what_was_sent_away_is_journaled_when_it_got_there_and_dead_when_it_did_not(fails: bool) -> None:
    bench = bench_with()
    reason = MessageClass.NACK_BAD_DEST_QUEUE if fails else MessageClass.ACK_REACH_QUEUE
    send_away(bench, outgoing(bench), reason, positive_journaling=True, negative_journaling=True)
    assert bench.bodies(DEAD) == ([b"m"] if fails else [])
    assert bench.bodies("system$;journal") == ([] if fails else [b"m"])
    (kept,) = walk(bench.queue(DEAD if fails else "system$;journal"))
    assert (kept.reason, kept.origin_path, kept.asks) == (reason, "DIRECT=OS:there\\q", 0)
    check(bench.state)


# -- there and back


@pytest.fixture
def exchange() -> Exchange:
    made = Exchange(Loopback())
    made.create("admin")
    return made


def round_trip(exchange: Exchange, destination: str = LOOPED, **attributes: Any) -> None:
    both = (Acknowledgement.FULL_REACH_QUEUE, Acknowledgement.FULL_RECEIVE)
    exchange.send(destination, b"m", acknowledgements=both, administration_queue="admin", **attributes)


@pytest.mark.spec("DM-049", "DM-056")
def test_a_message_that_goes_out_and_comes_in_is_acknowledged_and_journaled_once(exchange: Exchange) -> None:
    round_trip(exchange, positive_journaling=True, negative_journaling=True)
    assert classes(exchange) == [ARRIVED]
    assert exchange.bodies("system$;journal") == [b"m"]
    exchange.receive("orders")
    assert classes(exchange) == [ARRIVED, TAKEN]
    assert exchange.bodies(DEAD) == []
    check(exchange.state)


@pytest.mark.spec("DM-050", "DM-056")
@pytest.mark.parametrize(
    ("destination", "reason"),
    [
        ("DIRECT=OS:loopback\\private$\\nowhere", MessageClass.NACK_BAD_DEST_QUEUE),
        ("DIRECT=OS:loopback\\private$\\strict", MessageClass.NACK_NOT_TRANSACTIONAL_MESSAGE),
        ("DIRECT=OS:loopback\\private$\\small", MessageClass.NACK_QUEUE_EXCEED_QUOTA),
    ],
)
def test_a_message_that_is_refused_there_is_acknowledged_there_and_dead_here(
    exchange: Exchange, destination: str, reason: MessageClass
) -> None:
    exchange.create("strict", transactional=True)
    exchange.create("small", quota=0)
    round_trip(exchange, destination, positive_journaling=True, negative_journaling=True)
    assert classes(exchange) == [reason]
    assert exchange.bodies(DEAD) == [b"m"]
    assert exchange.bodies("system$;journal") == []
    check(exchange.state)


def test_a_traced_message_leaves_its_trail(exchange: Exchange) -> None:
    exchange.create("trail")
    trail = exchange.queue("trail").record.identifier
    exchange.send(LOOPED, b"m", tracing_requested=True, tracing_queue=trail)
    exchange.receive("orders")
    steps = [message.label.split()[1] for message in news(exchange, "trail")]
    assert sorted(steps) == ["delivered", "received", "sent"]


def test_an_acknowledgement_takes_the_way_of_its_queue(exchange: Exchange) -> None:
    away = "DIRECT=OS:loopback\\private$\\admin"
    exchange.send("orders", b"m", acknowledgements=FULL, administration_queue=away)
    exchange.receive("orders")
    assert classes(exchange) == [TAKEN]
    assert exchange.waiting(away) == []
    check(exchange.state)


def test_what_expires_on_its_way_is_acknowledged_by_its_source() -> None:
    bench = bench_with()
    bench.send(
        "DIRECT=OS:there\\q", b"m", acknowledgements=FULL, administration_queue="admin", time_to_reach_queue=5
    )
    bench.advance(10)
    assert classes(bench) == [MessageClass.NACK_REACH_QUEUE_TIMEOUT]
    check(bench.state)


# -- to a URL


@pytest.mark.spec("SR-199")
@pytest.mark.parametrize(
    "name", ["DIRECT=http://far.example/msmq/private$/admin", "MULTICAST=234.1.1.1:8001"]
)
@pytest.mark.parametrize("reason", [each for each in MessageClass if each >= 0x8000])
def test_what_no_receipt_of_srmp_can_say_is_not_sent_but_counted(reason: MessageClass, name: str) -> None:
    bench = bench_with()
    refuse(bench, TRAVELLED.changed(administration_queue=name), reason, keep=False)
    goes = name.startswith("DIRECT") and reason in (0x8001, 0x800C, 0xC000, 0xC001, 0xC002, 0xC004)
    assert [len(queue.order) for queue in bench.state.names.outgoing.values()] == [int(goes)]
    lost = by_word(bench.state.totals.lost)
    assert lost == ({} if goes else {"acknowledgement": 1})
    check(bench.state)


def test_the_sender_of_a_message_that_never_went_is_not_notified_over_http_and_a_warning_is_logged() -> None:
    bench = bench_with()
    bench.send(WEB, b"m", acknowledgements=FULL, administration_queue=FAR, time_to_reach_queue=5)
    bench.advance(6)
    (warning,) = bench.warnings
    assert warning.what == "copies not kept (acknowledgement)"
    assert warning.why == f"{FAR}: the sender cannot be notified over HTTP of class 0x8002"
