"""The real clock."""

from __future__ import annotations

import time

import pytest

from reliquary.net.clock import RealClock


def test_the_clock_tells_microseconds_since_1970(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_123_456_789)
    assert RealClock().now() == 1_700_000_000_123_456


def test_a_calendar_that_jumps_back_is_answered_by_standing_still(monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter([5_000_000, 2_000_000, 4_999_999, 6_000_000])
    monkeypatch.setattr(time, "time_ns", lambda: next(told))
    clock = RealClock()
    assert [clock.now() for _ in range(4)] == [5_000, 5_000, 5_000, 6_000]


def test_the_counting_clock_is_in_microseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic_ns", lambda: 7_654_321)
    assert RealClock().monotonic() == 7_654
