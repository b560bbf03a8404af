"""The real clock."""

from __future__ import annotations

import time

import pytest

from reliquary.net.clock import RealClock


def test_the_clock_tells_microseconds_since_1970(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_123_456_789)
    assert RealClock().now() == 1_700_000_000_123_456


def test_a_calendar_that_jumps_back_is_answered_at_half_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Microseconds of the calendar, of the counting clock, and what is told."""
    steps = [
        (5_000, 100, 5_000),
        (2_000, 200, 5_000),  # set back by more than three thousand
        (2_100, 300, 5_050),
        (4_000, 2_200, 6_000),
        (6_000, 4_200, 7_000),
        (7_999, 6_200, 8_000),
        (8_400, 6_600, 8_400),  # caught up
        (8_500, 6_700, 8_500),
        (8_000, 6_800, 8_500),  # and again
        (8_010, 6_900, 8_550),
    ]
    clock = RealClock()
    for calendar, counted, told in steps:
        monkeypatch.setattr(time, "time_ns", lambda at=calendar: at * 1_000)
        monkeypatch.setattr(time, "monotonic_ns", lambda at=counted: at * 1_000)
        assert clock.now() == told


def test_the_counting_clock_is_in_microseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic_ns", lambda: 7_654_321)
    assert RealClock().monotonic() == 7_654
