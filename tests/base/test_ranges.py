"""Compares number ranges with plain sets."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.ranges import NumberRanges

numbers = st.integers(-5, 30)
spans = st.tuples(numbers, st.integers(0, 8)).map(lambda pair: (pair[0], pair[0] + pair[1]))
steps = st.lists(st.tuples(st.sampled_from(("add", "remove")), spans), max_size=20)


def as_set(span: tuple[int, int]) -> set[int]:
    return set(range(span[0], span[1] + 1))


def played(story: list[tuple[str, tuple[int, int]]]) -> tuple[NumberRanges, set[int]]:
    ranges, model = NumberRanges(), set[int]()
    for what, span in story:
        if what == "add":
            ranges.add(*span)
            model |= as_set(span)
        else:
            ranges.remove(*span)
            model -= as_set(span)
    return ranges, model


@given(steps)
def test_ranges_contain_the_numbers_of_a_plain_set(story: list[tuple[str, tuple[int, int]]]) -> None:
    ranges, model = played(story)
    assert [number for low, high in ranges for number in range(low, high + 1)] == sorted(model)
    assert len(ranges) == len(model)
    for number in range(-10, 45):
        assert (number in ranges) == (number in model)


@given(steps)
def test_ranges_are_sorted_and_never_adjacent(story: list[tuple[str, tuple[int, int]]]) -> None:
    ranges = list(played(story)[0])
    assert all(low <= high for low, high in ranges)
    assert all(high + 1 < next_low for (_, high), (next_low, _) in pairwise(ranges))


@given(steps, spans)
def test_gaps_are_the_missing_numbers(
    story: list[tuple[str, tuple[int, int]]], span: tuple[int, int]
) -> None:
    ranges, model = played(story)
    gaps = list(ranges.gaps(*span))
    missing = [number for low, high in gaps for number in range(low, high + 1)]
    assert missing == sorted(as_set(span) - model)
    assert all(low <= high for low, high in gaps)


@given(st.lists(spans))
def test_the_order_of_additions_does_not_matter(given_spans: list[tuple[int, int]]) -> None:
    assert NumberRanges(given_spans) == NumberRanges(reversed(given_spans))


def test_one_number_is_a_range() -> None:
    ranges = NumberRanges([(1, 3), (5, 5)])
    ranges.add(4)
    assert list(ranges) == [(1, 5)]
    ranges.remove(2)
    assert list(ranges) == [(1, 1), (3, 5)]


def test_a_range_with_its_ends_exchanged_is_a_programming_error() -> None:
    with pytest.raises(AssertionError, match="not from 3 to 2"):
        NumberRanges().add(3, 2)


def test_ranges_can_be_changed_during_an_iteration() -> None:
    ranges = NumberRanges([(1, 1), (3, 3), (5, 5)])
    for low, high in ranges:
        ranges.remove(low, high)
    assert len(ranges) == 0


def test_ranges_print_their_constructor_and_cannot_be_hashed() -> None:
    assert repr(NumberRanges([(1, 2)])) == "NumberRanges([(1, 2)])"
    assert NumberRanges([(1, 2)]) != [(1, 2)]
    with pytest.raises(TypeError, match="unhashable"):
        hash(NumberRanges())
