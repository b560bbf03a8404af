"""Bodies of WS-RM are read in both versions; those of gSOAP as it writes them."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND, Duration
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.values import (
    Body,
    CloseSequence,
    CloseSequenceResponse,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Incomplete,
    MakeConnection,
    Offer,
    Reference,
    Soap,
    TerminateSequence,
    TerminateSequenceResponse,
    Version,
)
from tests.protocols.wsrm.codec.vector import GSOAP, XML_TYPE, soap12

MC = 'xmlns:m="http://docs.oasis-open.org/ws-rx/wsmc/200702"'
UNKNOWN_BEHAVIOR = "<r:IncompleteSequenceBehavior>Discard</r:IncompleteSequenceBehavior>"
ACKS_TO = "<r:AcksTo><a:Address>http://b</a:Address></r:AcksTo>"
ANONYMOUS = Reference("http://www.w3.org/2005/08/addressing/anonymous")
THIRTY = Duration(30 * SECOND)


def read(body: str, version: Version = Version.RM11) -> Body:
    return decode(XML_TYPE, soap12("", body, version=version)).body


def identifier(rest: str) -> str:
    return f"urn:uuid:{rest}-1787-4e12-ab8b-45673200000000"


@pytest.mark.parametrize(
    ("name", "body"),
    [
        (
            "rm10_soap12_create",
            CreateSequence(
                ANONYMOUS, THIRTY, Offer(identifier("2d40e096"), None, None, Incomplete.ENTIRE)
            ),
        ),
        (
            "rm11_soap12_create",
            CreateSequence(
                ANONYMOUS, THIRTY, Offer(identifier("26280b7c"), ANONYMOUS, THIRTY, Incomplete.ENTIRE)
            ),
        ),
        (
            "rm10_soap11_created",
            CreateSequenceResponse(
                identifier("5ffa0d85"), THIRTY, Incomplete.ENTIRE, Reference("http://127.0.0.1:18000/")
            ),
        ),
        ("rm11_soap11_close", CloseSequence(identifier("2f17e2f9"), 3)),
        ("rm11_soap11_closed", CloseSequenceResponse(identifier("2f17e2f9"))),
        ("rm10_soap11_terminate", TerminateSequence(identifier("6123a641"))),
        ("rm11_soap12_terminated", TerminateSequenceResponse(identifier("2587c6cf"))),
    ],
)  # fmt: skip
def test_the_bodies_of_gsoap_are_read(name: str, body: Body) -> None:
    envelope = decode(XML_TYPE, GSOAP[name])
    assert envelope.body == body
    version = Version.RM10 if "rm10" in name else Version.RM11
    assert envelope.dialect == Dialect(version, Soap.SOAP11 if "soap11" in name else Soap.SOAP12)


@pytest.mark.parametrize("version", Version)
def test_what_only_1_1_has_is_taken_in_1_0_too(version: Version) -> None:
    children = "<r:LastMsgNumber>4</r:LastMsgNumber><r:Identifier>urn:a</r:Identifier>"
    assert read(f"<r:CloseSequence>{children}</r:CloseSequence>", version) == CloseSequence("urn:a", 4)


def test_a_sequence_that_never_expires() -> None:
    body = f"<r:CreateSequence><r:Expires>PT0S</r:Expires>{ACKS_TO}<x/></r:CreateSequence>"
    assert read(body) == CreateSequence(Reference("http://b"))


@pytest.mark.parametrize(
    "children",
    [
        "",
        "<r:AcksTo/>",
        "<r:AcksTo><a:Address/></r:AcksTo>",
        f"{ACKS_TO}<r:Expires>soon</r:Expires>",
        f"{ACKS_TO}<r:Expires>-PT1S</r:Expires>",
        f"{ACKS_TO}<r:Offer><r:Identifier>urn:o</r:Identifier><r:Expires/></r:Offer>",
        f"{ACKS_TO}<r:Offer><r:Identifier>urn:o</r:Identifier>{UNKNOWN_BEHAVIOR}</r:Offer>",
    ],
)
def test_a_creation_that_cannot_be_read_is_refused(children: str) -> None:
    with pytest.raises(WsrmFault) as caught:
        read(f"<r:CreateSequence>{children}</r:CreateSequence>")
    assert caught.value.fault.code is FaultCode.CREATE_SEQUENCE_REFUSED


@pytest.mark.parametrize(
    "body",
    [
        "<r:TerminateSequence/>",
        "<r:TerminateSequence><r:Identifier> </r:Identifier></r:TerminateSequence>",
        "<r:TerminateSequence><Identifier>urn:a</Identifier></r:TerminateSequence>",
        "<r:CloseSequence><r:Identifier>urn:a</r:Identifier><r:LastMsgNumber>x</r:LastMsgNumber></r:CloseSequence>",
        "<r:CreateSequenceResponse/>",
        f"<r:CreateSequence>{ACKS_TO}<r:Offer/></r:CreateSequence>",
    ],
)  # fmt: skip
def test_a_body_without_what_it_is_about_is_refused(body: str) -> None:
    with pytest.raises(WsrmFault) as caught:
        read(body)
    assert caught.value.fault.code is FaultCode.SENDER


def test_an_end_that_names_nothing_is_read_in_version_1_0() -> None:
    """gSOAP answers so, where nothing was offered."""
    assert read("<r:TerminateSequence/>", Version.RM10) == TerminateSequence("")


@pytest.mark.parametrize(
    ("children", "body"),
    [
        ("", MakeConnection()),
        ("<m:Address> http://b </m:Address>", MakeConnection("http://b")),
        ("<r:Identifier>urn:a</r:Identifier>", MakeConnection(identifier="urn:a")),
        ("<x:y xmlns:x='urn:x'/><z/>", MakeConnection(unsupported="{urn:x}y")),
    ],
)
def test_a_client_says_what_it_fetches(children: str, body: MakeConnection) -> None:
    assert read(f"<m:MakeConnection {MC}>{children}</m:MakeConnection>") == body
