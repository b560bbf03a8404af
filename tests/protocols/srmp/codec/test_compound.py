"""Tests bodies of POSTs and APDUs, byte for byte."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.codec.compound import apdu, compound
from reliquary.protocols.srmp.codec.decode import decode
from tests.protocols.srmp.codec.vector import ALPHA, LARGEST, VECTORS


@pytest.mark.spec("SR-021")
@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors_are_put_together_again(name: str) -> None:
    vector = VECTORS[name]
    arrived = decode(vector.content_type, vector.body, largest=LARGEST)
    built = compound(
        vector.envelope,
        arrived.body,
        arrived.extension,
        vector.part_source,
        vector.boundary_number,
        windows=vector.is_windows,
    )
    assert built.content_type == vector.content_type
    assert built.body == vector.body


@pytest.mark.spec("SR-005")
def test_the_published_multicast_message_is_1067_bytes_with_an_envelope_of_779() -> None:
    vector = VECTORS["published_4_5"]
    arrived = decode(vector.content_type, vector.body, largest=LARGEST)
    assert len(arrived.text) == 779
    assert arrived.body == "ardenwhite".encode("utf-16-le")
    built = compound(arrived.text, arrived.body, b"", vector.part_source, 292, windows=True)
    assert len(built.body) == 1067
    assert apdu("234.1.1.1:8001", built) == vector.data


@pytest.mark.spec("SR-022")
def test_a_message_without_a_payload_has_one_part() -> None:
    built = compound("<x/>", b"", b"", ALPHA, 1)
    assert (built.content_type, built.body) == ("text/xml", b"<x/>")


def test_a_boundary_that_the_contents_have_is_not_used() -> None:
    body, extension = b"x\r\n--MSMQ - SOAP boundary, 7\r\n", b"--MSMQ - SOAP boundary, 8--"
    built = compound("<e/>", body, extension, ALPHA, 7)
    assert 'boundary="MSMQ - SOAP boundary, 9"' in built.content_type
