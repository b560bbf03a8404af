"""SessionHeader is encoded and decoded without loss."""

from __future__ import annotations

import pytest
from hypothesis import given

from reliquary.base.faults import UsageError
from reliquary.wire.packet.session import SessionHeader
from tests.wire.packet import strategies
from tests.wire.packet.both_ways import changed, fault_of, read

RAW = bytes.fromhex("0100 0200 03000000 0400 0500 4000 0000")


def test_each_field_is_at_its_place() -> None:
    assert SessionHeader(1, 2, 3, 4, 5).encode() == RAW
    assert read(SessionHeader.decode, changed(RAW, 14, to=b"??")) == SessionHeader(1, 2, 3, 4, 5)


@given(strategies.sessions)
def test_any_header_is_encoded_and_decoded(header: SessionHeader) -> None:
    assert read(SessionHeader.decode, header.encode()) == header


def test_a_window_of_nothing_is_refused_both_ways() -> None:
    assert fault_of(SessionHeader.decode, changed(RAW, 12, to=b"\0")).offset == 12
    with pytest.raises(UsageError, match="window"):
        SessionHeader(window=0).encode()
