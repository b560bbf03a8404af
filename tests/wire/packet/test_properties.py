"""MessagePropertiesHeader is encoded and decoded without loss."""

from __future__ import annotations

import pytest
from hypothesis import given

from reliquary.base.faults import UsageError
from reliquary.wire.packet.properties import RC4, SHA1, PropertiesHeader
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed, fault_of, read
from tests.wire.packet.vector import PACKET

PROPERTIES = PACKET[0x88:]
SMALL = PropertiesHeader(label="ab", extension=b"ext", body=b"body!", slack=b"?").encode()


def test_the_published_header_is_encoded_and_decoded() -> None:
    header = read(PropertiesHeader.decode, PROPERTIES)
    assert header == PropertiesHeader(
        acknowledgements=15,
        label="mqsender label",
        body_type=8,
        hash_algorithm=SHA1,
        encryption_algorithm=RC4,
        body=b"a\0" * 1000,
    )
    assert header.encode() == PROPERTIES


@given(strategies.properties)
def test_any_header_is_encoded_and_decoded(header: PropertiesHeader) -> None:
    raw = header.encode()
    assert len(raw) % 4 == 0
    assert read(PropertiesHeader.decode, raw) == header


@pytest.mark.spec("DM-279")
def test_lengths_are_counted_and_extension_and_body_are_not_aligned() -> None:
    assert SMALL[1] == 3
    assert [int.from_bytes(SMALL[at : at + 4], "little") for at in (32, 36, 52)] == [5, 6, 3]
    assert SMALL[56:] == b"a\0b\0\0\0extbody!?\0"


def test_a_packet_without_a_label_is_read_with_an_empty_one() -> None:
    assert len(PropertiesHeader().encode()) == 56
    assert PropertiesHeader().label_bytes == b""


def test_a_label_that_is_only_a_zero_is_read_as_empty() -> None:
    raw = changed(PropertiesHeader().encode(), 1, to=b"\1")
    assert read(PropertiesHeader.decode, raw + bytes(4)) == PropertiesHeader()


def test_unused_bits_are_ignored() -> None:
    assert read(PropertiesHeader.decode, changed(SMALL, 0, to=b"\xf3")).acknowledgements == 3


@pytest.mark.parametrize(
    ("at", "to", "offset", "why"),
    [
        pytest.param(1, b"\xfb", 1, "at most 250", id="label too long"),
        pytest.param(1, b"\x02", 56, "does not end with a zero", id="label without its zero"),
        pytest.param(32, b"\7\0\0\0", 36, "has room for 6", id="body larger than its room"),
        pytest.param(36, b"\xff\0\0\0", 70, "room takes", id="room larger than the packet"),
        pytest.param(52, b"\xff\xff\xff\xff", 62, "extension takes", id="extension larger than the packet"),
    ],
)
def test_what_is_wrong_is_refused_with_its_offset(at: int, to: bytes, offset: int, why: str) -> None:
    fault = fault_of(PropertiesHeader.decode, changed(SMALL, at, to=to))
    assert fault.offset == offset
    assert why in fault.why


@pytest.mark.parametrize("size", range(len(SMALL)))
def test_a_cut_one_is_refused(size: int) -> None:
    fault_of(PropertiesHeader.decode, SMALL[:size])


def test_a_label_has_two_hundred_and_forty_nine_units() -> None:
    longest = PropertiesHeader(label="x" * 249)
    assert read(PropertiesHeader.decode, longest.encode()) == longest
    with pytest.raises(UsageError, match="at most 249 UTF-16 units, this one has 250"):
        PropertiesHeader(label="\U0001f600" * 125).encode()


def test_a_correlation_has_twenty_bytes() -> None:
    with pytest.raises(UsageError, match="20 bytes, not 19"):
        PropertiesHeader(correlation=bytes(19)).encode()
