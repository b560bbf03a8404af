"""Tests messages to and from JSON, without a server."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import msgspec
import pytest

from reliquary.base.faults import UsageError
from reliquary.net.api.messages import REACH, MessageIn, message_of, moment, shown
from reliquary.net.identity.origin import differs
from reliquary.protocols.wsrm.kept import Kept, carrier_header_of
from reliquary.queueing.model.events import Delivered
from reliquary.queueing.model.message import (
    Acknowledgement,
    AuthenticationLevel,
    Delivery,
    Message,
    MessageClass,
    ObjectId,
    Position,
)
from reliquary.queueing.model.tables import MESSAGES, message_key
from tests.queueing.full_messages import FULL


def test_a_message_that_says_nothing_is_durable_and_otherwise_the_default() -> None:
    assert message_of(MessageIn()) == Message(delivery=Delivery.RECOVERABLE)
    assert Message().time_to_reach_queue == REACH


@pytest.mark.parametrize("given", [{"body": b"x"}, {"text": "x", "label": "l", "priority": 7, "expires": 5}])
def test_a_usual_message_has_no_rare_attributes(given: dict[str, Any]) -> None:
    assert message_of(MessageIn(**given)).more is None


RARE: dict[str, Any] = {
    "reach": 5,
    "journal": True,
    "deadletter": False,
    "correlation": f"{UUID(int=3)}\\7",
    "tag": 1,
    "extension": b"e",
    "response_queue": "answers",
    "administration_queue": "admin",
    "acknowledgements": (Acknowledgement.FULL_RECEIVE,),
    "deadletter_queue": "dead",
    "tracing_queue": str(UUID(int=9)),
    "delay": 1.5,
    "authentication": AuthenticationLevel.XML_SIG,
    "httpr": {"app-x": "1"},
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "a=1",
}
USUAL = {"body", "text", "label", "priority", "expires", "durable", "body_type"}


def test_every_field_of_a_request_is_usual_or_rare() -> None:
    assert {*RARE} | USUAL == {*MessageIn.__struct_fields__}


@pytest.mark.parametrize("name", RARE)
def test_a_rare_field_alone_gives_the_message_rare_attributes(name: str) -> None:
    given = {name: RARE[name]}
    if name == "acknowledgements":
        given["administration_queue"] = "admin"
    if name == "tracestate":
        given["traceparent"] = RARE["traceparent"]
    assert message_of(MessageIn(**given)).more is not None


@pytest.mark.parametrize("message", [Message(ObjectId(UUID(int=7), 1)), FULL.changed(stored_body=None)])
def test_a_message_from_the_disk_is_shown_as_one_from_memory(message: Message) -> None:
    """Numbers of a row are other objects than the defaults, which are left out by what they are."""
    key, position = message_key(1), Position(1, 1, 1, 1)
    read = MESSAGES.decode(key, MESSAGES.encode(key, message))
    assert msgspec.json.encode(shown(Delivered(position, read))) == msgspec.json.encode(
        shown(Delivered(position, message))
    )


def test_moments_are_written_in_utc_up_to_the_year_9999() -> None:
    assert moment(0) == "1970-01-01T00:00:00Z"
    assert moment(1_700_000_000_123_456) == "2023-11-14T22:13:20.123456Z"
    assert moment(10**40) == "9999-12-31T23:59:59Z"


@pytest.mark.parametrize(
    ("reason", "own", "word"),
    [
        pytest.param(MessageClass.NORMAL, 0, None, id="an ordinary message"),
        pytest.param(MessageClass.NACK_QUEUE_PURGED, 0, "nack-queue-purged", id="a dead letter"),
        pytest.param(MessageClass.NORMAL, MessageClass.ACK_RECEIVE, "ack-receive", id="an acknowledgement"),
        pytest.param(MessageClass.NORMAL, 0x1234, "4660", id="a class of the application's own"),
    ],
)
def test_the_class_is_a_word(reason: MessageClass, own: int, word: str | None) -> None:
    position = Position(lookup_id=1, message=1, size=1, arrived=1, reason=reason)
    message = Message.of(identifier=ObjectId(UUID(int=7), 1), message_class=own)
    assert msgspec.to_builtins(shown(Delivered(position, message))).get("class") == word


def test_a_copy_tells_where_it_came_from() -> None:
    position = Position(
        1, 1, 1, 1, reason=MessageClass.ACK_RECEIVE, origin=3, origin_path="HERE\\private$\\a"
    )
    reported = msgspec.to_builtins(shown(Delivered(position, Message())))
    assert (reported["class"], reported["origin"]) == ("ack-receive", "a")
    assert "origin" not in msgspec.to_builtins(shown(Delivered(Position(1, 1, 1, 1), Message())))


def test_what_a_message_asks_for_goes_in_and_comes_out() -> None:
    asked = {
        "acknowledgements": ["full-receive", "pos-arrival"],
        "administration_queue": "admin",
        "deadletter_queue": "dead",
        "tracing_queue": str(UUID(int=9)),
    }
    message = message_of(msgspec.convert(asked, MessageIn))
    assert message.acknowledgements == (Acknowledgement.FULL_RECEIVE, Acknowledgement.POS_ARRIVAL)
    assert (message.tracing_requested, message.application_deadletter_queue) == (True, "dead")
    out = msgspec.json.decode(msgspec.json.encode(shown(Delivered(Position(1, 1, 1, 1), message))))
    assert {name: out[name] for name in asked} == asked


def test_a_signature_is_asked_for_and_shown_with_who_made_it() -> None:
    asked = {"text": "x", "authentication": "xmlsig"}
    message = message_of(msgspec.convert(asked, MessageIn))
    assert message.authentication is AuthenticationLevel.XML_SIG
    came = message.changed(sender_certificate=b"der")
    out = msgspec.json.decode(msgspec.json.encode(shown(Delivered(Position(1, 1, 1, 1), came))))
    assert (out["authentication"], out["sender_certificate"]) == ("xmlsig", "ZGVy")
    unsigned = msgspec.json.encode(shown(Delivered(Position(1, 1, 1, 1), message_of(MessageIn()))))
    assert not {"authentication", "sender_certificate"} & msgspec.json.decode(unsigned).keys()


def test_a_message_that_came_by_ws_rm_shows_its_addresses() -> None:
    kept = carrier_header_of(Kept(to="http://here/wsrm/orders", message_id="any text"))
    message = Message.of(label="urn:act", carrier_header=kept)
    out = msgspec.json.decode(msgspec.json.encode(shown(Delivered(Position(1, 1, 1, 1), message))))
    assert out["wsrm"] == {"to": "http://here/wsrm/orders", "action": "urn:act", "message_id": "any text"}
    assert "httpr" not in out


def test_fields_of_httpr_are_chosen_and_shown_and_left_out_where_there_are_none() -> None:
    message = message_of(msgspec.convert({"text": "x", "httpr": {"App-X": "1"}}, MessageIn))
    out = msgspec.json.decode(msgspec.json.encode(shown(Delivered(Position(1, 1, 1, 1), message))))
    assert out["httpr"] == {"app-x": "1"}
    came = message.changed(carrier_header="Priority: 9\r\nApp-X:2\r\n")
    out = msgspec.json.decode(msgspec.json.encode(shown(Delivered(Position(1, 1, 1, 1), came))))
    assert out["httpr"] == {"priority": "9", "app-x": "2"}
    for given in (MessageIn(), MessageIn(httpr={})):
        plain = msgspec.json.encode(shown(Delivered(Position(1, 1, 1, 1), message_of(given))))
        assert "httpr" not in msgspec.json.decode(plain)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"authentication": "sig20"}, "authentication is none or xmlsig, not sig20"),
        ({"acknowledgements": ["full-receive"]}, "no administration_queue is named for them"),
        ({"tracing_queue": "trail"}, "tracing_queue is the id of a queue, a GUID, not 'trail'"),
        ({"response_queue": "DIRECT=XX:a"}, "response_queue is the name of a queue: "),
        ({"administration_queue": "a\\b\\c\\d"}, "administration_queue is the name of a queue: "),
        ({"deadletter_queue": "a;b;c"}, "deadletter_queue is the name of a queue: "),
        ({"response_queue": "httpr://there"}, "response_queue is the name of a queue: "),
        ({"httpr": {"priority": "9"}}, "an HTTPR field is one of content-type, "),
        ({"traceparent": "00-1-2-01"}, "traceparent and tracestate are those of W3C Trace Context"),
        ({"tracestate": "a=1"}, "tracestate means nothing without traceparent"),
    ],
)
def test_a_malformed_name_is_refused(given: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        message_of(msgspec.convert(given, MessageIn))


@pytest.mark.parametrize(
    "name",
    [
        *(
            "answers",
            "OTHER\\private$\\q",
            "other/private$/q",
            ".\\public",
            "DIRECT=OS:there\\q",
            "a;sub",
            "",
        ),
        *("httpr://there/httpr/mq#q", "DIRECT=HTTPR://there/httpr/mq#q"),
    ],
)
def test_a_name_of_any_manager_is_taken(name: str) -> None:
    assert message_of(MessageIn(response_queue=name)).response_queue == name


def test_an_origin_is_ours_or_foreign() -> None:
    assert not differs(b"https://Queue.example:8480", b"queue.example:8480")
    assert differs(b"http://queue.example", b"queue.example:8480")
    assert differs(b"", b"queue.example")


@pytest.mark.parametrize(
    ("given", "expected"), [(None, (False, False)), (True, (True, False)), (False, (False, True))]
)
def test_a_sender_may_want_a_dead_letter_or_none_or_leave_it_open(
    given: bool | None, expected: tuple[bool, bool]
) -> None:
    message = message_of(MessageIn(body=b"a", deadletter=given))
    assert (message.negative_journaling, message.discard_refused) == expected
