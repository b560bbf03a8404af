"""Written envelopes are read back in every dialect, and all are valid by the published schemas."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.protocols.wsrm.codec import rm10, rm11
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.encode import encode, encode_acknowledgement
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    Addressing,
    Attachment,
    Dialect,
    Envelope,
    Payload,
    Reference,
    SequenceHeader,
    Soap,
    Version,
)
from tests.protocols.wsrm.codec.schema import check_schemas
from tests.protocols.wsrm.codec.strategies import acknowledgements, contents, dialects, envelopes, plain_uris
from tests.protocols.wsrm.codec.vector import DIALECTS, SEQUENCE


@given(envelopes())
def test_any_envelope_is_read_back_as_it_was(envelope: Envelope) -> None:
    encoded = encode(envelope)
    assert decode(encoded.content_type, encoded.data) == envelope


@pytest.mark.spec("FC-005", "FC-007", "FC-008")
@given(envelopes(plain_uris))
def test_all_that_is_written_is_valid_by_the_schemas(envelope: Envelope) -> None:
    assert check_schemas(encode(envelope), envelope.dialect) >= 1


@given(dialects, contents)
def test_the_content_of_a_body_survives_byte_by_byte(dialect: Dialect, content: bytes) -> None:
    encoded = encode(Envelope(dialect=dialect, action="urn:a", body=Payload(content)))
    body = decode(encoded.content_type, encoded.data).body
    assert isinstance(body, Payload)
    assert body.content == content


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_an_acknowledgement_alone_has_its_action(dialect: Dialect) -> None:
    spelling = {Version.RM10: rm10, Version.RM11: rm11}[dialect.version]
    acknowledged = Envelope(
        dialect=dialect,
        acknowledgements=(Acknowledgement(SEQUENCE, ((1, 2),), buffer=3),),
        ack_requests=("urn:b",),
    )
    encoded = encode(acknowledged)
    back = decode(encoded.content_type, encoded.data)
    assert back.action == spelling.SEQUENCE_ACKNOWLEDGEMENT
    assert back.body == Payload()
    asked = encode(Envelope(dialect=dialect, ack_requests=(SEQUENCE,)))
    assert decode(asked.content_type, asked.data).action == spelling.ACK_REQUESTED
    assert (asked.action == spelling.ACK_REQUESTED) is (dialect.soap is Soap.SOAP11)
    assert (f'action="{spelling.ACK_REQUESTED}"' in asked.content_type) is (dialect.soap is Soap.SOAP12)


@given(dialects.flatmap(lambda dialect: st.tuples(st.just(dialect), acknowledgements(dialect))))
def test_an_acknowledgement_without_an_address_is_written_as_any_envelope(
    chosen: tuple[Dialect, Acknowledgement],
) -> None:
    dialect, acknowledgement = chosen
    envelope = Envelope(dialect=dialect, acknowledgements=(acknowledgement,))
    assert encode_acknowledgement(acknowledgement, dialect) == encode(envelope)


def test_an_envelope_without_anything_has_no_action() -> None:
    encoded = encode(Envelope(dialect=Dialect()))
    assert encoded.content_type == "application/soap+xml; charset=utf-8"
    assert b"Action" not in encoded.data


@pytest.mark.parametrize(
    ("action", "in_header"),
    [
        ("urn:a?b=c&d=%20", "urn:a?b=c&d=%20"),
        ('x"; evil="', "x%22;%20evil=%22"),
        ("a\r\nSet-Cookie: b", "a%0D%0ASet-Cookie:%20b"),
        ("urn:é", "urn:%C3%A9"),
    ],
)
def test_an_action_cannot_leave_its_place_in_the_header_of_http(action: str, in_header: str) -> None:
    encoded = encode(Envelope(dialect=Dialect(), action=action))
    assert encoded.content_type == f'application/soap+xml; charset=utf-8; action="{in_header}"'
    assert encode(Envelope(dialect=Dialect(soap=Soap.SOAP11), action=action)).action == in_header


@pytest.mark.parametrize("soap", Soap)
def test_a_very_long_action_is_in_the_envelope_alone(soap: Soap) -> None:
    encoded = encode(Envelope(dialect=Dialect(soap=soap), action="é" * 1000))
    assert len(encoded.content_type) < 100
    assert encoded.action == ""
    assert decode(encoded.content_type, encoded.data).action == "é" * 1000


def test_the_prefix_of_soap_stands_nowhere_in_the_content() -> None:
    encoded = encode(Envelope(dialect=Dialect(), action="urn:a", body=Payload(b"<a>soap: soap1:</a>")))
    assert encoded.data.startswith(b"<soap2:Envelope ")


@pytest.mark.parametrize("field", ["action", "message_id", "relates_to"])
def test_a_character_that_xml_cannot_hold_is_refused(field: str) -> None:
    with pytest.raises(UsageError, match="U\\+0001"):
        encode(replace(Envelope(dialect=Dialect(), action="urn:a"), **{field: "a\x01b"}))


@pytest.mark.parametrize("soap", Soap)
def test_the_blocks_that_must_be_understood_say_so(soap: Soap) -> None:
    envelope = Envelope(
        dialect=Dialect(soap=soap),
        action="urn:a",
        to=Reference("http://b"),
        message_id="urn:c",
        sequence=SequenceHeader(SEQUENCE, 1),
        ack_requests=(SEQUENCE,),
        acknowledgements=(Acknowledgement(SEQUENCE, ((1, 1),), buffer=1),),
        uses_str=True,
        uses_ssl=True,
    )
    required = re.findall(rb'<([\w:]+) soap:mustUnderstand="1"', encode(envelope).data)
    assert required == [
        b"wsa:Action", b"wsa:To", b"wsrm:UsesSequenceSTR", b"wsrm:UsesSequenceSSL", b"wsrm:Sequence",
    ]  # fmt: skip


def test_an_envelope_of_2004_always_has_its_destination() -> None:
    address = "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous"
    encoded = encode(Envelope(dialect=Dialect(addressing=Addressing.WSA2004), action="urn:a"))
    assert decode(encoded.content_type, encoded.data).to == Reference(address)
    encoded = encode(Envelope(dialect=Dialect(), action="urn:a"))
    assert decode(encoded.content_type, encoded.data).to is None


def test_ws_rm_1_0_has_no_security_blocks() -> None:
    envelope = Envelope(dialect=Dialect(version=Version.RM10), action="urn:a", uses_str=True, uses_ssl=True)
    assert b"Uses" not in encode(envelope).data


@given(st.sampled_from(DIALECTS))
def test_an_envelope_is_written_alike_each_time(dialect: Dialect) -> None:
    payload = Payload(b"<a/>", (Attachment("text/plain", "a@b", b"x"),), "text/xml")
    envelope = Envelope(dialect=dialect, action="urn:a", body=payload)
    assert encode(envelope) == encode(envelope)
