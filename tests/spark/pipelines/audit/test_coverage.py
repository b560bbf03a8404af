"""Tests what a history covers: numbers without a gap, in blocks that merge."""

from __future__ import annotations

import random
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.coverage import (
    REASONS,
    SIZE,
    Block,
    CoveredInterval,
    merge,
    stretches,
    together,
)
from reliquary.spark.pipelines.audit.verdicts import Reason


def blocks_of(numbers: list[int], gaps: frozenset[int] = frozenset(), manager: str = "m") -> list[Block]:
    """Return the blocks of these events; the time of event n is 10 n."""
    found = []
    for number, group in groupby(sorted(numbers), lambda each: each // SIZE):
        chosen = list(group)
        gap = max((10 * each for each in chosen if each in gaps), default=None)
        found.append(
            Block(
                manager,
                number,
                len(chosen),
                sum(chosen),
                chosen[0],
                chosen[-1],
                10 * chosen[0],
                10 * chosen[-1],
                gap,
            )
        )
    return found


def stretch_of(numbers: list[int], gaps: frozenset[int] = frozenset()) -> CoveredInterval:
    return stretches(blocks_of(numbers, gaps))["m"]


def uncovered(covered: CoveredInterval, since: int, until: int) -> Reason | None:
    """Return the reason why an interval is not covered; None if it is."""
    place = covered.uncovered(np.array([since]), np.array([until])).item()
    return None if place < 0 else REASONS[place]


def test_a_whole_history_covers_all_up_to_its_last_event() -> None:
    whole = stretch_of(list(range(1, 3 * SIZE)))
    assert whole == CoveredInterval(None, 10 * (3 * SIZE - 1), (), 3 * SIZE - 1, 10)
    assert uncovered(whole, -5, whole.until) is None
    assert uncovered(whole, 0, whole.until + 1) is Reason.TOO_RECENT


def test_a_history_that_begins_later_covers_nothing_before() -> None:
    late = stretch_of(list(range(100, 200)))
    assert late.since == 1000
    assert uncovered(late, 999, 1500) is Reason.TOO_OLD
    assert uncovered(late, 1000, 1500) is None


@given(st.one_of(st.integers(1, 50), st.integers(SIZE - 50, SIZE + 50)), st.integers(0, 60))
@settings(max_examples=30, deadline=None)
def test_whatever_is_missing_in_the_middle_is_in_a_hole(first: int, more: int) -> None:
    missing = set(range(first + 1, first + 2 + more))
    chosen = stretch_of([each for each in range(1, first + 200 + more) if each not in missing])
    for each in missing:
        assert uncovered(chosen, 10 * each, 10 * each) is Reason.MISSING
    assert uncovered(chosen, 0, 10 * (first // SIZE * SIZE) - 20) is None or first < SIZE


def test_a_gap_that_is_reported_makes_a_hole_before_it() -> None:
    stretch = stretch_of(list(range(1, 3 * SIZE)), frozenset({2 * SIZE + 7}))
    assert uncovered(stretch, 10 * (2 * SIZE + 3), 10 * (2 * SIZE + 3)) is Reason.MISSING
    assert uncovered(stretch, 10 * (2 * SIZE + 8), 10 * (2 * SIZE + 9)) is None
    assert uncovered(stretch, 0, 10 * SIZE) is None


def test_a_gap_before_the_first_event_is_a_beginning() -> None:
    begun = stretch_of(list(range(1, 100)), frozenset({1}))
    assert uncovered(begun, 0, 5) is Reason.MISSING
    assert uncovered(begun, 11, 500) is None


def test_an_event_that_came_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="came more than once: give each history folder once"):
        stretch_of([*range(1, 100), 50])
    with pytest.raises(UsageError, match="came more than once"):
        stretch_of([*range(1, 50), 49, *range(51, 100)])  # the count is right, the sum is not


def test_blocks_merge_in_any_order() -> None:
    blocks = [block for each in range(1, 500) for block in blocks_of([each], frozenset({9}))]
    blocks += blocks_of(list(range(7, 99)), manager="n")
    shuffled = list(blocks)
    random.Random(3).shuffle(shuffled)
    assert merge(shuffled) == merge(blocks) == merge(merge(blocks[:100]) + merge(blocks[100:]))
    assert merge(blocks)[0] == blocks_of(list(range(1, 500)), frozenset({9}))[0]


def test_what_several_cover_is_what_each_covers() -> None:
    one, two = CoveredInterval(None, 100, ((10, 20),)), CoveredInterval(5, 50, ((30, 31),))
    both = together(["one", "two"], {"one": one, "two": two})
    assert both == CoveredInterval(5, 50, ((10, 20), (30, 31)))
    assert together(["one", "three"], {"one": one}) is None
    assert together([], {}) is None
