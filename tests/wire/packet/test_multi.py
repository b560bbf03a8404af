"""MultiQueueFormatHeader is encoded and decoded without loss."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given

from reliquary.base.faults import UsageError
from reliquary.wire.packet.multi import ListedKind, ListedQueue, MultiQueueHeader, name_list
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed, fault_of, read

GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
GUID_HEX = "33221100 5544 7766 8899aabbccddeeff"

HEADER = MultiQueueHeader(
    (
        ListedQueue(ListedKind.DIRECT, direct="OS:a"),
        ListedQueue(ListedKind.PRIVATE, GUID, 7),
        ListedQueue(ListedKind.PUBLIC, GUID),
    ),
    (ListedQueue(ListedKind.DISTRIBUTION_LIST, GUID),),
    (),
    b"sig",
)
RAW = bytes.fromhex(
    "44000000 6400 0000 03000000"  # destinations: 68 bytes, three names
    "0300 4f00 5300 3a00 6100 0000"  # OS:a
    f"0200 0000 {GUID_HEX} 07000000"
    f"0100 0000 {GUID_HEX}"
    f"20000000 c800 0000 01000000 0600 0000 {GUID_HEX}"
    "0c000000 2c01 0000 00000000"
    "5e01 0000 03000000 736967 00"
)


@pytest.mark.spec("DM-274", "DM-277")
def test_each_kind_of_name_is_at_its_place() -> None:
    assert HEADER.encode() == RAW
    assert read(MultiQueueHeader.decode, RAW) == HEADER


@given(strategies.multis)
def test_any_header_is_encoded_and_decoded(header: MultiQueueHeader) -> None:
    assert read(MultiQueueHeader.decode, header.encode()) == header


def test_a_size_that_does_not_count_the_padding_is_read_too() -> None:
    header = MultiQueueHeader((ListedQueue(ListedKind.DIRECT, direct="a"),))
    raw = header.encode()
    assert raw[0] == 20
    assert read(MultiQueueHeader.decode, changed(raw, 0, to=b"\x12")) == header


def test_padding_is_ignored() -> None:
    assert read(MultiQueueHeader.decode, changed(RAW, 26, to=b"??")) == HEADER


def test_the_list_of_names_is_what_stands_in_the_packet() -> None:
    assert name_list(HEADER.destinations) == RAW[12:68]


@pytest.mark.parametrize(
    ("at", "to", "offset", "why"),
    [
        pytest.param(4, b"\x65", 4, "the id 0x0065", id="another list"),
        pytest.param(0, b"\x0b", 0, "says that it has 11", id="size below its own header"),
        pytest.param(0, b"\xff\xff\xff\xff", 0, "says that it has", id="size beyond the packet"),
        pytest.param(0, b"\x40", 52, "takes", id="size cuts the last name"),
        pytest.param(8, b"\x02", 48, "after its 2 names", id="count too small"),
        pytest.param(8, b"\x04", 68, "takes", id="count too large"),
        pytest.param(8, b"\xff\xff\xff\xff", 8, "at most 1000", id="more names than are read"),
        pytest.param(12, b"\x04", 12, "4 is no kind", id="a machine's name"),
        pytest.param(14, b"\x2c\x00", 14, "no direct name", id="a comma"),
        pytest.param(112, b"\x5f", 112, "0x015f", id="another signature"),
        pytest.param(116, b"\xff\xff\xff\xff", 120, "takes", id="signature beyond the packet"),
    ],
)
def test_what_is_wrong_is_refused_with_its_offset(at: int, to: bytes, offset: int, why: str) -> None:
    fault = fault_of(MultiQueueHeader.decode, changed(RAW, at, to=to))
    assert why in fault.why
    assert fault.offset == offset


@pytest.mark.parametrize("size", range(len(RAW)))
def test_a_cut_one_is_refused(size: int) -> None:
    fault_of(MultiQueueHeader.decode, RAW[:size])


def test_a_malformed_direct_name_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="no direct name"):
        MultiQueueHeader((ListedQueue(ListedKind.DIRECT, direct="a,b"),)).encode()


def test_a_list_has_at_most_a_thousand_names() -> None:
    queue = ListedQueue(ListedKind.DIRECT, direct="a")
    longest = MultiQueueHeader((queue,) * 1000)
    assert read(MultiQueueHeader.decode, longest.encode()) == longest
    with pytest.raises(UsageError, match="at most 1000 names, this one has 1001"):
        MultiQueueHeader((queue,) * 1001).encode()
