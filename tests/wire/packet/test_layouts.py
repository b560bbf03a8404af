"""Tests the tables of fields from which the codecs and the dissector are made."""

from __future__ import annotations

import pytest

from reliquary.wire.packet import base, layouts, user
from reliquary.wire.packet.layouts import Layout

TABLES = [table for table in vars(layouts).values() if isinstance(table, Layout)]


@pytest.mark.spec("QB-009")
def test_all_numbers_are_little_endian_and_nothing_is_aligned() -> None:
    assert layouts.BASE.struct.format == "<BBHIII"
    assert layouts.BASE.struct.pack(1, 2, 3, 4, 5, 6)[2:4] == b"\3\0"


def test_the_sizes_are_those_of_the_specification() -> None:
    assert {table.name: table.struct.size for table in TABLES} == {
        "BaseHeader": 16,
        "InternalHeader": 4,
        "EstablishConnection": 552,
        "ConnectionParameters": 12,
        "SessionHeader": 16,
        "UserHeader": 48,
        "TransactionHeader": 20,
        "SecurityHeader": 16,
        "MessagePropertiesHeader": 56,
        "OrderAck body": 36,
        "FinalAck body": 36,
        "Ping": 24,
    }


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_bits_of_a_field_do_not_overlap_and_fit_into_it(table: Layout) -> None:
    for field in table.fields:
        seen = 0
        for bits in field.bits:
            assert not seen & bits.mask, f"{field.name}.{bits.name}"
            seen |= bits.mask
        assert seen < 1 << 8 * field.size


def test_an_offset_is_the_sum_of_the_sizes_before_it() -> None:
    assert layouts.USER.offset("Flags") == 44
    assert layouts.BASE.offset("VersionNumber") == 0


def test_the_bits_are_those_that_the_codec_tests() -> None:
    flags = {bits.name: bits.mask for bits in layouts.BASE.fields[2].bits}
    assert flags == {
        "PR": base.PRIORITY,
        "IN": base.INTERNAL,
        "SH": base.SESSION,
        "DH": base.DEBUG,
        "TR": base.TRACING,
    }
    word = {bits.name: bits.mask for bits in layouts.USER.fields[5].bits}
    assert word["RC"] == user.HOPS_LIMIT
    assert [word[name] for name in ("SH", "TH", "MP", "CT", "MQ", "AH", "HH")] == [
        user.SECURITY,
        user.TRANSACTION,
        user.PROPERTIES,
        user.CONNECTOR,
        user.MULTI_QUEUE,
        user.HTTP,
        user.SOAP,
    ]
