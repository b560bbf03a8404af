"""Tests of the clock that reads the real time."""

from __future__ import annotations

import time

import pytest

from reliquary.net.clock import RealClock


def test_the_clock_tells_microseconds_since_1970(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_123_456_789)
    assert RealClock().now() == 1_700_000_000_123_456


def test_a_calendar_that_jumps_back_is_answered_a_little_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row has the microseconds of the calendar, of the monotonic clock, and the expected answer."""
    steps = [
        (5_000, 100, 5_000),
        (4_000, 200, 5_000),  # set back by a little more than a thousand
        (4_080, 280, 5_070),
        (5_000, 1_200, 5_875),
        (8_000, 4_200, 8_500),
        (11_999, 8_199, 11_999),  # caught up: an eighth of 8,000 is what it was set back by
        (12_500, 8_700, 12_500),
        (12_400, 8_800, 12_500),  # and again
        (12_410, 8_808, 12_507),
    ]
    clock = RealClock()
    for calendar, counted, reported in steps:
        monkeypatch.setattr(time, "time_ns", lambda at=calendar: at * 1_000)
        monkeypatch.setattr(time, "monotonic_ns", lambda at=counted: at * 1_000)
        assert clock.now() == reported


def test_jumps_forward_are_counted_and_small_corrections_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Milliseconds of the calendar, of the counting clock, and the jumps after it was read."""
    steps = [
        (1_000, 0, 0),
        (2_000, 1_000, 0),
        (2_040, 1_000, 0),  # 40 ms are a correction
        (2_120, 1_040, 1),  # together with 40 more they are a jump
        (9_000, 2_000, 2),
        (5_000, 3_000, 2),  # set back
        (6_000, 4_000, 2),
        (20_000, 5_000, 3),
        (21_000, 6_000, 3),
    ]
    monkeypatch.setattr(time, "time_ns", lambda: 1_000 * 1_000_000)
    monkeypatch.setattr(time, "monotonic_ns", lambda: 0)
    clock = RealClock()
    for calendar, counted, jumps in steps:
        monkeypatch.setattr(time, "time_ns", lambda at=calendar: at * 1_000_000)
        monkeypatch.setattr(time, "monotonic_ns", lambda at=counted: at * 1_000_000)
        clock.now()
        assert clock.jumps == jumps


def test_the_counting_clock_is_in_microseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic_ns", lambda: 7_654_321)
    assert RealClock().monotonic() == 7_654
