"""Tests numbers and bounds in requests."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.feed.values import EVERYTHING, Bounds, bounds_of, number_of
from reliquary.queueing.model.message import Position

PLACES = [Position(each, each, 1, 10 * each) for each in range(5)]


def test_a_number_travels_as_digits() -> None:
    assert (number_of("after", "12"), number_of("after", 12)) == (12, 12)


@pytest.mark.parametrize("given", ["", "-1", "1.5", "x", "٣", str(2**56), "9" * 21, -1])
def test_anything_else_is_refused_by_name(given: str | int) -> None:
    with pytest.raises(UsageError, match=r"^after is a string with a number from 0 to \d+, not "):
        number_of("after", given)


def test_bounds_have_both_ends_in_them() -> None:
    assert EVERYTHING.wanted(PLACES) is PLACES
    assert Bounds(from_lookup=1, to_lookup=3).wanted(PLACES) == PLACES[1:4]
    assert Bounds(from_time=10, to_time=29).wanted(PLACES) == PLACES[1:3]
    assert bounds_of({"from_lookup": "1", "to_time": 7, "columns": "a"}) == Bounds(from_lookup=1, to_time=7)
    with pytest.raises(UsageError, match="from_time is a string"):
        bounds_of({"from_time": "yesterday"})
