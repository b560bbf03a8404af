"""Tests that no promise is broken between several sites, in many seeds."""

from __future__ import annotations

from functools import partial

import pytest

from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.run import simulate as simulate_world
from tests.sim.seeds import check_seeds

CHUNK = 20
simulate = partial(simulate_world, plugins=[SrmpPlugin])


@pytest.mark.parametrize("first", range(1, 61, CHUNK))
def test_no_promise_is_broken_between_sites(first: int) -> None:
    check_seeds(simulate, first, CHUNK)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(10_001, 13_001, 100))
def test_no_promise_is_broken_between_sites_in_thousands_of_seeds(first: int) -> None:
    check_seeds(simulate, first, 100)
