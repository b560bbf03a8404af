"""TransactionHeader is encoded and decoded without loss."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given

from reliquary.base.faults import UsageError
from reliquary.wire.packet.transaction import TransactionHeader
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed, fault_of, read

HEADER = TransactionHeader(0x12345, 1, 2, 3, 2, True, False, True, UUID(int=0xFF))
RAW = bytes.fromhex("5b341200 01000000 02000000 03000000 02000000 00000000000000000000000000 0000ff")


@pytest.mark.spec("DM-270", "DM-277")
def test_each_field_is_at_its_place() -> None:
    assert HEADER.encode() == RAW
    assert read(TransactionHeader.decode, RAW) == HEADER


@given(strategies.transactions)
def test_any_header_is_encoded_and_decoded(header: TransactionHeader) -> None:
    assert read(TransactionHeader.decode, header.encode()) == header


def test_a_header_without_a_connector_has_twenty_bytes() -> None:
    assert len(TransactionHeader().encode()) == 20


def test_reserved_bits_are_ignored() -> None:
    assert read(TransactionHeader.decode, changed(RAW, 3, to=b"\xff")) == HEADER


@pytest.mark.parametrize("size", [0, 19, 20, 35])
def test_a_cut_one_is_refused(size: int) -> None:
    fault_of(TransactionHeader.decode, RAW[:size])


def test_a_number_of_more_than_twenty_bits_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="1048576"):
        TransactionHeader(1 << 20).encode()
