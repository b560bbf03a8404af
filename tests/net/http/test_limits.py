"""Tests the bounds of a listener."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.http.limits import Limits


def test_the_defaults_are_those_of_the_design() -> None:
    limits = Limits()
    assert (limits.head_bytes, limits.headers, limits.body_bytes) == (65_536, 100, 67_108_864)
    assert (limits.pipelined, limits.connections) == (256, 10_000)
    assert (limits.head_time, limits.body_time, limits.idle_time) == (30_000_000, 60_000_000, 120_000_000)


def test_a_limit_below_one_is_refused_by_name_and_value() -> None:
    with pytest.raises(UsageError, match="pipelined is 0, it must be at least 1"):
        Limits(pipelined=0)
