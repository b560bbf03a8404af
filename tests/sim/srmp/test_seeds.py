"""Whatever the seed does to several sites, no promise is broken."""

from __future__ import annotations

import pytest

from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.run import simulate

CHUNK = 20


def run_seeds(first: int, count: int) -> None:
    for seed in range(first, first + count):
        report = simulate(seed, [SrmpPlugin])
        assert not report.failure, str(report)  # the report ends with the command that repeats it


@pytest.mark.parametrize("first", range(1, 201, CHUNK))
def test_no_promise_is_broken_between_sites(first: int) -> None:
    run_seeds(first, CHUNK)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(10_001, 13_001, 100))
def test_no_promise_is_broken_between_sites_in_thousands_of_seeds(first: int) -> None:
    run_seeds(first, 100)
