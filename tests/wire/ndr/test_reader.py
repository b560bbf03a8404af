"""Tests numbers, pointers, counts, GUIDs and handles, in both syntaxes and both byte orders."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest

from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.ndr.reader import MOST_ELEMENTS, NdrFault, NdrReader

BIG = Encoding(big_endian=True)
GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")


def test_numbers_are_aligned_to_their_size() -> None:
    reader = NdrReader(bytes.fromhex("01ff 0203 04ffffff 0506070800000000 09"), NDR20)
    assert [reader.u8(), reader.u16(), reader.u8()] == [1, 0x0302, 4]
    assert reader.u64() == 0x08070605
    assert reader.u8() == 9
    assert reader.left == 0


@pytest.mark.spec("QP-013")
def test_the_content_of_a_gap_is_ignored() -> None:
    for gap in (0, 0xAA, 0xBF, 0xFF):
        reader = NdrReader(bytes((7, gap, gap, gap, 1, 0, 0, 0)), NDR20)
        assert (reader.u8(), reader.u32()) == (7, 1)


def test_a_big_endian_client_is_read_as_it_writes() -> None:
    reader = NdrReader(bytes.fromhex("0102 0000 01020304 0102030405060708") + GUID.bytes, BIG)
    assert (reader.u16(), reader.u32(), reader.u64()) == (0x0102, 0x01020304, 0x0102030405060708)
    assert reader.guid() == GUID


@pytest.mark.parametrize(
    ("encoding", "size"), [(NDR20, 4), (NDR64, 8)], ids=["pointers of 32 bits", "pointers of 64 bits"]
)
@pytest.mark.spec("QP-007")
def test_pointers_and_counts_are_as_wide_as_the_syntax(encoding: Encoding, size: int) -> None:
    reader = NdrReader(
        b"\1" + bytes(7) + (5).to_bytes(size, "little") + (6).to_bytes(size, "little"), encoding
    )
    reader.u8()
    reader.align(8)
    assert (reader.pointer(), reader.size(), reader.left) == (5, 6, 0)


@pytest.mark.parametrize(("encoding", "size"), [(NDR20, 2), (NDR64, 4)], ids=["16 bits", "32 bits"])
def test_an_enumeration_has_the_width_of_its_syntax(encoding: Encoding, size: int) -> None:
    reader = NdrReader((2).to_bytes(size, "little"), encoding)
    assert (reader.enum(), reader.at) == (2, size)


def test_a_handle_is_its_guid() -> None:
    reader = NdrReader(b"\xee" + bytes(7) + GUID.bytes_le + bytes(20), NDR20)
    reader.u8()
    assert reader.handle() == GUID
    assert reader.handle() == UUID(int=0)


@pytest.mark.spec("QP-013")
@pytest.mark.mqqp("T06")
def test_a_handle_with_attributes_is_refused() -> None:
    with pytest.raises(NdrFault, match="attributes 0x1") as caught:
        NdrReader(b"\1" + bytes(19), NDR20).handle()
    assert caught.value.at == 0


@pytest.mark.spec("QP-013")
@pytest.mark.mqqp("T06")
@pytest.mark.parametrize("encoding", [NDR20, NDR64], ids=["NDR 2.0", "NDR64"])
def test_an_array_has_at_most_as_many_elements_as_the_specification_allows(encoding: Encoding) -> None:
    width = 8 if encoding.wide else 4
    assert NdrReader(MOST_ELEMENTS.to_bytes(width, "little"), encoding).size() == MOST_ELEMENTS
    with pytest.raises(NdrFault, match="2147483648 elements"):
        NdrReader((MOST_ELEMENTS + 1).to_bytes(width, "little"), encoding).size()


READS: list[Callable[[NdrReader], object]] = [
    NdrReader.u8,
    NdrReader.u16,
    NdrReader.u32,
    NdrReader.u64,
    NdrReader.enum,
    NdrReader.pointer,
    NdrReader.size,
    NdrReader.guid,
    NdrReader.handle,
    lambda reader: reader.raw(3),
]


@pytest.mark.spec("QP-013")
@pytest.mark.mqqp("T06")
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("encoding", [NDR20, NDR64, BIG], ids=["NDR 2.0", "NDR64", "big-endian"])
def test_a_stub_that_ends_early_is_refused(read: Callable[[NdrReader], object], encoding: Encoding) -> None:
    whole = NdrReader(bytes(32), encoding)
    read(whole)
    for size in range(whole.at):
        with pytest.raises(NdrFault, match="are left") as caught:
            read(NdrReader(bytes(size), encoding))
        assert 0 <= caught.value.at <= size


def test_an_alignment_past_the_end_leaves_nothing() -> None:
    reader = NdrReader(b"\1", NDR20)
    reader.u8()
    reader.align(8)
    assert reader.left == 0
    with pytest.raises(NdrFault):
        reader.u8()


def test_a_fault_says_where_and_why() -> None:
    fault = NdrFault(12, "a count that lies")
    assert (fault.at, fault.why, str(fault)) == (12, "a count that lies", "a count that lies (at offset 12)")
