"""Tests that no promise is broken in the byte streams between several sites, in many seeds."""

from __future__ import annotations

from functools import partial

import pytest

from reliquary.sim.mqqb.plugin import MqqbPlugin
from reliquary.sim.mqqp.plugin import MqqpPlugin
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.run import simulate as simulate_world
from tests.sim.seeds import check_seeds

CHUNK = 10
alone = partial(simulate_world, plugins=[MqqbPlugin])
in_chains = partial(simulate_world, plugins=[SrmpPlugin, MqqbPlugin])
with_reads = partial(simulate_world, plugins=[SrmpPlugin, MqqpPlugin, MqqbPlugin])


@pytest.mark.mqqb("T-94")
@pytest.mark.parametrize("first", range(1, 51, CHUNK))
def test_no_promise_is_broken_between_sites(first: int) -> None:
    check_seeds(alone, first, CHUNK)


@pytest.mark.mqqb("T-94")
@pytest.mark.parametrize("first", range(1, 21, CHUNK))
def test_no_promise_is_broken_in_chains_of_two_protocols(first: int) -> None:
    check_seeds(in_chains, first, CHUNK)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", range(10_001, 10_301, 100))
def test_no_promise_is_broken_between_sites_in_hundreds_of_seeds(first: int) -> None:
    check_seeds(alone, first, 100)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", range(10_001, 10_301, 100))
def test_no_promise_is_broken_in_chains_in_hundreds_of_seeds(first: int) -> None:
    check_seeds(in_chains, first, 100)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", range(30_131, 30_231, 50))
def test_no_promise_is_broken_in_chains_whose_queues_are_read_from_elsewhere(first: int) -> None:
    """Seed 30139 found a stream of SRMP that was sent again endlessly."""
    check_seeds(with_reads, first, 50)
