"""Attachments come and go beside the envelope, as SOAP with Attachments and as MTOM."""

from __future__ import annotations

import pytest
from hypothesis import given

from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.multipart import ROOT, joined, parts_of
from reliquary.protocols.wsrm.codec.values import Attachment, Dialect, Envelope, Payload, Soap
from reliquary.wire.mime import media_type
from tests.protocols.wsrm.codec.strategies import payloads
from tests.protocols.wsrm.codec.vector import published_message

WCF = (
    b"--uuid:1\r\nContent-ID: <http://tempuri.org/0>\r\nContent-Transfer-Encoding: 8bit\r\n"
    b'Content-Type: application/xop+xml;charset=utf-8;type="application/soap+xml"\r\n\r\n'
    b'<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body><a xmlns="urn:a">'
    b'<xop:Include href="cid:x%40y" xmlns:xop="http://www.w3.org/2004/08/xop/include"/></a></s:Body>'
    b"</s:Envelope>\r\n--uuid:1\r\nContent-ID: <x@y>\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n"
    b"--uuid:1--\r\n"
)
WCF_TYPE = (
    'multipart/related; type="application/xop+xml";start="<http://tempuri.org/0>";boundary="uuid:1";'
    'start-info="application/soap+xml"'
)


def test_a_message_in_mtom_keeps_its_references() -> None:
    body = decode(WCF_TYPE, WCF).body
    assert isinstance(body, Payload)
    assert b'<xop:Include href="cid:x%40y"' in body.content
    assert body.attachments == (Attachment("image/png", "x@y", b"\x89PNG"),)
    assert body.start_type == "application/soap+xml"


def test_the_envelope_may_be_any_part() -> None:
    first, second = WCF.split(b"--uuid:1--")[0].split(b"--uuid:1\r\n")[1:]
    swapped = b"--uuid:1\r\n" + second + b"--uuid:1\r\n" + first + b"--uuid:1--"
    assert decode(WCF_TYPE, swapped) == decode(WCF_TYPE, WCF)


@given(payloads(Dialect()))
def test_a_payload_with_attachments_is_read_back(payload: Payload) -> None:
    encoded = encode(Envelope(dialect=Dialect(), action="urn:a", body=payload))
    assert decode(encoded.content_type, encoded.data).body == payload


@pytest.mark.parametrize("soap", Soap)
@pytest.mark.parametrize("is_mtom", [False, True])
def test_the_content_type_says_what_the_parts_are(soap: Soap, is_mtom: bool) -> None:
    kind = {Soap.SOAP11: "text/xml", Soap.SOAP12: "application/soap+xml"}[soap]
    payload = Payload(b"<a/>", (Attachment("text/plain", "a@b", b"x"),), kind if is_mtom else "")
    encoded = encode(Envelope(dialect=Dialect(soap=soap), action="urn:a", body=payload))
    found = media_type(encoded.content_type)
    assert found.kind == "multipart/related"
    assert found.root_type == ("application/xop+xml" if is_mtom else kind)
    assert found.start == f"<{ROOT}>"
    assert (f'start-info="{kind}"' in encoded.content_type) is is_mtom
    assert ('; action="urn:a"' in encoded.content_type) is (soap is Soap.SOAP12)
    assert encoded.action == ("urn:a" if soap is Soap.SOAP11 else "")
    root_type = f'application/xop+xml; charset=utf-8; type="{kind}"' if is_mtom else f"{kind}; charset=utf-8"
    assert f"Content-Type: {root_type}\r\n".encode() in encoded.data


def test_the_boundary_stands_in_no_part() -> None:
    content_type, data = joined(b"<a/>", "text/xml", "", Payload(attachments=(Attachment("a/b", "", b""),)))
    boundary = media_type(content_type).boundary
    attachment = Attachment("a/b", "c", f"\r\n--{boundary}--\r\n".encode())
    other_type, other = joined(b"<a/>", "text/xml", "", Payload(attachments=(attachment,)))
    assert media_type(other_type).boundary != boundary
    assert parts_of(other_type, other).attachments == (attachment,)
    assert b"Content-ID: <>" not in data


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "text/xml; charset=utf-16",
        "application/json",
        "application/xop+xml",
        "multipart/related",
        'multipart/related; boundary="x"',
        'multipart/related; boundary="uuid:1"; start="<other>"',
        f'text/xml; x="{"y" * 9000}"',
    ],
)
def test_other_types_are_refused(content_type: str) -> None:
    with pytest.raises(WsrmFault) as caught:
        decode(content_type, WCF)
    assert caught.value.fault.code is FaultCode.SENDER


@pytest.mark.parametrize(
    "content_type",
    ["text/xml", "application/soap+xml", 'TEXT/XML; Charset="UTF-8"', "text/xml;charset=utf8"],
)  # fmt: skip
def test_the_version_of_soap_follows_from_the_envelope(content_type: str) -> None:
    assert decode(content_type, published_message(1)).dialect.soap is Soap.SOAP12


def test_a_part_that_is_no_envelope_is_refused() -> None:
    data = WCF.replace(b"application/xop+xml", b"image/png")
    with pytest.raises(WsrmFault, match="an envelope is"):
        decode(WCF_TYPE, data)
