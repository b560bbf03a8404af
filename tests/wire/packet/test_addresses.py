"""Tests all eight kinds of queue names in the user header."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest
from hypothesis import given

from reliquary.base.faults import UsageError
from reliquary.wire.packet import addresses
from reliquary.wire.packet.addresses import NOWHERE, Address, AddressKind
from reliquary.wire.packet.fields import Reader
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import fault_of, read

GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
GUID_HEX = "33221100 5544 7766 8899aabbccddeeff"

FORMS = [
    (NOWHERE, ""),
    (Address(AddressKind.SAME_AS_ADMIN), ""),
    (Address(AddressKind.PRIVATE_ON_SOURCE, 0x1F), "1f000000"),
    (Address(AddressKind.PRIVATE_ON_DESTINATION, 0x1F), "1f000000"),
    (Address(AddressKind.PRIVATE_ON_ADMIN, 0x1F), "1f000000"),
    (Address(AddressKind.PUBLIC, guid=GUID), GUID_HEX),
    (Address(AddressKind.PRIVATE, 0x1F, GUID), GUID_HEX + "1f000000"),
    (Address(AddressKind.DIRECT, direct="OS:a"), "0a00 4f00 5300 3a00 6100 0000"),
    (Address(AddressKind.DIRECT, direct="OS:ab"), "0c00 4f00 5300 3a00 6100 6200 0000 0000"),
]


def decoder(kind: AddressKind) -> Callable[[Reader], Address]:
    def decode(reader: Reader) -> Address:
        reader.begin("MS-MQMQ 2.2.19.2")
        return Address.decode(reader, kind, "the response queue")

    return decode


@pytest.mark.spec("DM-277")
@pytest.mark.parametrize(("address", "raw"), FORMS, ids=[address.kind.name for address, _ in FORMS])
def test_each_kind_is_encoded_and_decoded(address: Address, raw: str) -> None:
    assert address.encode() == bytes.fromhex(raw)
    assert read(decoder(address.kind), bytes.fromhex(raw)) == address


def test_every_kind_is_tried() -> None:
    assert {address.kind for address, _ in FORMS} == set(AddressKind)


@given(strategies.address(list(AddressKind)))
def test_any_address_is_encoded_and_decoded(address: Address) -> None:
    assert read(decoder(address.kind), address.encode()) == address


def test_the_content_has_no_padding_and_the_count_says_so() -> None:
    address = Address(AddressKind.DIRECT, direct="OS:ab")
    assert len(address.content()) == 14
    assert len(address.encode()) == 16
    assert read(decoder(AddressKind.DIRECT), address.content() + b"??") == address


@pytest.mark.parametrize("text", ["", "OS:a,DIRECT=OS:b", "OS:a\nb"])
def test_a_direct_name_is_one_name(text: str) -> None:
    raw = (text + "\0").encode("utf-16-le")
    size = len(raw).to_bytes(2, "little")
    assert fault_of(decoder(AddressKind.DIRECT), size + raw).offset == 2
    with pytest.raises(UsageError, match="no direct name"):
        Address(AddressKind.DIRECT, direct=text).encode()


@pytest.mark.parametrize("kind", [kind for kind in AddressKind if kind > AddressKind.SAME_AS_ADMIN])
def test_a_cut_one_is_refused(kind: AddressKind) -> None:
    raw = next(bytes.fromhex(raw) for address, raw in FORMS if address.kind is kind)
    for size in range(len(raw)):
        fault_of(decoder(kind), raw[:size])


def test_only_short_names_are_remembered() -> None:
    """A peer chooses the names in its packets; long ones would fill the memory."""
    addresses._known.clear()
    for size in range(500, 520):
        address = Address(AddressKind.DIRECT, direct="OS:" + "x" * size)
        assert read(decoder(AddressKind.DIRECT), address.encode()) == address
    assert 0 < len(addresses._known) < 20
    assert max(map(len, addresses._known)) <= addresses.LONGEST_KNOWN
