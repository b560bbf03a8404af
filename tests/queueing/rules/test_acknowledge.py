"""Tests of which acknowledgements a message asks for, and of what an acknowledgement contains."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
import pytest

from reliquary.queueing.model.message import (
    FOREVER,
    Acknowledgement,
    Delivery,
    Message,
    MessageClass,
    MessagePrivacy,
    ObjectId,
    SequenceId,
)
from reliquary.queueing.model.queue import Outgoing, Queue, QueueType
from reliquary.queueing.rules import acknowledge
from reliquary.queueing.rules.acknowledge import (
    ACKNOWLEDGED,
    ANSWERS,
    ASKS,
    AT_THE_SOURCE,
    FINAL,
    JOURNALED,
    NEG_ARRIVAL,
    NEG_RECEIVE,
    POS_ARRIVAL,
    POS_RECEIVE,
    TRACED,
    acknowledgement,
    asked,
    asked_in,
)

ALL = frozenset(Acknowledgement)
ARRIVAL = frozenset({Acknowledgement.POS_ARRIVAL, Acknowledgement.FULL_REACH_QUEUE})
RECEIVE = frozenset({Acknowledgement.POS_RECEIVE, Acknowledgement.FULL_RECEIVE})
NO_ARRIVAL = frozenset(
    {
        Acknowledgement.NEG_ARRIVAL,
        Acknowledgement.NACK_REACH_QUEUE,
        Acknowledgement.FULL_REACH_QUEUE,
        Acknowledgement.NACK_RECEIVE,
        Acknowledgement.FULL_RECEIVE,
    }
)
NO_RECEIVE = frozenset(
    {Acknowledgement.NEG_RECEIVE, Acknowledgement.NACK_RECEIVE, Acknowledgement.FULL_RECEIVE}
)
SILENT: frozenset[Acknowledgement] = frozenset()


def reported_by(message_class: MessageClass) -> frozenset[Acknowledgement]:
    """Return what a class answers by its value: negative from 0x8000 on, about the receive with 0x4000."""
    if message_class in (MessageClass.NORMAL, MessageClass.REPORT, MessageClass.ORDER_ACK):
        return SILENT
    if message_class.is_failure:
        return NO_RECEIVE if message_class & 0x4000 else NO_ARRIVAL
    return RECEIVE if message_class & 0x4000 else ARRIVAL


def a_queue(**attributes: Any) -> Queue:
    given = {"kind": QueueType.PRIVATE, **attributes}
    return Queue(
        number=1,
        identifier=UUID(int=1),
        pathname="HERE\\private$\\q",
        qualified_pathname="HERE\\private$\\q",
        create_time=0,
        modify_time=0,
        **given,
    )


@pytest.mark.spec("DM-056")
def test_every_class_and_every_request_have_their_verdict() -> None:
    assert set(ASKS) == ALL
    assert set(ANSWERS) == set(MessageClass)


@pytest.mark.spec("DM-056")
@pytest.mark.parametrize("message_class", MessageClass)
@pytest.mark.parametrize("request_", Acknowledgement)
def test_an_acknowledgement_is_sent_only_to_senders_that_asked_for_its_class(
    message_class: MessageClass, request_: Acknowledgement
) -> None:
    wanted = bool(ASKS[request_] & ANSWERS[message_class])
    assert wanted == (request_ in reported_by(message_class))


@pytest.mark.parametrize(
    ("request_", "on_the_wire"),
    [
        (Acknowledgement.POS_ARRIVAL, 1),
        (Acknowledgement.POS_RECEIVE, 2),
        (Acknowledgement.NEG_ARRIVAL, 4),
        (Acknowledgement.NEG_RECEIVE, 8),
        (Acknowledgement.NACK_REACH_QUEUE, 4),
        (Acknowledgement.FULL_REACH_QUEUE, 5),
        (Acknowledgement.NACK_RECEIVE, 12),
        (Acknowledgement.FULL_RECEIVE, 14),
    ],
)
def test_the_bits_are_those_of_the_packet(request_: Acknowledgement, on_the_wire: int) -> None:
    assert ASKS[request_] == on_the_wire


def test_the_bits_do_not_overlap() -> None:
    bits = [POS_ARRIVAL, POS_RECEIVE, NEG_ARRIVAL, NEG_RECEIVE, TRACED, FINAL, JOURNALED]
    assert sum(bits) == 0x7F
    assert all(bit.bit_count() == 1 for bit in bits)
    assert sum(bits[:4]) == ACKNOWLEDGED


def test_a_message_asks_for_all_it_names() -> None:
    both = (Acknowledgement.POS_ARRIVAL, Acknowledgement.NEG_RECEIVE)
    assert asked(Message.of(acknowledgements=both, administration_queue="admin")) == POS_ARRIVAL | NEG_RECEIVE
    assert asked(Message.of(acknowledgements=both, administration_queues=("admin",))) == 9


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(Message(), id="a plain one"),
        pytest.param(Message.of(administration_queue="admin"), id="one that asks for none"),
        pytest.param(
            Message.of(acknowledgements=(Acknowledgement.FULL_RECEIVE,)), id="one that names no queue"
        ),
        pytest.param(Message.of(tracing_requested=True), id="one that names no tracing queue"),
        pytest.param(Message.of(tracing_queue=UUID(int=1)), id="one that is not to be traced"),
        pytest.param(Message.of(final_ack_required=True), id="one outside any stream"),
    ],
)
def test_a_message_asks_for_nothing(message: Message) -> None:
    assert asked(message) == 0


@pytest.mark.parametrize("message_class", set(MessageClass) - {MessageClass.NORMAL})
def test_no_signal_reports_news(message_class: MessageClass) -> None:
    """An acknowledgement of an acknowledgement would never end."""
    message = Message.of(
        message_class=message_class,
        acknowledgements=tuple(Acknowledgement),
        administration_queue="admin",
        tracing_requested=True,
        tracing_queue=UUID(int=1),
    )
    assert asked(message) == 0
    assert asked(message.changed(message_class=0x0100)) == ACKNOWLEDGED | TRACED


@pytest.mark.spec("DM-063")
@pytest.mark.parametrize("why", ["final_ack_required", "positive_journaling", "negative_journaling"])
def test_a_message_of_a_stream_may_want_a_final_acknowledgement(why: str) -> None:
    stream = SequenceId(1, 1)
    flags: dict[str, Any] = {why: True}
    assert asked(Message.of(sequence=stream, **flags)) == FINAL
    assert asked(Message.of(sequence=stream)) == 0
    for reason in MessageClass:
        reported = reason.is_failure or reason is MessageClass.ACK_RECEIVE
        assert bool(ANSWERS[reason] & FINAL) == reported


ENVELOPE = "<se:Envelope/>"
BY_SRMP: list[tuple[dict[str, Any], int]] = [
    ({}, 0),
    ({"acknowledgements": tuple(Acknowledgement), "administration_queue": "admin"}, 0),
    ({"final_ack_required": True}, FINAL),
    ({"negative_journaling": True}, 0),
    ({"sequence": SequenceId(1, 1)}, 0),
    ({"sequence": SequenceId(1, 1), "positive_journaling": True}, 0),
    ({"sequence": SequenceId(1, 1), "negative_journaling": True}, FINAL),
    ({"tracing_requested": True, "tracing_queue": UUID(int=1)}, TRACED),
]


@pytest.mark.spec("SR-294")
@pytest.mark.parametrize(("attributes", "asks"), BY_SRMP)
def test_a_message_from_srmp_is_reported_to_srmp_and_the_tracing_queue_only(
    attributes: dict[str, Any], asks: int
) -> None:
    assert asked(Message.of(soap_envelope=ENVELOPE, **attributes)) == asks


def test_a_message_that_is_only_passed_on_is_journaled_and_acknowledged_by_others() -> None:
    queue = a_queue(outgoing=Outgoing(destination="DIRECT=HTTP://there/msmq/q"))
    passed = EVERYTHING.changed(soap_envelope=ENVELOPE, final_ack_required=True)
    assert asked_in(queue, passed) == TRACED


EVERYTHING = Message.of(
    acknowledgements=tuple(Acknowledgement),
    administration_queue="admin",
    tracing_requested=True,
    tracing_queue=UUID(int=1),
    positive_journaling=True,
)


@pytest.mark.parametrize(
    ("queue", "asks"),
    [
        pytest.param(a_queue(), ACKNOWLEDGED | TRACED, id="a destination"),
        pytest.param(a_queue(kind=QueueType.PUBLIC), ACKNOWLEDGED | TRACED, id="a public queue"),
        pytest.param(a_queue(kind=QueueType.SYSTEM), 0, id="a system queue"),
        pytest.param(a_queue(is_journal=True), 0, id="a journal"),
        pytest.param(
            a_queue(outgoing=Outgoing(destination="DIRECT=OS:there\\q")),
            NEG_ARRIVAL | NEG_RECEIVE | TRACED | JOURNALED,
            id="an outgoing queue",
        ),
    ],
)
def test_only_destinations_acknowledge_what_went_well(queue: Queue, asks: int) -> None:
    assert asked_in(queue, EVERYTHING) == asks


def test_what_is_said_of_a_message_at_its_source_is_of_a_message_that_did_not_arrive_in_time() -> None:
    for destination, source in AT_THE_SOURCE.items():
        assert destination.is_failure
        assert source.is_failure
        assert source not in AT_THE_SOURCE


ORIGINAL = Message.of(
    identifier=ObjectId(UUID(int=7), 42),
    body=b"the body",
    body_type=8,
    label="a label",
    application_tag=99,
    priority=7,
    delivery=Delivery.RECOVERABLE,
    acknowledgements=(Acknowledgement.FULL_RECEIVE,),
    administration_queue="admin",
    positive_journaling=True,
    negative_journaling=True,
    tracing_requested=True,
    tracing_queue=UUID(int=1),
    time_to_be_received=5,
    extension=b"ext",
)


@pytest.mark.spec("DM-056")
@pytest.mark.parametrize("delivery", Delivery)
def test_an_acknowledgement_says_what_it_is_about(delivery: Delivery) -> None:
    original = msgspec.structs.replace(ORIGINAL, delivery=delivery)
    assert acknowledgement(original, MessageClass.ACK_RECEIVE, "admin", "DIRECT=OS:here\\q") == Message.of(
        message_class=MessageClass.ACK_RECEIVE,
        correlation=ObjectId(UUID(int=7), 42),
        label="a label",
        application_tag=99,
        delivery=delivery,
        time_to_reach_queue=FOREVER,
        time_to_be_received=FOREVER,
        destination_queue="admin",
        response_queue="DIRECT=OS:here\\q",
    )


@pytest.mark.parametrize("reason", [each for each in MessageClass if ANSWERS[each]])
def test_only_a_negative_one_brings_the_body_back(reason: MessageClass) -> None:
    made = acknowledgement(ORIGINAL, reason, "admin", "")
    assert (made.body, made.body_type) == ((b"the body", 8) if reason.is_failure else (b"", 0))
    assert asked(made) == 0


def test_what_was_encrypted_is_not_sent_back() -> None:
    secret = ORIGINAL.changed(privacy=MessagePrivacy.ADVANCED)
    assert acknowledgement(secret, MessageClass.NACK_QUEUE_PURGED, "admin", "").body == b""


def test_an_acknowledgement_names_the_destination_of_the_message() -> None:
    addressed = ORIGINAL.changed(destination_queue="PUBLIC=1")
    made = acknowledgement(addressed, MessageClass.ACK_RECEIVE, "admin", "DIRECT=OS:here\\q")
    assert made.response_queue == "PUBLIC=1"


def test_each_administration_queue_is_named_once() -> None:
    message = Message.of(administration_queue="a", administration_queues=("b", "a", "", "b"))
    assert acknowledge.names(message) == ["a", "b"]
