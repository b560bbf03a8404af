"""Tests SecurityHeader and its provider."""

from __future__ import annotations

import pytest
from hypothesis import given

from reliquary.base.faults import UsageError
from reliquary.wire.packet.security import QUEUE_MANAGER, SID, ProviderInfo, SecurityHeader
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed, fault_of, read
from tests.wire.packet.vector import HEADERS

SECURITY = HEADERS[0x5C:0x88]
FULL = SecurityHeader(
    sender_kind=SID,
    encrypted=True,
    sender=b"sid",
    encryption_key=b"key!",
    signature=b"s",
    certificate=b"cert!",
    provider=ProviderInfo(24, "P"),
)
RAW = (
    bytes.fromhex("2100 0300 0400 0100 05000000 08000000")
    + b"sid\0key!s\0\0\0cert!\0\0\0"
    + bytes.fromhex("18000000 5000 0000")
)


def test_the_published_header_is_read_and_written_though_it_does_not_flag_its_data() -> None:
    header = read(SecurityHeader.decode, SECURITY)
    assert header == SecurityHeader(sender_kind=SID, sender=SECURITY[16:])
    assert len(header.sender) == 28
    assert header.encode() == SECURITY


@pytest.mark.spec("DM-279")
def test_the_parts_come_in_order_and_padded() -> None:
    assert FULL.encode() == RAW
    assert read(SecurityHeader.decode, RAW) == FULL


@given(strategies.securities)
def test_any_header_is_encoded_and_decoded(header: SecurityHeader) -> None:
    assert read(SecurityHeader.decode, header.encode()) == header


@pytest.mark.parametrize(
    ("header", "flags"),
    [
        (SecurityHeader(sender_kind=QUEUE_MANAGER, sender=bytes(16)), 0x0002),
        (SecurityHeader(authenticated=True, signature=b"s"), 0x0010),
        (SecurityHeader(encrypted=True, signature=b"s"), 0x0020),
        (SecurityHeader(default_provider=True, signature=b"s"), 0x0040),
        (SecurityHeader(data_flag=True, signature=b"s"), 0x0080),
        (SecurityHeader(signature_level=5, signature=b"s"), 0x0500),
    ],
)
def test_a_flag_is_at_its_place(header: SecurityHeader, flags: int) -> None:
    assert int.from_bytes(header.encode()[:2], "little") == flags


def test_padding_and_reserved_bits_are_ignored() -> None:
    assert read(SecurityHeader.decode, changed(changed(RAW, 19, to=b"?"), 1, to=b"\xf0")) == FULL


@pytest.mark.parametrize(
    ("at", "to", "offset", "why"),
    [
        pytest.param(0, b"\x23", 0, "kind of sender", id="sender of kind 3"),
        pytest.param(0, b"\x20", 0, "its kind is none", id="sender of no kind"),
        pytest.param(0, b"\x22", 0, "16 bytes, not 3", id="manager of 3 bytes"),
        pytest.param(1, b"\x02", 0, "level of signature", id="level 2"),
        pytest.param(4, b"\xff\xff", 20, "encryption key takes", id="key too long"),
        pytest.param(8, b"\0\0\1\0", 8, "certificate has at most", id="certificate too long"),
        pytest.param(12, b"\2\0\0\0", 36, "no type and name", id="provider too short"),
        pytest.param(12, b"\7\0\0\0", 40, "an odd number", id="provider odd"),
        pytest.param(12, b"\xff\xff\xff\xff", 40, "takes", id="provider too long"),
    ],
)
def test_what_is_wrong_is_refused_with_its_offset(at: int, to: bytes, offset: int, why: str) -> None:
    fault = fault_of(SecurityHeader.decode, changed(RAW, at, to=to))
    assert fault.offset == offset
    assert why in fault.why


def test_a_header_without_data_is_refused_both_ways() -> None:
    assert "no data" in fault_of(SecurityHeader.decode, bytes(16)).why
    with pytest.raises(UsageError, match="must have data"):
        SecurityHeader().encode()


@pytest.mark.parametrize("size", range(0, len(RAW), 3))
def test_a_cut_one_is_refused(size: int) -> None:
    fault_of(SecurityHeader.decode, RAW[:size])


@pytest.mark.parametrize(
    "header",
    [
        SecurityHeader(sender_kind=3, sender=b"s"),
        SecurityHeader(sender=b"s"),
        SecurityHeader(signature_level=2, sender_kind=SID, sender=b"s"),
        SecurityHeader(signature=bytes(0x10000)),
        SecurityHeader(certificate=bytes(0x10000)),
    ],
)
def test_what_cannot_be_written_is_the_callers_mistake(header: SecurityHeader) -> None:
    with pytest.raises(UsageError):
        header.encode()


def test_a_provider_may_have_no_name() -> None:
    raw = bytes.fromhex("0000 0000 0000 0000 00000000 04000000 07000000")
    assert read(SecurityHeader.decode, raw).provider == ProviderInfo(7)
