"""Bodies and APDUs are cut into envelope, body and extension, or refused."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.codec.compound import apdu, compound
from reliquary.protocols.srmp.codec.decode import decode, decode_apdu, decode_envelope
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.kinds import kind_of
from reliquary.protocols.srmp.codec.messages import message_of
from reliquary.protocols.srmp.codec.values import Arrived, CommitmentRequest, MessageKind
from tests.protocols.srmp.codec.envelopes import DELIVERY, PLAIN
from tests.protocols.srmp.codec.vector import ALPHA, LARGEST, PUBLISHED, VECTORS


def refused(content_type: str, body: bytes, *, largest: int = LARGEST) -> SrmpFault:
    with pytest.raises(SrmpFault) as caught:
        decode(content_type, body, largest=largest)
    assert caught.value.status == 400
    assert caught.value.why
    return caught.value


def test_the_parts_of_a_message_are_distinguished() -> None:
    arrived = decode(VECTORS["c1_max"].content_type, VECTORS["c1_max"].body, largest=LARGEST)
    assert (arrived.body, arrived.extension) == (b"payload bytes", b"ext bytes")
    assert arrived.has_body
    assert arrived.has_extension
    assert arrived.text == VECTORS["c1_max"].envelope
    assert arrived.envelope == decode_envelope(arrived.text)


@pytest.mark.parametrize("name", VECTORS)
def test_a_post_and_an_apdu_are_equal_messages(name: str) -> None:
    vector = VECTORS[name]
    assert decode_apdu(vector.data, largest=LARGEST) == decode(
        vector.content_type, vector.body, largest=LARGEST
    )


@pytest.mark.srmp("T-03")
def test_the_framings_give_equal_messages() -> None:
    windows = decode_apdu(VECTORS["c8"].data, largest=LARGEST)
    rfc = compound(VECTORS["c8"].envelope, b"tick 1", b"", ALPHA, 109)
    assert rfc.body != VECTORS["c8"].body
    assert decode(rfc.content_type, rfc.body, largest=LARGEST) == windows


@pytest.mark.srmp("T-04")
@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize("tail", [b"", b"--", b"\r\n", b"\r\nContent-Id: body@x\r\n\r\n"])
def test_a_boundary_inside_a_body_stays_there(tail: bytes, windows: bool) -> None:
    body = b"before\r\n--MSMQ - SOAP boundary, 7" + tail + b" after"
    built = compound(PLAIN, body, body, ALPHA, 7, windows=windows)
    arrived = decode(built.content_type, built.body, largest=LARGEST)
    assert (arrived.body, arrived.extension) == (body, body)


@pytest.mark.parametrize("content_id", ["body@x", "BODY@X", "<body@x>", f"Body@{ALPHA}", "body@"], ids=str)
def test_the_body_is_known_by_how_its_content_id_begins(content_id: str) -> None:
    built = compound(PLAIN, b"hello", b"", ALPHA, 1)
    data = built.body.replace(f"body@{ALPHA}".encode(), content_id.encode())
    assert decode(built.content_type, data, largest=LARGEST).body == b"hello"


def test_parts_of_other_names_are_passed_over() -> None:
    built = compound(PLAIN, b"hello", b"", ALPHA, 1)
    data = built.body.replace(b"Content-Id: body@", b"Content-Id: picture@")
    arrived = decode(built.content_type, data, largest=LARGEST)
    assert arrived == decode("text/xml", PLAIN.encode(), largest=LARGEST)
    assert not arrived.has_body


def test_an_empty_part_is_there() -> None:
    built = compound(PLAIN, b"hello", b"", ALPHA, 1)
    arrived = decode(
        built.content_type,
        built.body.replace(b"Length: 5", b"Length: 0").replace(b"hello", b""),
        largest=LARGEST,
    )
    assert arrived.has_body
    assert arrived.body == b""


def test_the_envelope_alone_is_a_message() -> None:
    for content_type in ("text/xml", "TEXT/XML; charset=utf-8", 'text/xml;charset="UTF-8"'):
        assert decode(content_type, PLAIN.encode(), largest=LARGEST).text == PLAIN


@pytest.mark.srmp("F-55")
@pytest.mark.spec("SR-022")
def test_a_receipt_with_a_payload_is_refused() -> None:
    for body, extension in ((b"x", b""), (b"", b"x")):
        built = compound(DELIVERY, body, extension, ALPHA, 1)
        assert "receipt" in refused(built.content_type, built.body).why


@pytest.mark.srmp("F-02")
@pytest.mark.spec("SR-182", "SR-183")
@pytest.mark.parametrize(
    "content_type", ["", "application/json", "text/plain", "multipart/mixed; boundary=x", "xml"]
)
def test_another_content_type_is_refused(content_type: str) -> None:
    assert refused(content_type, PLAIN.encode()).element == "Content-Type"


def test_another_charset_is_refused() -> None:
    assert refused("text/xml; charset=utf-16", PLAIN.encode("utf-16")).element == "Content-Type"


@pytest.mark.srmp("F-03")
def test_a_multipart_without_boundary_or_with_another_root_is_refused() -> None:
    built = compound(PLAIN, b"hello", b"", ALPHA, 1)
    assert refused("multipart/related; type=text/xml", built.body).element == "Content-Type"
    root = built.body.replace(b"text/xml; charset=UTF-8", b"text/plain")
    assert refused(built.content_type, root).element == "Content-Type"


@pytest.mark.srmp("F-06")
def test_more_bytes_than_allowed_are_refused() -> None:
    body = PLAIN.encode()
    assert decode("text/xml", body, largest=len(body)).text == PLAIN
    assert refused("text/xml", body, largest=len(body) - 1).element == "the message"


@pytest.mark.srmp("F-69")
def test_two_bodies_are_refused() -> None:
    built = compound(PLAIN, b"hello", b"world", ALPHA, 1)
    assert "body" in refused(built.content_type, built.body.replace(b"extension@", b"body@")).element


@pytest.mark.srmp("F-07")
@pytest.mark.parametrize(
    "body", [b"\xff", PLAIN.encode("utf-16"), PLAIN.replace("MSMQ:", "é").encode("latin-1")]
)
def test_what_is_not_utf_8_is_refused(body: bytes) -> None:
    assert refused("text/xml", body).element == "Envelope"


def test_half_a_surrogate_is_refused() -> None:
    with pytest.raises(SrmpFault):
        decode_envelope(PLAIN.replace("MSMQ:", "\ud800"))


HEAD = b"POST x HTTP/1.1\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n"


@pytest.mark.parametrize(
    ("data", "element"),
    [
        (b"", "the APDU"),
        (b"POST x HTTP/1.1\r\nContent-Type: text/xml", "the APDU"),
        (b"POST x HTTP/1.1\r\nno field\r\n\r\n", "the APDU"),
        (b"POST x HTTP/1.1\r\n" + b"a: b\r\n" * 2000 + b"\r\n", "the APDU"),
        (HEAD % (len(PLAIN) + 1) + PLAIN.encode(), "Content-Length"),
        ((HEAD % 1).replace(b": 1", b": x") + PLAIN.encode(), "Content-Length"),
        (b"POST x HTTP/1.1\r\nHost: x\r\n\r\n" + PLAIN.encode(), "Content-Type"),
    ],
)
def test_an_apdu_that_is_no_post_is_refused(data: bytes, element: str) -> None:
    with pytest.raises(SrmpFault) as caught:
        decode_apdu(data, largest=LARGEST)
    assert caught.value.element == element


@pytest.mark.spec("SR-005")
def test_bytes_after_the_announced_ones_of_an_apdu_are_ignored() -> None:
    vector = VECTORS["c8"]
    assert decode_apdu(vector.data + b"\0\0", largest=LARGEST) == decode_apdu(vector.data, largest=LARGEST)
    built = compound(PLAIN, b"", b"", ALPHA, 1)
    assert decode_apdu(apdu("234.1.1.1:8001", built), largest=LARGEST).text == PLAIN


# -- the published examples, section 4

KINDS = {
    "4_1": MessageKind.USER_MESSAGE,
    "4_2": MessageKind.USER_MESSAGE,
    "4_3_request": MessageKind.USER_MESSAGE,
    "4_3_delivery_receipt": MessageKind.DELIVERY_RECEIPT,
    "4_3_commitment_receipt": MessageKind.COMMITMENT_RECEIPT,
    "4_4_first": MessageKind.USER_MESSAGE,
    "4_4_first_receipt": MessageKind.STREAM_RECEIPT,
    "4_4_second": MessageKind.USER_MESSAGE,
    "4_4_second_receipt": MessageKind.STREAM_RECEIPT,
    "4_4_third": MessageKind.USER_MESSAGE,
    "4_4_third_receipt": MessageKind.STREAM_RECEIPT,
}


def published(name: str) -> Arrived:
    return decode("text/xml", PUBLISHED[name].replace(b"\n", b"\r\n"), largest=LARGEST)


def test_every_published_example_is_of_its_kind() -> None:
    assert {name: kind_of(published(name).envelope) for name in PUBLISHED} == KINDS


@pytest.mark.srmp("T-08")
def test_the_published_request_has_prefixes_and_asks_for_both_receipts() -> None:
    envelope = published("4_3_request").envelope
    assert envelope.action == "Generic label"
    assert envelope.via == "http://machine1/MSMQ/private$/Q1"
    assert envelope.delivery_to == "http://machine1/MSMQ/private$/receipts"
    assert envelope.commitment == CommitmentRequest(
        send_to="http://machine1/MSMQ/private$/deliverydone", positive=True, negative=True
    )
    assert message_of(published("4_3_request")).label == ""


def test_the_published_stream_is_a_stream() -> None:
    messages = [published(f"4_4_{name}") for name in ("first", "second", "third")]
    places = [message.envelope.stream for message in messages]
    assert [place and (place.number, place.current, place.previous) for place in places] == [
        (4839986701558349830, current, current - 1) for current in (1, 2, 3)
    ]
    assert places[0]
    assert places[0].receipts_to == "http://machine1/MSMQ/private$/receipts?SenderStream=XRntV"
    assert not any(message_of(message).is_express for message in messages)
    receipts = [
        published(f"4_4_{name}_receipt").envelope.stream_receipt for name in ("first", "second", "third")
    ]
    assert [receipt and receipt.last for receipt in receipts] == [1, 2, 3]
