"""Tests that written stubs are read again, and that long byte strings are not copied."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.ndr.reader import MOST_ELEMENTS, NdrReader
from reliquary.wire.ndr.writer import NdrWriter

NUMBERS = {
    "u8": st.integers(0, 0xFF),
    "u16": st.integers(0, 0xFFFF),
    "u32": st.integers(0, 0xFFFFFFFF),
    "u64": st.integers(0, 0xFFFFFFFFFFFFFFFF),
    "enum": st.integers(0, 0xFFFF),
    "pointer": st.integers(0, 0xFFFFFFFF),
    "size": st.integers(0, MOST_ELEMENTS),
    "guid": st.uuids(),
    "handle": st.uuids(),
    "raw": st.binary(max_size=1200),
}
VALUES = st.lists(
    st.one_of(*(st.tuples(st.just(kind), values) for kind, values in NUMBERS.items())), max_size=12
)


@settings(max_examples=50)
@given(VALUES, st.sampled_from((NDR20, NDR64)))
def test_what_is_written_is_read_again(values: list[tuple[str, Any]], encoding: Encoding) -> None:
    writer = NdrWriter(encoding)
    for kind, value in values:
        getattr(writer, kind)(value)
    size = writer.at
    parts = writer.parts()
    stub = b"".join(parts)
    assert len(stub) == size
    assert writer.take() == stub
    reader = NdrReader(stub, encoding)
    for kind, value in values:
        found = reader.raw(len(value)) if kind == "raw" else getattr(reader, kind)()
        assert found == value
    assert reader.left == 0


def test_a_long_byte_string_is_not_copied() -> None:
    packet = bytes(5000)
    writer = NdrWriter(NDR20)
    writer.u32(1)
    writer.raw(packet)
    writer.u8(2)
    parts = writer.parts()
    assert [len(part) for part in parts] == [4, 5000, 1]
    assert parts[1] is packet


def test_a_gap_is_zero() -> None:
    writer = NdrWriter(NDR64)
    writer.u8(0xFF)
    writer.pointer(1)
    assert writer.take() == bytes.fromhex("ff00000000000000 0100000000000000")


def test_a_number_that_is_too_large_is_a_programming_error() -> None:
    with pytest.raises(struct.error):
        NdrWriter(NDR20).u16(0x10000)
