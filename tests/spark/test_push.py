"""Filters that the server applies say exactly what Spark asked; the others stay with Spark."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
)

from reliquary.client.feed import Bounds
from reliquary.spark.push import is_empty, push

ID = ("lookup_id",)
WHEN = datetime(2026, 11, 15, 12, 0, 0, 1, tzinfo=UTC)
MICROSECONDS = 1_794_744_000_000_001

COMPARE: dict[type[Filter], Callable[[int, Any], bool]] = {
    EqualTo: lambda value, bound: value == bound,
    GreaterThan: lambda value, bound: value > bound,
    GreaterThanOrEqual: lambda value, bound: value >= bound,
    LessThan: lambda value, bound: value < bound,
    LessThanOrEqual: lambda value, bound: value <= bound,
    In: lambda value, bound: value in bound,
}


def one_filter() -> st.SearchStrategy[Filter]:
    number = st.integers(-3, 12)
    kinds = [kind for kind in COMPARE if kind is not In]
    return st.one_of(
        st.builds(lambda kind, value: kind(ID, value), st.sampled_from(kinds), number),
        st.builds(lambda values: In(ID, tuple(values)), st.lists(number, min_size=1, max_size=3)),
    )


@given(st.lists(one_filter(), max_size=4), st.integers(-5, 15))
def test_the_bounds_and_what_is_left_say_what_all_filters_say(filters: list[Filter], value: int) -> None:
    bounds, left = push(filters, Bounds())

    def says(each: Filter) -> bool:
        return COMPARE[type(each)](value, each.value)  # type: ignore[attr-defined]

    low = bounds.from_lookup if bounds.from_lookup is not None else value
    high = bounds.to_lookup if bounds.to_lookup is not None else value
    assert (low <= value <= high and all(map(says, left))) == all(map(says, filters))
    if is_empty(bounds):
        assert not all(map(says, filters))


def test_times_are_microseconds_of_the_arrival() -> None:
    filters = [GreaterThan(("arrived",), WHEN), LessThanOrEqual(("arrived",), WHEN), IsNotNull(("arrived",))]
    bounds, left = push(filters, Bounds())
    assert bounds == Bounds(from_time=MICROSECONDS + 1, to_time=MICROSECONDS)
    assert left == []
    assert is_empty(bounds)


@pytest.mark.parametrize(
    "each",
    [
        EqualTo(("label",), "x"),
        EqualTo(("a", "lookup_id"), 1),
        EqualTo(ID, "7"),
        EqualTo(ID, True),
        EqualTo(("arrived",), WHEN.replace(tzinfo=None)),
        EqualNullSafe(ID, 1),
        Not(EqualTo(ID, 1)),
        In(ID, (1, None)),
        In(ID, ()),
    ],
)
def test_what_the_server_cannot_do_stays_with_spark(each: Filter) -> None:
    assert push([each], Bounds()) == (Bounds(), [each])


def test_a_list_narrows_and_stays_with_spark_unless_it_has_one_value() -> None:
    several, one = In(ID, (5, 1, 9)), In(ID, (7,))
    assert push([several], Bounds()) == (Bounds(from_lookup=1, to_lookup=9), [several])
    assert push([one], Bounds()) == (Bounds(from_lookup=7, to_lookup=7), [])
