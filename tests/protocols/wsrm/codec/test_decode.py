"""Envelopes of every kind are read; everything else is refused with a fault, and nothing else happens."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.codec import names
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    Addressing,
    Dialect,
    Envelope,
    Fault,
    Payload,
    SequenceHeader,
    Soap,
    Version,
)
from tests.protocols.wsrm.codec.vector import GSOAP, XML_TYPE, published_message, soap12

R11 = f'xmlns:r11="{names.RM[Version.RM11]}"'
R10 = f'xmlns:r="{names.RM[Version.RM10]}"'
S12 = f'xmlns:s="{names.SOAP[Soap.SOAP12]}"'


def refused(data: bytes, content_type: str = XML_TYPE) -> WsrmFault:
    with pytest.raises(WsrmFault) as caught:
        decode(content_type, data)
    assert caught.value.why
    assert caught.value.spec
    return caught.value


# -- messages of gSOAP


def test_a_message_of_gsoap_is_read() -> None:
    envelope = decode(XML_TYPE, GSOAP["rm11_soap12_reply"])
    offered = "urn:uuid:26280b7c-1787-4e12-ab8b-45673200000000"
    assert envelope.sequence == SequenceHeader(offered, 3)
    assert envelope.ack_requests == (offered,)
    assert envelope.acknowledgements == (
        Acknowledgement("urn:uuid:2587c6cf-1787-4e12-ab8b-45673200000000", ((1, 3),), buffer=8),
    )
    assert envelope.relates_to == "urn:uuid:26281e04-0443-4c4f-aae8-944a625558ec"
    assert envelope.body == Payload(
        b'<ns:wsrmdemoResponse xmlns:ns="urn:wsrmdemo"><out>hello</out></ns:wsrmdemoResponse>'
    )
    assert envelope.foreign == ()


def test_the_last_message_of_gsoap_has_an_empty_body() -> None:
    envelope = decode(XML_TYPE, GSOAP["rm10_soap12_last_message"])
    assert envelope.sequence is not None
    assert envelope.sequence.last
    assert envelope.action == "http://schemas.xmlsoap.org/ws/2005/02/rm/LastMessage"
    assert envelope.body == Payload()


@pytest.mark.parametrize("name", GSOAP)
def test_all_that_gsoap_wrote_is_read(name: str) -> None:
    envelope = decode(XML_TYPE, GSOAP[name])
    version = Version.RM10 if "rm10" in name else Version.RM11
    soap = Soap.SOAP11 if "soap11" in name else Soap.SOAP12
    assert envelope.dialect == Dialect(version, soap, Addressing.WSA10)


# -- envelopes without WS-RM


@pytest.mark.parametrize(
    ("data", "version"),
    [
        (f"<s:Envelope {S12}><s:Body><a/></s:Body></s:Envelope>", Version.RM11),
        (f"<s:Envelope {S12}><s:Header/><s:Body><a/></s:Body></s:Envelope>", Version.RM11),
        (f"<s:Envelope {S12} {R10}><s:Body><a/></s:Body></s:Envelope>", Version.RM10),
        (f"<s:Envelope {S12} {R10} {R11}><s:Body><a/></s:Body></s:Envelope>", Version.RM11),
    ],
)  # fmt: skip
def test_plain_soap_is_read(data: str, version: Version) -> None:
    envelope = decode(XML_TYPE, data.encode())
    assert envelope.body == Payload(b"<a/>")
    assert envelope.dialect == Dialect(version)
    assert envelope.action == ""
    assert envelope.sequence is None


def test_white_space_before_an_element_of_ws_rm_means_nothing() -> None:
    body = "\n<r:TerminateSequence>\n<r:Identifier>urn:a</r:Identifier>\n</r:TerminateSequence>\n"
    assert type(decode(XML_TYPE, soap12("", body)).body).__name__ == "TerminateSequence"


def test_addressing_may_show_in_the_body_alone() -> None:
    body = (
        '<r:CreateSequence><r:AcksTo xmlns:w="http://schemas.xmlsoap.org/ws/2004/08/addressing">'
        "<w:Address>urn:a</w:Address></r:AcksTo></r:CreateSequence>"
    )
    assert decode(XML_TYPE, soap12("", body)).dialect.addressing is Addressing.WSA2004


# -- what is refused


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", FaultCode.SENDER),
        (b"\x00", FaultCode.SENDER),
        (b"hello", FaultCode.SENDER),
        (b"<a/>", FaultCode.SENDER),
        (b"<Envelope><Body/></Envelope>", FaultCode.VERSION_MISMATCH),
        (b'<Envelope xmlns="urn:other"/>', FaultCode.VERSION_MISMATCH),
        (f"<s:Envelope {S12}/>".encode(), FaultCode.SENDER),
        (f"<s:Envelope {S12}><s:Header/></s:Envelope>".encode(), FaultCode.SENDER),
        (f"<s:Envelope {S12}><a/><s:Body/></s:Envelope>".encode(), FaultCode.SENDER),
        (f"<s:Envelope {S12}><s:Header/><a/><s:Body/></s:Envelope>".encode(), FaultCode.SENDER),
        (f"<s:Envelope {S12}><s:Body></s:Envelope>".encode(), FaultCode.SENDER),
        (f"<s:Envelope {S12}><s:Body>\xff</s:Body></s:Envelope>".encode("latin-1"), FaultCode.SENDER),
        (f"<s:Envelope {S12}><s:Body/></s:Envelope>".encode("utf-16"), FaultCode.SENDER),
    ],
)
def test_what_is_no_envelope_is_refused(data: bytes, code: FaultCode) -> None:
    assert refused(data).fault.code is code


@pytest.mark.parametrize(
    "prolog",
    [
        '<!DOCTYPE x [<!ENTITY e "e">]>',
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
        '<?xml version="1.0"?><!DOCTYPE x SYSTEM "http://host/x.dtd">',
        "<!-- --><!DOCTYPE x>",
        '<?xml version="1.0" encoding="UTF-16"?>',
    ],
)
def test_a_document_type_is_refused_before_it_is_read(prolog: str) -> None:
    data = f"{prolog}<s:Envelope {S12}><s:Body>&e;</s:Body></s:Envelope>".encode()
    assert refused(data).fault.code is FaultCode.SENDER


def test_an_envelope_that_is_nested_without_end_is_refused() -> None:
    assert refused(soap12("", "<a>" * 5000 + "</a>" * 5000)).fault.code is FaultCode.SENDER


def test_a_fault_is_in_the_dialect_of_the_message() -> None:
    data = soap12("<r:Sequence/>", version=Version.RM10).replace(
        names.SOAP[Soap.SOAP12].encode(), names.SOAP[Soap.SOAP11].encode()
    )
    fault = refused(data)
    assert fault.dialect == Dialect(Version.RM10, Soap.SOAP11, Addressing.WSA10)
    assert fault.status == 500


def test_what_cannot_be_read_is_answered_in_the_soap_of_its_content_type() -> None:
    for content_type, soap in (("text/xml", Soap.SOAP11), ("application/soap+xml; a=b", Soap.SOAP12)):
        with pytest.raises(WsrmFault) as fault:
            decode(content_type, b"")
        assert fault.value.dialect == Dialect(soap=soap)


def test_any_body_in_a_sequence_is_for_an_application() -> None:
    fault = Envelope(dialect=Dialect(), action="urn:a", body=Fault(FaultCode.SENDER, "no"))
    written = encode(fault).data.decode()
    place = "<r:Sequence><r:Identifier>urn:s</r:Identifier><r:MessageNumber>1</r:MessageNumber></r:Sequence>"
    in_sequence = written.replace("</soap:Header>", f"{place}</soap:Header>").replace(
        "<soap:Envelope", f'<soap:Envelope xmlns:r="{names.RM[Version.RM11]}"', 1
    )
    read = decode("application/soap+xml", in_sequence.encode())
    assert isinstance(read.body, Payload)
    assert b"Fault" in read.body.content


_TYPES = st.sampled_from([
    XML_TYPE, "multipart/related; boundary=b", "multipart/related; boundary=b; start=a",
]) | st.text(max_size=30)  # fmt: skip
_BYTES = st.binary(max_size=200) | st.text(max_size=100).map(str.encode)


def test_a_fault_about_impossible_characters_can_be_written() -> None:
    fault = refused(b"", "text/\x00\ufffe")
    assert "\x00" in fault.why or "\\x00" in fault.why
    encoded = encode(Envelope(dialect=fault.dialect, body=Fault(FaultCode.SENDER, "a\x00\ud800b")))
    read = decode(encoded.content_type, encoded.data).body
    assert read == Fault(FaultCode.SENDER, "a??b")


@given(_TYPES, _BYTES)
def test_noise_is_refused_with_a_fault(content_type: str, data: bytes) -> None:
    with pytest.raises(WsrmFault):
        decode(content_type, data)


@given(st.data())
def test_damaged_envelopes_are_read_or_refused(data: st.DataObject) -> None:
    whole = bytearray(data.draw(st.sampled_from([*GSOAP.values(), published_message(1)])))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with suppress(WsrmFault):
        decode(XML_TYPE, bytes(whole))
