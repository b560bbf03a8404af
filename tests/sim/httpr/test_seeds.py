"""Whatever the seed does to several sites that use HTTPR, no promise is broken."""

from __future__ import annotations

from functools import partial

import pytest

from reliquary.sim.httpr.plugin import HttprPlugin
from reliquary.sim.world.run import simulate as simulate_world
from tests.sim.seeds import check_seeds

CHUNK = 20
simulate = partial(simulate_world, plugins=[HttprPlugin])


@pytest.mark.spec("HR-024", "HR-050", "HR-052", "HR-103")
@pytest.mark.httpr("T05", "T06", "T14", "T33")
@pytest.mark.parametrize("first", range(1, 61, CHUNK))
def test_no_promise_is_broken_between_agents(first: int) -> None:
    check_seeds(simulate, first, CHUNK)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(10_001, 13_001, 100))
def test_no_promise_is_broken_between_agents_in_thousands_of_seeds(first: int) -> None:
    check_seeds(simulate, first, 100)
