"""Tests the headers after a message in the answer to a remote read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from reliquary.base.faults import UsageError
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.remote_read import (
    IPV4,
    ExtendedAddressHeader,
    Extension,
    ReadPacket,
    SubqueueHeader,
    decode_read_packet,
)
from reliquary.wire.packet.user_message import UserMessage
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed, fault_of, read

EXTENSION = Extension(
    SubqueueHeader("retry", "", 0x8001, 1, 2, 3),
    ExtendedAddressHeader(IPV4, bytes([10, 0, 0, 1]), 0),
    "host\\dead",
)
RAW = (
    bytes.fromhex("0c000000 c8000000 13 000000")
    + bytes.fromhex("94000000 02000100 01000000 02000000 03000000")
    + "retry".encode("utf-16-le")
    + bytes(54 + 64)
    + bytes.fromhex("18000000")
    + "host\\dead\0".encode("utf-16-le")
    + bytes.fromhex("1c000000 0400 0100 00000000 0a000001")
    + bytes(12)
)


def test_each_header_is_at_its_place() -> None:
    assert EXTENSION.encode() == RAW
    assert read(Extension.decode, RAW) == EXTENSION


@given(strategies.extensions)
def test_any_extension_is_encoded_and_decoded(extension: Extension) -> None:
    assert read(Extension.decode, extension.encode()) == extension


@settings(max_examples=30)
@given(strategies.read_packets)
def test_any_answer_is_encoded_and_decoded(packet: ReadPacket) -> None:
    assert decode_read_packet(packet.encode()) == packet


def test_offsets_are_counted_from_the_packets_beginning() -> None:
    raw = ReadPacket().encode()
    with pytest.raises(PacketFault, match="12 bytes, not 13") as caught:
        decode_read_packet(changed(raw, 120, to=b"\x0d"))
    assert caught.value.offset == len(UserMessage().encode()) == 120


def test_reserved_bits_the_rest_of_a_name_and_padding_are_ignored() -> None:
    raw = changed(changed(RAW, 8, to=b"\xf7???"), 18, to=b"\xff\xff")
    assert read(Extension.decode, changed(raw, 44, to=b"?????")).subqueue.name == "retry"


def test_the_other_fields_of_an_address_without_a_kind_are_ignored() -> None:
    raw = changed(RAW, len(RAW) - 22, to=b"\0")
    assert read(Extension.decode, raw).address == ExtendedAddressHeader()


@pytest.mark.parametrize(
    ("at", "to", "offset", "why"),
    [
        pytest.param(4, b"\xc4", 4, "follow have 196 bytes", id="less follows"),
        pytest.param(4, b"\xff\xff\xff\xff", 4, "follow have", id="more follows"),
        pytest.param(8, b"\x11", 8, "missing", id="no subqueue header"),
        pytest.param(8, b"\x03", 8, "missing", id="no address header"),
        pytest.param(8, b"\x12", 160, "28 bytes, not 24", id="no dead-letter header"),
        pytest.param(12, b"\x95", 12, "148 bytes, not 149", id="size of the subqueue header"),
        pytest.param(16, b"\x03", 16, "TM", id="reserved bit"),
        pytest.param(160, b"\x05", 160, "no room", id="dead-letter header too small"),
        pytest.param(160, b"\x16", 164, "does not end", id="dead-letter header cuts the name"),
        pytest.param(160, b"\xff\xff\xff\xff", 160, "does not fit", id="dead-letter header too large"),
        pytest.param(184, b"\x1d", 184, "28 bytes, not 29", id="size of the address header"),
        pytest.param(188, b"\x05", 188, "5 bytes are no address", id="size of the address"),
        pytest.param(190, b"\x02", 188, "of kind 2", id="kind of the address"),
    ],
)
def test_what_is_wrong_is_refused_with_its_offset(at: int, to: bytes, offset: int, why: str) -> None:
    fault = fault_of(Extension.decode, changed(RAW, at, to=to))
    assert why in fault.why
    assert fault.offset == offset


def test_a_name_without_an_end_is_refused() -> None:
    assert fault_of(Extension.decode, changed(RAW, 32, to=b"x\0" * 32)).offset == 32


@pytest.mark.parametrize("size", range(0, len(RAW), 5))
def test_a_cut_one_is_refused(size: int) -> None:
    fault_of(Extension.decode, RAW[:size])


@pytest.mark.parametrize(
    ("extension", "why"),
    [
        (Extension(SubqueueHeader("x" * 32)), "at most 31"),
        (Extension(address=ExtendedAddressHeader(IPV4, bytes(5))), "5 bytes are no address"),
        (Extension(SubqueueHeader(moves=1 << 32)), "does not fit"),
    ],
)
def test_what_cannot_be_written_is_the_callers_mistake(extension: Extension, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        ReadPacket(extension=extension).encode()
