"""Tests UserHeader with each of its flags."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given

from reliquary.base.faults import UsageError
from reliquary.wire.packet.addresses import Address, AddressKind
from reliquary.wire.packet.user import (
    HTTP,
    MULTI_QUEUE,
    PROPERTIES,
    SECURITY,
    SOAP,
    TRANSACTION,
    UserHeader,
)
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed, fault_of, read
from tests.wire.packet.vector import HEADERS

USER = HEADERS[16:0x5C]
FLAGS = 44


def flags_of(header: UserHeader, presence: int = PROPERTIES) -> int:
    return int.from_bytes(header.encode(presence)[FLAGS : FLAGS + 4], "little")


def with_flags(flags: int) -> bytes:
    return changed(UserHeader().encode(PROPERTIES), FLAGS, to=flags.to_bytes(4, "little"))


@pytest.mark.spec("DM-269")
def test_the_published_header_is_encoded_and_decoded() -> None:
    header, flags = read(UserHeader.decode, USER)
    assert header == UserHeader(
        source=UUID("557358d1-9150-9595-4997-b6e611ea26c6"),
        sent_time=0x524F494C,
        message_id=2286,
        destination=Address(AddressKind.DIRECT, direct="OS:a04bm02\\q"),
    )
    assert flags == 0x00281C00
    assert header.encode(PROPERTIES | SECURITY) == USER


@given(strategies.users)
def test_any_header_is_encoded_and_decoded(header: UserHeader) -> None:
    assert read(UserHeader.decode, header.encode(PROPERTIES))[0] == header


@pytest.mark.spec("DM-277")
@pytest.mark.parametrize(
    ("header", "mask"),
    [
        (UserHeader(hops=0x1F), 0x1F),
        (UserHeader(recoverable=True), 0x20),
        (UserHeader(dead_letter=True), 0x100),
        (UserHeader(journal=True), 0x200),
        (UserHeader(destination=Address(AddressKind.PRIVATE_ON_DESTINATION)), 3 << 10),
        (UserHeader(admin=Address(AddressKind.PRIVATE)), 6 << 13),
        (UserHeader(response=Address(AddressKind.PRIVATE_ON_ADMIN)), 4 << 16),
        (UserHeader(connector_type=UUID(int=1)), 0x400000),
    ],
)
def test_a_flag_is_at_its_place(header: UserHeader, mask: int) -> None:
    assert flags_of(header) == mask | PROPERTIES


def test_the_flags_of_other_headers_are_taken_over() -> None:
    presence = SECURITY | TRANSACTION | PROPERTIES | MULTI_QUEUE | HTTP | SOAP
    assert presence == 0x12B80000
    assert flags_of(UserHeader(recoverable=True), presence) == presence | 0x20


def test_reserved_bits_are_ignored() -> None:
    assert read(UserHeader.decode, with_flags(PROPERTIES | 0xED000080))[0] == UserHeader()


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        pytest.param(0, "no message properties", id="no properties"),
        pytest.param(PROPERTIES | 0x40, "delivery mode", id="delivery 2"),
        pytest.param(PROPERTIES | 0x60, "delivery mode", id="delivery 3"),
        pytest.param(PROPERTIES | TRANSACTION, "transactional and express", id="express transaction"),
        *[
            pytest.param(PROPERTIES | kind << 10, "destination queue cannot", id=f"destination {kind}")
            for kind in (1, 2, 4, 6)
        ],
        *[
            pytest.param(PROPERTIES | kind << 13, "administration queue cannot", id=f"admin {kind}")
            for kind in (1, 4)
        ],
    ],
)
def test_a_forbidden_flag_is_refused(flags: int, why: str) -> None:
    fault = fault_of(UserHeader.decode, with_flags(flags))
    assert fault.offset == FLAGS
    assert why in fault.why


@pytest.mark.parametrize(
    ("header", "presence", "why"),
    [
        (UserHeader(destination=Address(AddressKind.PRIVATE)), PROPERTIES, "a destination cannot be PRIVATE"),
        (UserHeader(admin=Address(AddressKind.SAME_AS_ADMIN)), PROPERTIES, "SAME_AS_ADMIN"),
        (UserHeader(), PROPERTIES | TRANSACTION, "recoverable"),
        (UserHeader(hops=32), PROPERTIES, "hops"),
    ],
)
def test_what_cannot_be_written_is_the_callers_mistake(header: UserHeader, presence: int, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        header.encode(presence)
