"""Faults of peers are read in every form."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.fault_reader import REASON_LIMIT
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import Fault, Version
from tests.protocols.wsrm.codec.vector import GSOAP, XML_TYPE, soap12


def read12(code: str, rest: str = "", *, version: Version = Version.RM11) -> Fault:
    body = decode(
        XML_TYPE,
        soap12("", f"<s:Fault><s:Code>{code}</s:Code>{rest}</s:Fault>", version=version),
    ).body
    assert isinstance(body, Fault)
    return body


def read11(blocks: str, fault: str) -> Fault:
    data = soap12(blocks, f"<s:Fault>{fault}</s:Fault>").replace(
        b"http://www.w3.org/2003/05/soap-envelope", b"http://schemas.xmlsoap.org/soap/envelope/"
    )
    body = decode(XML_TYPE, data).body
    assert isinstance(body, Fault)
    return body


def subcode(name: str, inner: str = "") -> str:
    return f"<s:Value>s:Sender</s:Value><s:Subcode><s:Value>{name}</s:Value>{inner}</s:Subcode>"


def test_the_fault_of_gsoap_is_read() -> None:
    envelope = decode(XML_TYPE, GSOAP["rm10_soap11_fault"])
    assert envelope.body == Fault(
        FaultCode.SENDER,
        "The demo service wsrmdemo() operation returned a fault",
        "urn:uuid:6123a641-1787-4e12-ab8b-45673200000000",
    )
    assert envelope.dialect.version is Version.RM10


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("<s:Value>s:Sender</s:Value>", FaultCode.SENDER),
        ("<s:Value>s:DataEncodingUnknown</s:Value>", FaultCode.RECEIVER),
        ("<s:Value>s:MustUnderstand</s:Value>", FaultCode.MUST_UNDERSTAND),
        (subcode("r:SequenceTerminated"), FaultCode.SEQUENCE_TERMINATED),
        (subcode(" r:WsrmRequired "), FaultCode.WSRM_REQUIRED),
        (subcode("a:ActionNotSupported"), FaultCode.ACTION_NOT_SUPPORTED),
        (subcode("x:Unknown"), FaultCode.SENDER),
        (
            subcode(
                "r:CreateSequenceRefused",
                "<s:Subcode><s:Value>f:ConnectionLimitReached</s:Value></s:Subcode>",
            ),
            FaultCode.CREATE_SEQUENCE_REFUSED,
        ),
        (
            subcode(
                "a:InvalidAddressingHeader",
                "<s:Subcode><s:Value>a:InvalidCardinality</s:Value></s:Subcode>",
            ),
            FaultCode.INVALID_HEADER,
        ),
        ("", FaultCode.RECEIVER),
    ],
)
def test_a_code_of_soap_1_2_is_read(code: str, value: FaultCode) -> None:
    assert read12(code) == Fault(value)


@pytest.mark.parametrize("version", Version)
def test_reason_and_detail_of_soap_1_2_are_read(version: Version) -> None:
    rest = (
        '<s:Reason><s:Text xml:lang="de"> Nein </s:Text></s:Reason>'
        "<s:Detail><r:Identifier> urn:a </r:Identifier><x/></s:Detail>"
    )
    fault = read12(subcode("r:SequenceTerminated"), rest, version=version)
    assert (fault.reason, fault.identifier) == ("Nein", "urn:a")
    assert fault.detail.startswith(b"<x")
    other = read12(subcode("r:SequenceTerminated"), "<s:Detail><f:x>1</f:x></s:Detail>", version=version)
    assert other.detail == b'<f:x xmlns:f="http://schemas.microsoft.com/ws/2006/05/rm">1</f:x>'


def test_a_detail_shows_the_version() -> None:
    data = (
        '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body><s:Fault><s:Detail>'
        '<Identifier xmlns="http://schemas.xmlsoap.org/ws/2005/02/rm">urn:a</Identifier>'
        "</s:Detail></s:Fault></s:Body></s:Envelope>"
    )
    assert decode(XML_TYPE, data.encode()).dialect.version is Version.RM10


def test_a_reason_is_not_longer_than_its_limit() -> None:
    fault = read12("<s:Value>s:Sender</s:Value>", f"<s:Reason><s:Text>{'x' * 5000}</s:Text></s:Reason>")
    assert len(fault.reason) == REASON_LIMIT


def test_the_acknowledgement_of_a_fault_names_the_sequence() -> None:
    detail = (
        "<s:Detail><r:SequenceAcknowledgement><r:Identifier>urn:a</r:Identifier><r:None/>"
        "</r:SequenceAcknowledgement></s:Detail>"
    )
    fault = read12(subcode("r:InvalidAcknowledgement"), detail)
    assert fault.identifier == "urn:a"
    assert fault.detail.startswith(b"<r:SequenceAcknowledgement xmlns:r=")


SEQUENCE_FAULT = "<r:SequenceFault><r:FaultCode>r:UnknownSequence</r:FaultCode>{}</r:SequenceFault>"
CLIENT = "<faultcode>s:Client</faultcode><faultstring>No</faultstring>"


@pytest.mark.parametrize(
    ("blocks", "fault", "value"),
    [
        ("", CLIENT, Fault(FaultCode.SENDER, "No")),
        ("", "<faultcode>s:Server</faultcode>", Fault(FaultCode.RECEIVER)),
        ("", "", Fault(FaultCode.RECEIVER)),
        ("", "<faultcode>r:CreateSequenceRefused</faultcode>", Fault(FaultCode.CREATE_SEQUENCE_REFUSED)),
        (SEQUENCE_FAULT.format(""), CLIENT, Fault(FaultCode.UNKNOWN_SEQUENCE, "No")),
        (
            SEQUENCE_FAULT.format("<r:Detail><r:Identifier>urn:a</r:Identifier></r:Detail>"),
            CLIENT,
            Fault(FaultCode.UNKNOWN_SEQUENCE, "No", "urn:a"),
        ),
        (
            SEQUENCE_FAULT.format("<r:Identifier>urn:a</r:Identifier>"),
            CLIENT,
            Fault(FaultCode.UNKNOWN_SEQUENCE, "No", "urn:a"),
        ),
        (
            SEQUENCE_FAULT.format(""),
            f"{CLIENT}<detail><r:Identifier>urn:a</r:Identifier></detail>",
            Fault(FaultCode.UNKNOWN_SEQUENCE, "No", "urn:a"),
        ),
        (
            "<a:FaultDetail><x/></a:FaultDetail>",
            "<faultcode>a:DestinationUnreachable</faultcode>",
            Fault(FaultCode.UNREACHABLE, detail=b"<x/>"),
        ),
    ],
)
def test_a_fault_of_soap_1_1_is_read(blocks: str, fault: str, value: Fault) -> None:
    assert read11(blocks, fault) == value
