"""Tests a message as header fields, and both ways."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from msgspec.structs import replace

from reliquary.net.api import messages as api
from reliquary.protocols.httpr.attributes import NOT_CARRIED, NOT_READ
from reliquary.protocols.httpr.codec.values import Carried
from reliquary.protocols.httpr.fields import chosen_header, fields_of
from reliquary.protocols.httpr.message_decode import decode_message
from reliquary.protocols.httpr.message_encode import encode_message
from reliquary.queueing.model.events import SendMessages
from reliquary.queueing.model.message import (
    ATTRIBUTES,
    FOREVER,
    Delivery,
    Message,
    ObjectId,
    StoredBody,
)
from reliquary.queueing.model.travel.transfer import BatchArrived
from reliquary.wire.security import encode_sid, parse_sid
from tests.protocols.httpr.httpr_messages import (
    HERE,
    HOME,
    OTHER,
    PLAIN,
    PLAIN_HEADER,
    TARGET,
    passed,
    sendable,
    taken,
    written,
)
from tests.queueing.full_messages import FULL
from tests.queueing.manager_harness import Bench


@pytest.mark.spec("HR-085", "HR-107", "HR-112")
def test_a_usual_message_is_written_in_the_order_of_the_grammar() -> None:
    assert encode_message(PLAIN) == (PLAIN_HEADER, b"two lamps")
    target, message = decode_message(Carried(PLAIN_HEADER, b"two lamps"))
    assert target == TARGET
    assert message == PLAIN.changed(carrier_header=PLAIN_HEADER)


@given(sendable())
def test_what_an_application_sends_is_unchanged_at_the_other_end(message: Message) -> None:
    assert passed(message) == message
    assert encode_message(taken(*encode_message(message))) == encode_message(message)


def test_every_attribute_is_carried_or_it_is_said_why_not() -> None:
    plain = FULL.changed(
        destination_queue=PLAIN.destination_queue,
        administration_queue=PLAIN.destination_queue,
        administration_queues=(PLAIN.destination_queue,),
        delay=7,
        carrier_header="",
        stored_body=None,
    )
    there = passed(plain)
    lost = {name for name in ATTRIBUTES if getattr(there, name) != getattr(plain, name)}
    left = {name for name in (*NOT_CARRIED, *NOT_READ) if getattr(plain, name) != getattr(Message(), name)}
    assert lost == left
    assert {*NOT_CARRIED, *NOT_READ} <= set(ATTRIBUTES)
    assert not set(NOT_CARRIED) & set(NOT_READ)


@pytest.mark.spec("HR-109")
@pytest.mark.httpr("T37")
def test_a_message_of_the_api_passes_two_managers_and_leaves_the_second_as_it_left_the_first() -> None:
    first, second = Bench(), Bench("orders")
    given_message = api.MessageIn(text="two lamps", label="grün, 100%", expires=60, httpr={"app-x": "1"})
    first.ask(SendMessages(0, TARGET, (api.message_of(given_message),)))
    (queue,) = first.state.names.outgoing.values()
    (position,) = queue.order.some(-1, 5)
    sent = first.state.messages.get(position)
    header, body = encode_message(sent, HOME)
    _, message = decode_message(Carried(header, body))
    second.manager.on_signal(BatchArrived("test", 1, ("orders",), (message,), OTHER), second.now)
    (arrived,) = second.queue("orders").order.some(-1, 5)
    there = second.state.messages.get(arrived)
    assert (there.identifier, there.label, there.body) == (sent.identifier, "grün, 100%", b"two lamps")
    assert encode_message(there, HOME) == (header, body)
    assert fields_of(there)["app-x"] == "1"


@pytest.mark.parametrize(
    ("header", "counted"),
    [
        ("app-x:1\r\n", "app-x:1\r\napp-reliquary-hops:2\r\n"),
        ("app-reliquary-hops:1\r\napp-x:1\r\n", "app-x:1\r\napp-reliquary-hops:2\r\n"),
        ("App-Reliquary-Hops:1\r\n", "app-reliquary-hops:2\r\n"),
        ("\r\n", "app-reliquary-hops:2\r\n"),
    ],
    ids=["not counted yet", "counted before", "in other letters", "without fields"],
)
def test_a_message_that_is_passed_on_counts_its_hops_behind_what_came(header: str, counted: str) -> None:
    message = PLAIN.changed(carrier_header=header, hops=2)
    assert encode_message(message)[0] == counted
    assert decode_message(Carried(counted, b""))[1].hops == 2


@pytest.mark.spec("HR-111")
@pytest.mark.parametrize(
    ("message", "fields"),
    [
        (replace(PLAIN, delivery=Delivery.EXPRESS), {"class-of-service": "datagram"}),
        (PLAIN.changed(transaction=OTHER), {"class-of-service": "assured"}),
        (replace(PLAIN, priority=7), {"priority": "7"}),
        (replace(PLAIN, time_to_be_received=60), {"expiry": "60"}),
        (replace(PLAIN, body_type=8), {"content-type": "text/plain; charset=utf-16le"}),
        (PLAIN.changed(correlation=ObjectId(OTHER, 7)), {"correlation-id": f"{OTHER}.7"}),
        (PLAIN.changed(sender=encode_sid(parse_sid("S-1-5-21-1"))), {"user-id": "S-1-5-21-1"}),
        (replace(PLAIN, label="grün, 100% "), {"app-reliquary-label": "gr%C3%BCn%2C 100%25%20"}),
        (replace(PLAIN, label=" "), {"app-reliquary-label": "%20"}),
        (PLAIN.changed(application_deadletter_queue="dead"), {"app-reliquary-deadletter-queue": "dead"}),
    ],
)
def test_each_attribute_has_its_field(message: Message, fields: dict[str, str]) -> None:
    found = written(message)
    assert {name: found.get(name) for name in fields} == fields


def test_the_priority_of_most_and_what_has_no_end_goes_without_saying() -> None:
    found = written(PLAIN.changed(priority=4, time_to_reach_queue=FOREVER, destination_queue="", sent_time=0))
    assert set(found) == {"class-of-service", "message-id", "content-type"}


@pytest.mark.parametrize(
    ("queue", "reply"),
    [
        ("DIRECT=HTTPR://a/b#c", "httpr://a/b#c"),
        ("httprs://a/b#c", "httprs://a/b#c"),
        ("orders", "httpr://here:8480/httpr/mq#orders"),
        ("private$\\two words", "httpr://here:8480/httpr/mq#private$/two%20words"),
    ],
)
def test_an_answer_finds_its_way_to_the_queue_that_is_named_for_it(queue: str, reply: str) -> None:
    message = PLAIN.changed(response_queue=queue)
    assert written(message, HOME)["reply-uri"] == reply
    there = taken(*encode_message(message, HOME))
    assert there.response_queue == "DIRECT=" + re.sub("^httprs?", lambda found: found[0].upper(), reply)
    assert written(PLAIN.changed(destination_queue=there.response_queue))["target-uri"] == reply


def test_a_local_queue_is_not_named_to_managers_that_could_not_find_it() -> None:
    message = PLAIN.changed(
        response_queue="orders", administration_queue="orders", response_queues=("orders",)
    )
    assert encode_message(message) == (PLAIN_HEADER, b"two lamps")
    assert "httpr://here" not in str(written(PLAIN.changed(response_queue="DIRECT=OS:a\\q"), HOME))


def test_a_body_in_pieces_is_left_to_its_sender() -> None:
    message = PLAIN.changed(body=b"", stored_body=StoredBody(1, 2_000_000, 8))
    assert encode_message(message) == (PLAIN_HEADER, b"")
    stored = decode_message(Carried(PLAIN_HEADER, stored=StoredBody(5, 2_000_000, 8)))[1]
    assert stored.stored_body == StoredBody(5, 2_000_000, 8)


def test_what_an_application_chose_joins_what_is_known_of_its_message() -> None:
    chosen = chosen_header(
        {
            "Content-Type": "text/xml; charset=utf-8",
            "message-id": "order-7",
            "correlation-id": "request-6",
            "encoding": "integer-reversed",
            "user-id": "anna",
            "app-x": "1",
        }
    )
    message = PLAIN.changed(carrier_header=chosen, correlation=ObjectId(OTHER, 7))
    header, _ = encode_message(message)
    assert header.split("\r\n") == [
        f"target-uri:{TARGET}",
        "class-of-service:reliable",
        "priority:3",
        "user-id:anna",
        "encoding:integer-reversed",
        "message-id:order-7",
        "correlation-id:request-6",
        "put-time:06 Nov 1994 08:49:37",
        "content-type:text/xml; charset=utf-8",
        "app-x:1",
        "app-reliquary-reach:345600",
        f"app-reliquary-message-id:{HERE}.12345",
        f"app-reliquary-correlation-id:{OTHER}.7",
        "",
    ]
    there = taken(header)
    assert (there.identifier, there.correlation) == (message.identifier, message.correlation)


def test_no_application_says_who_it_is_where_the_manager_knows_it() -> None:
    known = PLAIN.changed(carrier_header=chosen_header({"user-id": "anna"}))
    known = known.changed(sender=encode_sid(parse_sid("S-1-5-21-1")))
    assert written(known)["user-id"] == "S-1-5-21-1"
    assert "user-id" not in written(PLAIN.changed(sender=b"no SID"))
