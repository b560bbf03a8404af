"""Tests towers with the bytes of an ept_map exchange, and bytes that are no tower."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import IPv4Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.wire.rpc.syntaxes import NDR20_SYNTAX, QM2QM
from reliquary.wire.rpc.towers import (
    Floor,
    Tower,
    TowerFault,
    decode_floors,
    decode_tower,
    encode_floors,
    encode_tower,
)

TOWER = Tower(QM2QM, NDR20_SYNTAX, 2105, IPv4Address("127.0.0.1"))
GOLDEN = bytes.fromhex(
    """
    05 00 13 00 0d 80 a9 88 10 e5 ea d0 11 8d 9b 00 a0 24 53 c3 37 01 00 02 00 00 00
          13 00 0d 04 5d 88 8a eb 1c c9 11 9f e8 08 00 2b 10 48 60 02 00 02 00 00 00
          01 00 0b 02 00 00 00
          01 00 07 02 00 08 39
          01 00 09 04 00 7f 00 00 01
    """
)


def test_a_tower_over_tcp_is_written_and_read() -> None:
    assert encode_tower(TOWER) == GOLDEN
    assert len(GOLDEN) == 75
    assert decode_tower(GOLDEN) == TOWER


def test_bytes_behind_the_last_floor_are_passed_over() -> None:
    assert decode_tower(GOLDEN + b"\xbf\xbf") == TOWER


@pytest.mark.parametrize("length", range(len(GOLDEN)))
def test_a_tower_that_was_cut_off_is_no_tower(length: int) -> None:
    with pytest.raises(TowerFault):
        decode_tower(GOLDEN[:length])


@pytest.mark.parametrize("floors", [0, 4, 6])
def test_a_tower_of_another_height_is_not_over_tcp(floors: int) -> None:
    some = [*decode_floors(GOLDEN), Floor(b"\x01", b"")]
    assert decode_tower(encode_floors(some[:floors])) is None


def test_a_tower_over_named_pipes_is_of_other_protocols() -> None:
    floors = decode_floors(GOLDEN)
    floors[3] = Floor(b"\x0f", b"\\pipe\\epmapper\0")
    floors[4] = Floor(b"\x11", b"\\\\here\0")
    assert decode_tower(encode_floors(floors)) is None


@pytest.mark.parametrize(
    ("number", "floor"),
    [
        pytest.param(0, Floor(b"\x0d" + bytes(17), bytes(2)), id="a short UUID"),
        pytest.param(0, Floor(b"\x0c" + bytes(18), bytes(2)), id="no UUID"),
        pytest.param(1, Floor(b"\x0d" + bytes(18), bytes(4)), id="a long version"),
        pytest.param(3, Floor(b"\x07", b"\x01"), id="half a port"),
        pytest.param(4, Floor(b"\x09", bytes(16)), id="an address of IPv6"),
    ],
)
def test_a_floor_of_the_wrong_size_is_no_floor(number: int, floor: Floor) -> None:
    floors = decode_floors(GOLDEN)
    floors[number] = floor
    with pytest.raises(TowerFault):
        decode_tower(encode_floors(floors))


@settings(max_examples=50)
@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda tail: GOLDEN[:40] + tail))
def test_any_bytes_are_a_tower_or_a_fault(data: bytes) -> None:
    with suppress(TowerFault):
        decode_tower(data)
