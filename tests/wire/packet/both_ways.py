"""Helpers that encode and decode a single header, and return the fault of invalid bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from reliquary.wire.packet.fields import PacketFault, Reader

Header = TypeVar("Header")


def read(decode: Callable[[Reader], Header], data: bytes) -> Header:
    """Return the header that all of the bytes are."""
    reader = Reader(data, 0, len(data))
    header = decode(reader)
    assert reader.at == len(data)
    return header


def fault_of(decode: Callable[[Reader], object], data: bytes) -> PacketFault:
    """Return the fault with which these bytes are refused as a header."""
    with pytest.raises(PacketFault) as caught:
        decode(Reader(data, 0, len(data)))
    assert 0 <= caught.value.offset <= len(data)
    assert f"(at offset {caught.value.offset})" in caught.value.why
    return caught.value


def changed(data: bytes, at: int, *, to: bytes) -> bytes:
    """Return the data with other bytes at one offset."""
    assert len(data) >= at + len(to)
    return data[:at] + to + data[at + len(to) :]
