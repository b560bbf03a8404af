"""Tests that histograms count each value once, in the right bucket."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reliquary.engine.histogram import INFINITE, Histogram

BOUNDS = (1.0, 2.0, 5.0)


def test_a_value_at_a_bound_does_not_pass_it() -> None:
    found = Histogram(BOUNDS)
    for value in (0, 1, 1.5, 2, 6):
        found.add(value)
    assert list(found.cumulative()) == [(1.0, 2), (2.0, 4), (5.0, 4), (INFINITE, 5)]
    assert (found.count, found.sum) == (5, 10.5)


@given(st.lists(st.integers(0, 8)))
def test_each_bucket_has_the_values_up_to_its_bound(values: list[int]) -> None:
    found = Histogram(BOUNDS)
    for value in values:
        found.add(value)
    assert list(found.cumulative()) == [
        (bound, sum(value <= bound for value in values)) for bound in (*BOUNDS, INFINITE)
    ]
    assert found.sum == sum(values)
    assert [found.above(bound) for bound in BOUNDS] == [
        sum(value > bound for value in values) for bound in BOUNDS
    ]
