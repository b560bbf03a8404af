"""Whatever the seed does, no promise is broken.  A failure prints the command that repeats it."""

from __future__ import annotations

import pytest

from reliquary.sim.run import simulate

CHUNK = 30


def run_seeds(first: int, count: int) -> None:
    for seed in range(first, first + count):
        report = simulate(seed)
        assert not report.failure, str(report)  # the report ends with ./dev sim --seed N


@pytest.mark.parametrize("first", range(1, 201, CHUNK))
def test_no_promise_is_broken(first: int) -> None:
    run_seeds(first, CHUNK)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(10_001, 15_001, 100))
def test_no_promise_is_broken_in_thousands_of_seeds(first: int) -> None:
    run_seeds(first, 100)
