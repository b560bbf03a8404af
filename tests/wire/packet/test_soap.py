"""Tests the headers of a message from HTTP."""

from __future__ import annotations

import pytest
from hypothesis import given

from reliquary.base.faults import UsageError
from reliquary.wire.packet.soap import CompoundHeader, EnvelopeHeader, SoapHeader
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed, fault_of, read

COMPOUND = CompoundHeader(b"POST body", 4, 5, 0x1234)
COMPOUND_RAW = bytes.fromhex("3412 0000 09000000 04000000 05000000") + b"POST body\0\0\0"
SOAP_RAW = bytes.fromhex("2003 0000 02000000 6800 0000  8403 0000 01000000 0000 0000")


@given(strategies.envelopes)
def test_any_envelope_is_encoded_and_decoded(header: EnvelopeHeader) -> None:
    assert read(EnvelopeHeader.decode, header.encode()) == header


@given(strategies.compounds)
def test_any_compound_message_is_encoded_and_decoded(header: CompoundHeader) -> None:
    assert read(CompoundHeader.decode, header.encode()) == header


@given(strategies.soaps)
def test_any_soap_header_is_encoded_and_decoded(header: SoapHeader) -> None:
    assert read(SoapHeader.decode, header.encode()) == header


def test_the_fields_are_at_their_places() -> None:
    assert COMPOUND.encode() == COMPOUND_RAW
    assert SoapHeader("h", "").encode() == SOAP_RAW
    assert EnvelopeHeader("e", 7).encode() == bytes.fromhex("0700 0000 02000000 6500 0000")


def test_a_string_of_no_units_is_empty() -> None:
    assert read(EnvelopeHeader.decode, bytes(8)) == EnvelopeHeader("", 0)


def test_a_body_outside_the_compound_message_is_refused_both_ways() -> None:
    assert fault_of(CompoundHeader.decode, changed(COMPOUND_RAW, 12, to=b"\6")).offset == 8
    with pytest.raises(UsageError, match="must lie within it"):
        CompoundHeader(b"abc", 2, 2).encode()


@pytest.mark.parametrize(("at", "offset"), [(0, 0), (12, 12)])
def test_another_section_is_refused(at: int, offset: int) -> None:
    assert fault_of(SoapHeader.decode, changed(SOAP_RAW, at, to=b"\x21")).offset == offset


def test_a_wrong_length_is_refused() -> None:
    assert fault_of(EnvelopeHeader.decode, b"\0\0\0\0\xff\xff\xff\xff" + bytes(8)).offset == 8
    assert fault_of(CompoundHeader.decode, changed(COMPOUND_RAW, 4, to=b"\xff\xff\xff\xff")).offset == 16
    assert fault_of(SoapHeader.decode, changed(SOAP_RAW, 16, to=b"\3")).offset == 20
