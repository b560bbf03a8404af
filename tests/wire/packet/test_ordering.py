"""Tests the bodies of order and final acknowledgements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.wire.packet.ordering import SIZE, FinalBody, OrderBody
from tests.wire.packet import strategies

sequences = st.integers(0, (1 << 64) - 1)


@given(st.builds(OrderBody, sequences, strategies.long, strategies.long))
def test_any_order_body_is_encoded_and_decoded(body: OrderBody) -> None:
    assert OrderBody.decode(body.encode()) == body
    assert len(body.encode()) == SIZE


@given(st.builds(FinalBody, sequences, strategies.long, strategies.long, strategies.guid, strategies.long))
def test_any_final_body_is_encoded_and_decoded(body: FinalBody) -> None:
    assert FinalBody.decode(body.encode()) == body
    assert len(body.encode()) == SIZE


@pytest.mark.spec("QB-067", "QB-068")
def test_reserved_bytes_are_zeros_when_written_and_ignored_when_read() -> None:
    raw = OrderBody(1 << 32 | 2, 3, 2).encode()
    assert raw[16:] == bytes(20)
    assert OrderBody.decode(raw[:16] + b"?" * 20) == OrderBody(1 << 32 | 2, 3, 2)


def test_the_ordinal_is_the_low_half_of_a_sequence_and_comes_first() -> None:
    assert OrderBody(1 << 32 | 2, 3).encode()[:8] == b"\2\0\0\0\1\0\0\0"
