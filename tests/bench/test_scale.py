"""Tests the model of `./dev bench scale`: what a number of messages a day needs."""

from __future__ import annotations

import pytest

from bench.scale import Costs, least, needs

COSTS = Costs(manager_us=95, stored_bytes=1229, feed_us=6.4, feed_bytes=1089)


@pytest.mark.parametrize(("a_day", "managers"), [(1e6, 1), (1e8, 1), (1e9, 6)])
def test_managers_grow_with_the_peak(a_day: float, managers: int) -> None:
    assert needs(a_day, COSTS).managers == managers


def test_disk_and_network_grow_with_the_bodies() -> None:
    small, large = needs(1e8, COSTS), needs(1e8, COSTS, body=10 * 1024)
    assert small.disk_bytes_a_day == pytest.approx(122.9e9)
    assert large.disk_bytes_a_day - small.disk_bytes_a_day == pytest.approx(1e8 * 9 * 1024)
    assert large.network_bits - small.network_bits == pytest.approx(3 * small.peak * 9 * 1024 * 8)
    assert large.managers == small.managers


def test_spark_history_and_lake_grow_with_the_messages() -> None:
    few, many = needs(1e6, COSTS), needs(1e9, COSTS)
    assert many.spark_cores == pytest.approx(1000 * few.spark_cores)
    assert (few.executors, many.executors) == (1, 1)
    assert needs(1e11, COSTS).executors == 2
    assert few.history_bytes_a_day == pytest.approx(1e6 * 1.5 + 8640 * 5000)
    assert many.lake_bytes_a_day == pytest.approx(1000 * few.lake_bytes_a_day)


def test_a_body_lies_in_two_tables_of_the_lake() -> None:
    small, large = needs(1e8, COSTS), needs(1e8, COSTS, body=10 * 1024)
    assert large.lake_bytes_a_day - small.lake_bytes_a_day == pytest.approx(2 * 1e8 * 9 * 1024)
    assert large.history_bytes_a_day == small.history_bytes_a_day


def test_the_least_is_taken_of_each_cost() -> None:
    assert least([Costs(9, 2, 3, 4), Costs(8, 5, 3, 9)]) == Costs(8, 2, 3, 4)
