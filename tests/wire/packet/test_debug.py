"""DebugHeader is encoded and decoded without loss."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.wire.packet.debug import DebugHeader
from tests.wire.packet.both_ways import changed, fault_of, read

FORMS = [
    (DebugHeader(), bytes(4)),
    (DebugHeader(UUID(int=0)), b"\1\0\0\0" + bytes(16)),
    (DebugHeader(UUID(int=1)), b"\1\0\0\0" + bytes(15) + b"\1"),
]


@pytest.mark.spec("DM-281")
@pytest.mark.parametrize(("header", "raw"), FORMS)
def test_a_queue_or_none_is_encoded_and_decoded(header: DebugHeader, raw: bytes) -> None:
    assert header.encode() == raw
    assert read(DebugHeader.decode, raw) == header


def test_reserved_bits_are_ignored() -> None:
    assert read(DebugHeader.decode, b"\xfc\xff\xff\xff") == DebugHeader()


@pytest.mark.parametrize("kind", [2, 3])
def test_another_kind_of_queue_is_refused(kind: int) -> None:
    assert fault_of(DebugHeader.decode, changed(FORMS[2][1], 0, to=bytes([kind]))).offset == 0


@pytest.mark.parametrize("size", [0, 3, 4, 19])
def test_a_cut_one_is_refused(size: int) -> None:
    fault_of(DebugHeader.decode, FORMS[2][1][:size])
