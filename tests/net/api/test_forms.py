"""Tests which form a request carries and wants, and what MessagePack may hold."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.net.api.forms import MOST, Bodies, Form, forms_of, preferred, read_body
from reliquary.net.api.messages import FIELDS_LIMIT, MessageIn, message_of
from reliquary.net.api.send import _messages
from reliquary.net.http import Request
from reliquary.queueing.model.message import Acknowledgement, AuthenticationLevel
from reliquary.queueing.rules.checks import COUNT_LIMIT
from tests.net.api.harness import Harness, on, play


def request(body: bytes, *fields: tuple[bytes, bytes]) -> Request:
    no_handler: object = None
    return Request("POST", "/", b"", list(fields), body, 1, True, no_handler)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (b"application/json", Form.JSON),
        (b"application/msgpack", Form.PACKED),
        (b"Application/MsgPack; charset=x", Form.PACKED),
        (b"application/octet-stream", Form.RAW),
        (b"application/json;q=0.5, application/msgpack", Form.PACKED),
        (b"application/json, application/msgpack", Form.JSON),
        (b"application/msgpack;q=0", Form.JSON),
        (b"application/msgpack;q=nothing, application/octet-stream;q=0.1", Form.RAW),
        (b"text/html, */*", Form.JSON),
        (b"application/x-www-form-urlencoded", Form.JSON),
        (b"", Form.JSON),
    ],
)
def test_a_media_type_names_its_form(value: bytes, form: Form) -> None:
    assert preferred(value) is form
    assert forms_of(request(b"", (b"Host", b"x"), (b"Content-Type", value)))[0] is form
    assert forms_of(request(b"", (b"ACCEPT", value)))[1] is form


def test_without_a_header_all_is_json() -> None:
    assert forms_of(request(b"")) == (Form.JSON, Form.JSON)


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    count: int = 1


def test_a_body_is_read_in_the_form_it_has_and_may_be_missing() -> None:
    bodies = Bodies(Asked)
    packed = (b"content-type", b"application/msgpack")
    assert read_body(bodies, request(b'{"count":2}')) == Asked(2)
    assert read_body(bodies, request(msgspec.msgpack.encode({"count": 3}), packed)) == Asked(3)
    assert read_body(bodies, request(b"")) == read_body(bodies, request(b"", packed)) == Asked()
    with pytest.raises(msgspec.DecodeError):
        read_body(bodies, request(b'{"count":2}', packed))


def test_a_field_that_is_misspelled_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `cuont`; did you mean `count`"):
        read_body(Bodies(Asked), request(b'{"cuont":2}'))
    with pytest.raises(msgspec.ValidationError, match=r"unknown field `anything`$"):
        read_body(Bodies(Asked), request(b'{"anything":2}'))


def test_fields_of_records_inside_a_body_are_known_too() -> None:
    async def scene(harness: Harness) -> None:
        await harness.create("orders")
        for body in ({"txt": "a"}, [{"text": "a"}, {"lable": "b"}]):
            refused = await harness.refused("POST", on("orders", "messages"), body)
            assert refused[:2] == (400, "INVALID_PARAMETER")
            assert "; did you mean `" in refused[2]

    play(scene)


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
span = st.floats(1, 1e6) | st.integers(1, 1_000_000)
messages = st.builds(
    MessageIn,
    body=st.binary(max_size=300) | st.none(),
    label=text,
    priority=st.integers(-(2**40), 2**40),
    expires=st.none() | span,
    reach=span,
    durable=st.booleans(),
    journal=st.booleans(),
    deadletter=st.none() | st.booleans(),
    correlation=st.just("")
    | st.builds(lambda guid, number: f"{guid}\\{number}", st.uuids(), st.integers(0, 0xFFFFFFFF)),
    tag=st.integers(0, 0xFFFFFFFF),
    body_type=st.integers(0, 0xFFFFFFFF),
    extension=st.binary(max_size=40),
    response_queue=st.sampled_from(["", "answers", "DIRECT=OS:there\\q"]),
    administration_queue=st.just("admin"),
    acknowledgements=st.lists(st.sampled_from(Acknowledgement), max_size=4).map(tuple),
    deadletter_queue=st.sampled_from(["", "dead"]),
    tracing_queue=st.just("") | st.uuids().map(str),
    delay=st.just(0) | span,
    authentication=st.sampled_from([AuthenticationLevel.NONE, AuthenticationLevel.XML_SIG]),
    httpr=st.none() | st.dictionaries(st.from_regex(r"app-[a-z]{1,5}", fullmatch=True), st.just("x")),
    traceparent=st.just("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    tracestate=st.sampled_from(["", "a=1,b=2"]),
)
"""Every attribute but `text`, which is another way to give the body."""


@given(messages)
def test_json_and_messagepack_are_decoded_to_equal_messages(message: MessageIn) -> None:
    plain = _messages.json.decode(msgspec.json.encode(message))
    packed = _messages.packed.decode(msgspec.msgpack.encode(message))
    assert isinstance(plain, MessageIn)
    assert isinstance(packed, MessageIn)
    assert message_of(packed) == message_of(plain) == message_of(message)


def test_the_messages_of_the_property_have_every_attribute() -> None:
    assert {*MessageIn.__struct_fields__} - {"text"} == {*messages.wrapped_strategy.kwargs}  # type: ignore[attr-defined]


NOT_COUNTED = b"\xff\xff\xff\xff"


@pytest.mark.parametrize(
    "body",
    [
        b"\xdd" + (COUNT_LIMIT + 1).to_bytes(4) + b"\x80" * (COUNT_LIMIT + 1),
        b"\xdd" + NOT_COUNTED,
        b"\x81\xa5httpr\xde" + (FIELDS_LIMIT + 1).to_bytes(2),
        b"\x91\x81\xa5httpr\xdf" + NOT_COUNTED,
    ],
)
def test_what_is_too_long_is_refused_by_its_length_before_it_is_read(body: bytes) -> None:
    with pytest.raises(msgspec.ValidationError, match="of length <="):
        _messages.packed.decode(body)


def test_a_list_that_is_not_there_costs_no_memory() -> None:
    with pytest.raises(msgspec.DecodeError, match="truncated"):
        _messages.packed.decode(b"\x81\xb0acknowledgements\xdd" + NOT_COUNTED)
    assert MOST.max_length == 500_000


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"\xc1", "MessagePack data is malformed"),
        (b"", "Input data was truncated"),
        (b"\x81\xa5other\x01", "Object contains unknown field `other`"),
        (b"\x81\xa4body\xa1x", "Expected `bytes | null`, got `str`"),
        (b"\x81\xa5label\xa2\xff\xff", "can't decode byte 0xff"),
        (b"\x81\xa5delay\xcb\x7f\xf8\0\0\0\0\0\0", "delay is 0 to 4294967295 seconds, not nan"),
        (b"\x81\xa5reach\xcb\x7f\xf0\0\0\0\0\0\0", "reach is 1 to 4294967295 seconds, not inf"),
        (b"{}", "Expected `object | array`, got `int`"),
    ],
)
def test_messagepack_that_is_bad_is_refused_in_the_form_of_every_refusal(body: bytes, why: str) -> None:
    async def scene(harness: Harness) -> None:
        headers = ((b"content-type", b"application/msgpack"), (b"accept", b"application/msgpack"))
        answer = await harness.client.request("POST", "/api/v1" + on("orders", "messages"), body, headers)
        assert (answer.status, answer.header(b"content-type")) == (400, b"application/json")
        refusal = msgspec.json.decode(answer.body)
        assert refusal["code"] == "INVALID_PARAMETER"
        assert why in refusal["error"]
        assert await harness.texts("orders") == []

    play(scene)
