"""Instants and durations are whole microseconds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import (
    DAY,
    HOUR,
    LAST_SECOND,
    MILLISECOND,
    MINUTE,
    SECOND,
    Duration,
    Instant,
    between,
    in_whole_seconds,
    later,
    seconds,
)

moments = st.integers(0, 2**62).map(Instant)
lengths = st.integers(-(2**40), 2**40).map(Duration)


def test_the_units_are_microseconds() -> None:
    assert (MILLISECOND, SECOND, MINUTE, HOUR, DAY) == (
        1_000,
        1_000_000,
        60_000_000,
        3_600_000_000,
        86_400_000_000,
    )


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(0, 0, id="nothing"),
        pytest.param(1.5, 1_500_000, id="a fraction"),
        pytest.param(0.1, 100_000, id="one that a float cannot hold"),
        pytest.param(345_600, 4 * DAY, id="four days"),
        pytest.param(-2, -2_000_000, id="backwards"),
    ],
)
def test_seconds_are_converted_to_microseconds(count: float, expected: int) -> None:
    assert seconds(count) == expected
    assert isinstance(seconds(count), int)


@given(moments, lengths)
def test_the_span_between_two_moments_leads_from_one_to_the_other(moment: Instant, span: Duration) -> None:
    assert between(moment, later(moment, span)) == span


@given(st.integers(0, LAST_SECOND * SECOND).map(Instant))
def test_whole_seconds_are_never_in_the_future(moment: Instant) -> None:
    assert 0 <= moment - in_whole_seconds(moment) * SECOND < SECOND


@pytest.mark.parametrize("after", [0, 1, SECOND, 100 * 365 * DAY])
def test_whole_seconds_after_2106_are_the_last_ones_that_32_bits_hold(after: int) -> None:
    assert in_whole_seconds(Instant(LAST_SECOND * SECOND + after)) == 2**32 - 1
