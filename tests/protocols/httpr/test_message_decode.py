"""Tests header fields as a message."""

from __future__ import annotations

from contextlib import suppress

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reliquary.protocols.httpr import message_decode, message_encode
from reliquary.protocols.httpr.attributes import MESSAGE_ID, NOT_CARRIED, NOT_READ, READ
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import Carried, ErrorNumber
from reliquary.protocols.httpr.fields import LONGEST_REMEMBERED, REMEMBERED, fields_of
from reliquary.protocols.httpr.message_decode import decode_message
from reliquary.protocols.httpr.message_encode import encode_message
from reliquary.queueing.model.message import (
    FOREVER,
    NO_GUID,
    NO_OBJECT,
    Acknowledgement,
    Delivery,
    Message,
    ObjectId,
    check,
)
from tests.protocols.httpr.httpr_messages import (
    HERE,
    HOME,
    OTHER,
    PLAIN,
    PLAIN_HEADER,
    taken,
)

_names = st.sampled_from(
    (
        *("target-uri", "message-id", "Message-Id", "correlation-id", "put-time", "priority", "app-x"),
        *(f"app-reliquary-{name}" for name in ("label", "message-id", "correlation-id", "source")),
    )
)
_values = st.one_of(
    st.sampled_from(
        [f"{HERE}.7", f" {OTHER}.8\t", f"{HERE}.07", "06 Nov 1994 08:49:37", "4", str(OTHER), "", "x"]
    ),
    st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=255), max_size=12),
)


@given(st.lists(st.tuples(_names, _values), max_size=8))
@example([("app-x", "1"), ("message-id", "a"), ("message-id", "b")])
@example([("message-id", f"{HERE}.7"), ("app-reliquary-label", "x"), ("app-reliquary-label", "x")])
@example([("app-x", "1"), ("message-id", f" {HERE}.7")])
def test_what_is_remembered_of_other_headers_changes_nothing(fields: list[tuple[str, str]]) -> None:
    carried = Carried("".join(f"{name}:{value}\r\n" for name, value in fields), b"body")
    try:
        slowly = message_decode._decode_by_fields(carried)
    except HttprFault:
        with pytest.raises(HttprFault):
            decode_message(carried)
    else:
        assert decode_message(carried) == decode_message(carried) == slowly


_numbers = st.one_of(
    st.integers(0, 2**32 + 3).map(str),
    st.sampled_from(["07", "", "x", "4294967295", "4294967296", "7\t", "\xb2", "9" * 5000, "1\r\nx:1"]),
)


@given(
    st.lists(st.tuples(_names, _values), max_size=4),
    st.lists(st.tuples(_names, _values), max_size=4),
    st.lists(_numbers, min_size=2, max_size=6),
)
@example([("app-x", "1")], [], ["5", "6", "06", "7 ", "8"])
@example(
    [("app-x", "1")], [("put-time", "06 Nov 1994 08:49:37"), ("app-reliquary-label", "x")], ["5", "6", "12"]
)
@example([("app-x", "1"), ("message-id", "x")], [], ["5", "6"])
def test_headers_that_differ_in_a_number_alone_are_read_as_if_each_were_the_first(
    before: list[tuple[str, str]], after: list[tuple[str, str]], numbers: list[str]
) -> None:
    first, last = ("".join(f"{name}:{value}\r\n" for name, value in each) for each in (before, after))
    for number in numbers:
        carried = Carried(f"{first}message-id:{HERE}.{number}\r\n{last}", number.encode())
        try:
            slowly = message_decode._decode_by_fields(carried)
        except HttprFault:
            with pytest.raises(HttprFault):
                decode_message(carried)
        else:
            assert decode_message(carried) == slowly


def test_the_number_of_an_id_is_all_that_is_looked_at_in_headers_that_are_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken(PLAIN_HEADER)
    monkeypatch.delattr(message_decode, "_decode_by_parts")
    alike = PLAIN_HEADER.replace(".12345", ".4000000000")
    assert taken(alike, b"a lamp") == PLAIN.changed(
        identifier=ObjectId(HERE, 4000000000), body=b"a lamp", carrier_header=alike
    )


@pytest.mark.spec("HR-048", "HR-109")
@pytest.mark.httpr("T37")
def test_encoding_product_fields_and_foreign_ids_go_on_unchanged_and_are_shown() -> None:
    header = (
        "Target-uri: http://gateway.org1.com/soapAgent#SOAPQ@QM1_SERVER\r\n"
        "encoding:integer-reversed , float-s390\r\n"
        "message-id:414D5120514D31\r\n"
        "content-type:Pcf/pcf; charset=iso-8859-4\r\n"
        "app-ibm-mqseries-accountingtoken: 00000001\r\n"
    )
    target, message = decode_message(Carried(header, b"\0\1"))
    assert target == "http://gateway.org1.com/soapAgent#SOAPQ@QM1_SERVER"
    assert message.destination_queue == "DIRECT=HTTPR://gateway.org1.com/soapAgent#SOAPQ@QM1_SERVER"
    assert message.identifier == NO_OBJECT
    assert message.body == b"\0\1"
    assert encode_message(message) == (header, b"\0\1")
    assert fields_of(message)["app-ibm-mqseries-accountingtoken"] == "00000001"
    assert fields_of(message)["encoding"] == "integer-reversed , float-s390"


def test_a_message_without_a_header_has_the_defaults_of_httpr() -> None:
    target, message = decode_message(Carried("", b"x"))
    assert target == ""
    assert message == Message.of(
        body=b"x",
        priority=4,
        delivery=Delivery.RECOVERABLE,
        time_to_reach_queue=FOREVER,
        carrier_header="\r\n",
    )
    assert encode_message(message, HOME) == ("", b"x")
    assert fields_of(message) == {}


@pytest.mark.httpr("T41")
@pytest.mark.parametrize(("text", "priority"), [("0", 0), ("7", 7), ("8", 7), ("9", 7)])
def test_a_priority_above_ours_is_our_highest_and_goes_on_as_it_came(text: str, priority: int) -> None:
    message = taken(f"priority:{text}\r\n")
    assert message.priority == priority
    assert encode_message(message)[0] == f"priority:{text}\r\n"


@pytest.mark.parametrize("service", ["assured", "reliable", "datagram", "DATAGRAM"])
def test_every_class_of_service_is_kept_safely(service: str) -> None:
    assert taken(f"class-of-service:{service}\r\n").delivery is Delivery.RECOVERABLE


@pytest.mark.httpr("T42")
@pytest.mark.parametrize(
    ("header", "sent", "lives"),
    [
        ("put-time:06 Nov 1994 08:49:37\r\nexpiry:1\r\n", 784111777, 1),
        ("put-time: 06 Nov 1994 08:49:37\r\nexpiry:0\r\n", 784111777, 0),
        ("put-time:06 Nov 1894 08:49:37\r\nexpiry:4294967295\r\n", 0, FOREVER),
        ("put-time:06 Nov 2994 08:49:37\r\nexpiry:99999999999999999999999999\r\n", 0, FOREVER),
    ],
)
def test_times_that_we_cannot_have_are_not_known_or_have_no_end(header: str, sent: int, lives: int) -> None:
    message = taken(header)
    assert (message.sent_time, message.time_to_be_received) == (sent, lives)
    assert encode_message(message)[0] == header


@pytest.mark.parametrize(
    "identifier",
    [
        "",
        "x",
        f"{HERE}",
        f"{HERE}.",
        f"{HERE}.x",
        f"{HERE}.4294967296",
        f"{HERE}.07",
        f"{str(HERE).upper()}.7",
    ],
)
def test_an_id_of_another_shape_is_left_in_the_header(identifier: str) -> None:
    header = f"priority:1\r\nmessage-id:{identifier}\r\ncorrelation-id:{identifier}\r\n"
    message = taken(header)
    assert (message.identifier, message.correlation, message.source_machine) == (
        NO_OBJECT,
        NO_OBJECT,
        NO_GUID,
    )


@pytest.mark.parametrize(
    "header",
    [
        "priority:x\r\n",
        "priority:10\r\n",
        "priority:\r\n",
        "priority:²\r\n",
        "class-of-service:best\r\n",
        "put-time:6 Nov 1994 08:49:37\r\n",
        "app-x:1\r\nmessage-id:x\r\nput-time:06 nov 1994 08:49:37\r\n",
        "expiry:soon\r\n",
        "expiry:-1\r\n",
        "encoding:integer-sideways\r\n",
        "encoding:integer-normal,integer-reversed\r\n",
        "encoding:\r\n",
        "priority:1\r\npriority:2\r\n",
        "message-id:a\r\napp-x:1\r\nMessage-ID:b\r\n",
        "no colon\r\n",
        "two words:x\r\n",
        ":x\r\n",
        "priority:1",
        "app-reliquary-reach:x\r\n",
        "app-reliquary-tag:4294967296\r\n",
        "app-reliquary-class:65536\r\n",
        "app-reliquary-body-type:-1\r\n",
        "app-reliquary-extension:?\r\n",
        "app-reliquary-acknowledgements:all\r\n",
        "app-reliquary-journal:no\r\n",
        "app-reliquary-delivery:recoverable\r\n",
        "app-reliquary-tracing-queue:1\r\n",
        "app-reliquary-label:%ff\r\n",
        "app-reliquary-label:%ED%A0%80\r\n",
        f"app-reliquary-label:{'x' * 250}\r\n",
        "app-reliquary-response-queue:DIRECT=OS:x\r\n",
        "app-reliquary-response-queue:DIRECT=OS:a\\q%2CDIRECT=OS:b\\q\r\n",
        f"app-reliquary-delay:{FOREVER}000001\r\n",
    ],
)
def test_what_a_known_field_cannot_mean_is_a_protocol_error(header: str) -> None:
    for _ in range(2):  # what is wrong is not remembered as right
        with pytest.raises(HttprFault) as why:
            taken(header)
        assert why.value.number is ErrorNumber.HTTP_R_PROTOCOL_ERROR


_known = st.sampled_from(
    ("class-of-service", "priority", "reply-uri", "target-uri", "put-time", "expiry", *READ, MESSAGE_ID)
)
_anything = st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=255), max_size=40)


@given(
    st.lists(
        st.tuples(
            _known, st.one_of(_values, _anything, st.from_regex(r"(%[0-9A-F]{2}){1,4}", fullmatch=True))
        )
    )
)
def test_any_header_of_a_peer_is_a_storable_message_or_a_protocol_error(
    fields: list[tuple[str, str]],
) -> None:
    header = "".join(f"{name}:{value}\r\n" for name, value in fields)
    try:
        message = taken(header)
    except HttprFault:
        return
    check(message)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=Message) == message


@given(st.text())
def test_no_text_is_too_odd_to_be_refused(text: str) -> None:
    with suppress(HttprFault):
        taken(text)
    with suppress(HttprFault):
        taken(f"{text}\r\n")


@pytest.mark.spec("HR-108")
def test_identical_fields_count_once_and_unknown_ones_are_not_looked_at() -> None:
    assert taken("priority:1\r\nPRIORITY: 1\r\napp-reliquary-unheard-of:\xff\r\napp-x:\r\n").priority == 1


# -- what a peer may not decide


def test_a_peer_sets_nothing_that_only_we_can_know() -> None:
    never = {*NOT_CARRIED, *NOT_READ, "carrier_header", "stored_body"} - {"application_deadletter_queue"}
    lines = [f"app-reliquary-{name.replace('_', '-')}:yes\r\n{name}:yes\r\n" for name in sorted(never)]
    message = taken("".join(lines) + "user-id:S-1-5-18\r\napp-reliquary-deadletter-queue:orders\r\n")
    plain = taken("").changed(carrier_header=message.carrier_header)
    assert message == plain


@pytest.mark.parametrize("name", ["orders", ".\\private$\\orders", "DIRECT=OS:localhost\\private$\\orders"])
def test_a_peer_has_acknowledgements_sent_to_urls_only(name: str) -> None:
    header = (
        f"app-reliquary-administration-queue:{name}\r\napp-reliquary-administration-queues:{name},{name}\r\n"
        "app-reliquary-acknowledgements:full-receive\r\n"
    )
    message = taken(header)
    assert (message.administration_queue, message.administration_queues) == ("", ())
    assert message.acknowledgements == (Acknowledgement.FULL_RECEIVE,)


def test_a_path_name_of_a_peers_is_no_queue_here() -> None:
    assert taken("app-reliquary-response-queue:orders\r\n").response_queue == ""


def test_what_peers_write_does_not_fill_the_memory() -> None:
    for number in range(3 * REMEMBERED):
        taken(f"app-x:{number}\r\n")
        encode_message(PLAIN.changed(application_tag=number))
    taken(f"app-x:{'x' * 10_000}\r\n")
    assert len(message_decode._REMEMBERED_HEADERS) <= REMEMBERED
    assert len(message_encode._REMEMBERED_HEADERS) <= REMEMBERED
    assert max(map(len, message_decode._REMEMBERED_HEADERS)) <= LONGEST_REMEMBERED
    taken(f"app-x:{'x' * 10_000}\r\nmessage-id:{HERE}.7\r\n")
    assert len(message_decode._LAST[0].before) <= LONGEST_REMEMBERED


@pytest.mark.spec("HR-108", "HR-109")
@pytest.mark.httpr("T37")
@given(st.lists(st.tuples(_names, _values), max_size=8))
def test_what_came_goes_on_as_it_came(fields: list[tuple[str, str]]) -> None:
    header = "".join(f"{name}:{value}\r\n" for name, value in fields)
    try:
        message = taken(header, b"body")
    except HttprFault:
        return
    assert encode_message(message, HOME) == (header, b"body")
