"""Tests sequence numbers that wrap around."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reliquary.wire.pgm.serial import HALF, MASK, distance, unfolded


@given(st.integers(0, MASK), st.integers(-HALF, HALF - 1))
def test_a_distance_leads_from_one_number_to_the_other(start: int, way: int) -> None:
    assert distance(start, (start + way) & MASK) == way


@given(st.integers(0, 1 << 40), st.integers(-HALF, HALF - 1))
def test_a_number_is_found_again_near_its_place(near: int, way: int) -> None:
    assert unfolded((near + way) & MASK, near) == near + way
