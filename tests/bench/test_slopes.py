"""Tests how growth is judged: powers, lines, and cases that are too expensive."""

from __future__ import annotations

import pytest

from bench.slopes import Line, Point, expensive, line, slope


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, -0.25])
def test_the_slope_is_the_power_with_which_a_cost_grows(power: float) -> None:
    points = [Point(extent, 7 * extent**power) for extent in (1, 10, 1_000, 1_000_000)]
    assert slope(points) == pytest.approx(power)


def test_a_single_case_has_no_slope() -> None:
    assert slope([Point(10, 3.0)]) == 0.0
    assert line([Point(10, 3.0)]) == Line(3.0, 0.0)


def test_a_line_has_a_fixed_and_a_rising_part() -> None:
    fitted = line([Point(1_000, 150.0), Point(100, 105.0), Point(10_000, 600.0)])
    assert fitted.fixed == pytest.approx(100.0)
    assert fitted.rising == pytest.approx(0.05)
    assert not fitted.dominates(1_999)
    assert fitted.dominates(2_001)


def test_a_cost_that_falls_has_no_rising_part() -> None:
    assert line([Point(1, 500.0), Point(1_000, 100.0)]) == Line(500.0, 0.0)


def test_a_case_is_expensive_when_it_costs_a_fifth_more_than_the_smallest() -> None:
    points = [Point(1, 100.0), Point(10, 119.0), Point(100, 121.0), Point(1_000, 60.0)]
    assert expensive(points) == [Point(100, 121.0)]


def test_a_case_that_bytes_dominate_is_not_judged() -> None:
    points = [Point(100, 101.0), Point(1_000, 160.0), Point(1_000_000, 10_100.0)]
    assert expensive(points, bytes_count=True) == [Point(1_000, 160.0)]
    assert expensive(points) == points[1:]
