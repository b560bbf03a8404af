"""Tests header blocks: what peers write otherwise than the specifications is taken, the rest is refused."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.faults import FaultCode, WsrmFault
from reliquary.protocols.wsrm.codec.headers import BLOCKS_LIMIT
from reliquary.protocols.wsrm.codec.reading import ADDRESS_LIMIT, PARAMETERS_LIMIT
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    Addressing,
    Envelope,
    Properties,
    Reference,
    SequenceHeader,
    Version,
)
from tests.protocols.wsrm.codec.test_lexical import BUFFERS
from tests.protocols.wsrm.codec.vector import (
    SEQUENCE,
    XML_TYPE,
    published_acknowledgement,
    published_message,
    soap12,
)

ID = "<r:Identifier>urn:a</r:Identifier>"


LARGE_REFERENCE = (
    "<a:ReplyTo><a:Address>u</a:Address><a:ReferenceParameters>"
    f"<x>{'x' * PARAMETERS_LIMIT}</x></a:ReferenceParameters></a:ReplyTo>"
)


def range_of(lower: int, upper: int) -> str:
    return f'<r:AcknowledgementRange Upper="{upper}" Lower="{lower}"/>'


def read(blocks: str, version: Version = Version.RM11) -> Envelope:
    return decode(XML_TYPE, soap12(blocks, version=version))


def refused(blocks: str) -> WsrmFault:
    with pytest.raises(WsrmFault) as caught:
        read(blocks)
    assert caught.value.why
    return caught.value


# -- the published example


@pytest.mark.spec("FC-002", "FC-004")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_published_messages_are_read(number: int) -> None:
    envelope = decode(XML_TYPE, published_message(number))
    assert envelope.sequence == SequenceHeader(SEQUENCE, number)
    assert envelope.action == "http://tempuri.org/IAFCEExampleContract/Operation1"
    assert envelope.to == Reference("http://localhost/AFCEExample")
    assert envelope.dialect.version is Version.RM10
    assert envelope.dialect.addressing is Addressing.WSA10
    assert envelope.foreign == ()


@pytest.mark.spec("FC-005", "FC-007", "FC-038")
@pytest.mark.parametrize(("upper", "room"), [(1, 1), (2, 0), (2, 1), (3, 0)])
def test_the_published_acknowledgements_are_read(upper: int, room: int) -> None:
    envelope = decode(XML_TYPE, published_acknowledgement(upper, room))
    assert envelope.acknowledgements == (Acknowledgement(SEQUENCE, ((1, upper),), buffer=room),)
    assert envelope.malformed_buffers == 0


@pytest.mark.spec("FC-008", "FC-039")
@pytest.mark.parametrize(("text", "value"), BUFFERS.items(), ids=[text[:12] for text in BUFFERS])
@pytest.mark.wsrm("T18")
def test_the_ranges_are_valid_for_any_room(text: str, value: int) -> None:
    envelope = decode(XML_TYPE, published_acknowledgement(2, text))
    assert envelope.acknowledgements == (Acknowledgement(SEQUENCE, ((1, 2),), buffer=value),)
    assert envelope.malformed_buffers == (value == -1)


@pytest.mark.spec("FC-003", "FC-039")
@pytest.mark.parametrize(
    "room", ["", "<r:BufferRemaining>5</r:BufferRemaining>", "<BufferRemaining>5</BufferRemaining>"]
)
def test_room_in_another_namespace_is_absent(room: str) -> None:
    envelope = read(f"<r:SequenceAcknowledgement>{ID}<r:None/>{room}</r:SequenceAcknowledgement>")
    assert envelope.acknowledgements[0].buffer == -1
    assert envelope.malformed_buffers == 0


def test_of_two_rooms_the_first_counts() -> None:
    rooms = "<f:BufferRemaining>5</f:BufferRemaining><f:BufferRemaining>6</f:BufferRemaining>"
    envelope = read(f"<r:SequenceAcknowledgement>{ID}<r:None/>{rooms}</r:SequenceAcknowledgement>")
    assert envelope.acknowledgements == (Acknowledgement("urn:a", buffer=5),)
    assert envelope.malformed_buffers == 1


def test_a_room_with_an_element_in_it_is_absent() -> None:
    room = "<f:BufferRemaining>5<f:x/></f:BufferRemaining>"
    envelope = read(f"<r:SequenceAcknowledgement>{ID}{room}</r:SequenceAcknowledgement>")
    assert envelope.acknowledgements[0].buffer == -1
    assert envelope.malformed_buffers == 1


# -- acknowledgements


@pytest.mark.parametrize("version", Version)
@pytest.mark.parametrize(
    ("said", "acknowledgement"),
    [
        (range_of(1, 3), Acknowledgement("urn:a", ((1, 3),))),
        ("<r:None/>", Acknowledgement("urn:a")),
        (range_of(0, 0), Acknowledgement("urn:a")),
        ("", Acknowledgement("urn:a")),
        ("<r:Final/><r:None/>", Acknowledgement("urn:a", final=True)),
        (f"<r:Final/>{range_of(1, 1)}", Acknowledgement("urn:a", ((1, 1),), final=True)),
        ("<r:Nack>3</r:Nack><r:Nack> 5 </r:Nack>", Acknowledgement("urn:a", nacks=(3, 5))),
        (range_of(7, 9) + range_of(1, 2), Acknowledgement("urn:a", ((1, 2), (7, 9)))),
        (
            range_of(1, 5) + range_of(3, 4) + range_of(6, 6) + range_of(0, 0),
            Acknowledgement("urn:a", ((1, 6),)),
        ),
    ],
)  # fmt: skip
def test_an_acknowledgement_is_read_in_any_order(
    version: Version, said: str, acknowledgement: Acknowledgement
) -> None:
    block = f"<r:SequenceAcknowledgement>{said}{ID}</r:SequenceAcknowledgement>"
    assert read(block, version).acknowledgements == (acknowledgement,)
    assert read(block, version).dialect.version is version


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ('Lower="2" Upper="1"', FaultCode.INVALID_ACKNOWLEDGEMENT),
        ('Lower="0" Upper="1"', FaultCode.INVALID_ACKNOWLEDGEMENT),
        ('Lower="1"', FaultCode.SENDER),
        ('Lower="a" Upper="1"', FaultCode.SENDER),
        ('Lower="1" Upper="18446744073709551616"', FaultCode.SENDER),
    ],
)
def test_a_malformed_range_is_refused(limits: str, code: FaultCode) -> None:
    block = f"<r:SequenceAcknowledgement>{ID}<r:AcknowledgementRange {limits}/></r:SequenceAcknowledgement>"
    fault = refused(block)
    assert fault.fault.code is code
    assert fault.fault.identifier == "urn:a"


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 10)), max_size=8))
def test_ranges_are_disjoint_and_hold_the_numbers_that_came(pairs: list[tuple[int, int]]) -> None:
    came = "".join(range_of(low, low + size) for low, size in pairs)
    (acknowledgement,) = read(
        f"<r:SequenceAcknowledgement>{ID}{came}</r:SequenceAcknowledgement>"
    ).acknowledgements
    ranges = acknowledgement.ranges
    numbers = {number for low, size in pairs for number in range(low, low + size + 1)}
    assert {number for low, high in ranges for number in range(low, high + 1)} == numbers
    assert all(before[1] + 1 < after[0] for before, after in pairwise(ranges))


# -- Sequence, AckRequested and the others


@pytest.mark.parametrize(
    ("block", "sequence"),
    [
        (f"{ID}<r:MessageNumber>1</r:MessageNumber>", SequenceHeader("urn:a", 1)),
        (f"<r:MessageNumber> 2 </r:MessageNumber>{ID}", SequenceHeader("urn:a", 2)),
        (f"{ID}<r:MessageNumber>0</r:MessageNumber>", SequenceHeader("urn:a", 0)),
        (f"{ID}<r:MessageNumber>18446744073709551615</r:MessageNumber>", SequenceHeader("urn:a", 2**64 - 1)),
        (
            f"{ID}<r:MessageNumber>3</r:MessageNumber><r:LastMessage></r:LastMessage>",
            SequenceHeader("urn:a", 3, last=True),
        ),
        (
            "<r:Identifier>\n any text \n</r:Identifier><r:MessageNumber>4</r:MessageNumber><x/>",
            SequenceHeader("any text", 4),
        ),
    ],
)  # fmt: skip
def test_the_place_of_a_message_is_read(block: str, sequence: SequenceHeader) -> None:
    assert read(f"<r:Sequence>{block}</r:Sequence>").sequence == sequence


@pytest.mark.parametrize(
    "block",
    [
        "<r:Sequence/>",
        f"<r:Sequence>{ID}</r:Sequence>",
        "<r:Sequence><r:Identifier> </r:Identifier><r:MessageNumber>1</r:MessageNumber></r:Sequence>",
        f"<r:Sequence>{ID}<r:MessageNumber>-1</r:MessageNumber></r:Sequence>",
        f"<r:Sequence>{ID}<r:MessageNumber/></r:Sequence>",
        f"<r:Sequence>{ID}<r:MessageNumber>1</r:MessageNumber></r:Sequence>" * 2,
        "<r:AckRequested/>",
        "<r:SequenceAcknowledgement><r:None/></r:SequenceAcknowledgement>",
        f"<r:SequenceAcknowledgement>{ID}<r:Nack>x</r:Nack></r:SequenceAcknowledgement>",
        '<m:MessagePending xmlns:m="http://docs.oasis-open.org/ws-rx/wsmc/200702" pending="perhaps"/>',
        '<p:Properties xmlns:p="urn:reliquary:wsrm" priority="x"/>',
        "<x/>" * (BLOCKS_LIMIT + 1),
    ],
)
def test_a_block_that_says_nothing_valid_is_refused(block: str) -> None:
    assert refused(block).fault.code is FaultCode.SENDER


@pytest.mark.spec("FC-006")
def test_acknowledgements_are_asked_for_once_a_sequence() -> None:
    asked = f"<r:AckRequested>{ID}<r:MaxMessageNumberUsed>4</r:MaxMessageNumberUsed></r:AckRequested>"
    other = "<r:AckRequested><r:Identifier>urn:b</r:Identifier></r:AckRequested>"
    assert read(asked + other + asked).ack_requests == ("urn:a", "urn:b")


def test_the_version_is_that_of_the_message_and_not_of_the_acknowledgement() -> None:
    other = 'xmlns:r="http://schemas.xmlsoap.org/ws/2005/02/rm"'
    blocks = (
        f"<r:AckRequested {other}>{ID}</r:AckRequested>"
        f"<r:Sequence>{ID}<r:MessageNumber>1</r:MessageNumber></r:Sequence>"
        f"<r:AckRequested {other}>{ID}</r:AckRequested>"
    )
    assert read(blocks).dialect.version is Version.RM11


def test_the_first_header_shows_the_version_of_addressing() -> None:
    old = 'xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing"'
    blocks = f"<a:Action>urn:1</a:Action><a:MessageID {old}>urn:2</a:MessageID>"
    assert read(blocks).dialect.addressing is Addressing.WSA10
    assert read(f"<a:To {old}>urn:3</a:To>{blocks}").dialect.addressing is Addressing.WSA2004


def test_security_pending_and_properties_are_read() -> None:
    envelope = read(
        '<r:UsesSequenceSTR s:mustUnderstand="1"/><r:UsesSequenceSSL s:mustUnderstand="true"/>'
        '<m:MessagePending xmlns:m="http://docs.oasis-open.org/ws-rx/wsmc/200702" pending="true"/>'
        '<p:Properties xmlns:p="urn:reliquary:wsrm" priority="7"/>'
    )
    assert envelope.uses_str
    assert envelope.uses_ssl
    assert envelope.pending is True
    assert envelope.properties == Properties(priority=7)
    assert read("<r:UsesSequenceSSL/>").uses_str is False


# -- WS-Addressing


def test_endpoint_references_keep_their_parameters() -> None:
    envelope = read(
        "<a:ReplyTo><a:Address> http://b </a:Address>"
        "<a:ReferenceParameters>\n<f:p/>\n</a:ReferenceParameters>"
        "<a:Metadata><x/></a:Metadata></a:ReplyTo><a:FaultTo><a:Address>http://c</a:Address></a:FaultTo>"
    )
    parameters = b'<f:p xmlns:f="http://schemas.microsoft.com/ws/2006/05/rm"/>'
    assert envelope.reply_to == Reference("http://b", parameters)
    assert envelope.fault_to == Reference("http://c")


@pytest.mark.parametrize(
    ("relates", "text"),
    [
        ("<a:RelatesTo>urn:1</a:RelatesTo>", "urn:1"),
        (
            '<a:RelatesTo RelationshipType="urn:other">urn:1</a:RelatesTo><a:RelatesTo>urn:2</a:RelatesTo>',
            "urn:2",
        ),
        (
            '<a:RelatesTo RelationshipType="http://www.w3.org/2005/08/addressing/reply">urn:1</a:RelatesTo>',
            "urn:1",
        ),
        (
            '<a:RelatesTo RelationshipType="w:Reply">urn:1</a:RelatesTo><a:RelatesTo>urn:2</a:RelatesTo>',
            "urn:1",
        ),
    ],
)
def test_a_reply_relates_to_its_request(relates: str, text: str) -> None:
    assert read(relates).relates_to == text


@pytest.mark.parametrize(
    "blocks",
    [
        *(f"<a:{name}>urn:1</a:{name}><a:{name}>urn:2</a:{name}>" for name in ("Action", "To", "MessageID")),
        "<a:ReplyTo><a:Address>urn:1</a:Address></a:ReplyTo>" * 2,
        "<a:FaultTo><a:Address>urn:1</a:Address></a:FaultTo>" * 2,
        "<a:ReplyTo/>",
        "<a:ReplyTo><a:Address/></a:ReplyTo>",
        f"<a:MessageID>{'x' * (ADDRESS_LIMIT + 1)}</a:MessageID>",
        LARGE_REFERENCE,
    ],
    ids=[*("action", "to", "message id", "reply to", "fault to"), *("empty", "no address", "long", "large")],
)
def test_a_header_of_addressing_that_is_not_valid_is_refused(blocks: str) -> None:
    assert refused(blocks).fault.code is FaultCode.INVALID_HEADER


def test_the_sender_s_own_address_is_understood() -> None:
    envelope = read('<a:From s:mustUnderstand="1"><a:Address>urn:1</a:Address></a:From>')
    assert envelope.foreign == ()


# -- what must be understood


@pytest.mark.parametrize(
    ("attributes", "is_foreign"),
    [
        ("", False),
        ('s:mustUnderstand="0"', False),
        ('s:mustUnderstand="false"', False),
        ('mustUnderstand="1"', False),
        ('s:mustUnderstand="1"', True),
        ('s:mustUnderstand=" true "', True),
        ('s:mustUnderstand="1" s:role=""', True),
        ('s:mustUnderstand="1" s:role="http://www.w3.org/2003/05/soap-envelope/role/next"', True),
        ('s:mustUnderstand="1" s:role="http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver"', True),
        ('s:mustUnderstand="1" s:role="http://www.w3.org/2003/05/soap-envelope/role/none"', False),
        ('s:mustUnderstand="1" s:role="urn:logger"', False),
    ],
)
def test_an_unknown_block_for_us_is_foreign(attributes: str, is_foreign: bool) -> None:
    assert read(f'<x:y xmlns:x="urn:x" {attributes}/>').foreign == (("{urn:x}y",) if is_foreign else ())


def test_a_foreign_block_is_named_once() -> None:
    assert read('<x s:mustUnderstand="1"/>' * 3 + '<r:y s:mustUnderstand="1"/>').foreign == (
        "x", "{http://docs.oasis-open.org/ws-rx/wsrm/200702}y",
    )  # fmt: skip


def test_the_role_of_soap_1_1_is_an_actor() -> None:
    blocks = '<x s:mustUnderstand="1" s:actor="urn:logger"/><y s:mustUnderstand="1" s:actor="http://schemas.xmlsoap.org/soap/actor/next"/>'
    data = soap12(blocks).replace(
        b"http://www.w3.org/2003/05/soap-envelope", b"http://schemas.xmlsoap.org/soap/envelope/"
    )
    assert decode(XML_TYPE, data).foreign == ("y",)


@pytest.mark.parametrize("value", ["2", "yes", "", "TRUE"])
@pytest.mark.parametrize("name", ["x", "a:Action", "r:Sequence"])
def test_a_wrong_must_understand_is_refused(name: str, value: str) -> None:
    fault = refused(f'<{name} s:mustUnderstand="{value}">urn:a</{name}>')
    assert fault.fault.code is FaultCode.SENDER
    assert "mustUnderstand" in fault.why


def test_a_known_block_for_another_node_is_passed_over() -> None:
    assert read(f'<r:AckRequested s:role="urn:other">{ID}</r:AckRequested>').ack_requests == ()
