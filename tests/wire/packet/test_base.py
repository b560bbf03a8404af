"""BaseHeader is encoded and decoded without loss."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.wire.packet.base import DEBUG, SESSION, SIZE_LIMIT, BaseHeader
from tests.wire.packet.both_ways import changed, fault_of, read
from tests.wire.packet.vector import HEADERS

BASE = HEADERS[:16]


@pytest.mark.spec("DM-269")
def test_the_published_header_is_encoded_and_decoded() -> None:
    header, flags, size = read(BaseHeader.decode, BASE)
    assert header == BaseHeader(3, tracing=False, time_to_reach_queue=345600)
    assert (flags, size) == (3, 0x8B0)
    assert header.encode(0x8B0, 0) == BASE


def test_flags_of_other_headers_and_of_tracing() -> None:
    raw = BaseHeader(7, tracing=True).encode(16, DEBUG | SESSION)
    assert raw[2:4] == b"\x37\x01"
    assert read(BaseHeader.decode, raw)[0] == BaseHeader(7, tracing=True)


def test_reserved_bits_and_the_reserved_byte_are_ignored() -> None:
    assert read(BaseHeader.decode, changed(BASE, 1, to=b"\xff\xc3\xfe"))[0].priority == 3


@pytest.mark.parametrize(
    ("at", "to", "offset", "why"),
    [
        pytest.param(0, b"\x11", 0, "version", id="version"),
        pytest.param(2, b"\x0b", 2, "internal", id="an internal packet"),
        pytest.param(3, b"\x01", 2, "traced", id="tracing without a debug header"),
        pytest.param(4, b"LION", 4, "signature word", id="signature"),
        pytest.param(8, b"\x01\x00\x40\x00", 8, str(SIZE_LIMIT), id="too large"),
        pytest.param(8, b"\x0f\0\0\0", 8, "and this one says 15", id="too small"),
    ],
)
def test_what_is_wrong_is_refused_with_its_offset(at: int, to: bytes, offset: int, why: str) -> None:
    fault = fault_of(BaseHeader.decode, changed(BASE, at, to=to))
    assert fault.offset == offset
    assert why in fault.why


def test_a_short_one_is_refused() -> None:
    assert "0 are left" not in fault_of(BaseHeader.decode, BASE[:15]).why


@pytest.mark.parametrize(
    ("header", "size", "why"),
    [
        (BaseHeader(), SIZE_LIMIT + 4, "at most"),
        (BaseHeader(8), 16, "priority"),
        (BaseHeader(tracing=True), 16, "debug header"),
    ],
)
def test_what_cannot_be_written_is_the_callers_mistake(header: BaseHeader, size: int, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        header.encode(size, 0)
