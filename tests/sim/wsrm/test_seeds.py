"""Whatever the seed does to sites that use WS-RM, alone or with other protocols, no promise is broken."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from reliquary.sim.httpr.plugin import HttprPlugin
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.run import simulate as simulate_world
from reliquary.sim.wsrm.plugin import WsrmPlugin
from tests.sim.seeds import check_seeds

CHUNK = 10
simulate = partial(simulate_world, plugins=[WsrmPlugin])
CHAINS: dict[str, Sequence[type[Plugin]]] = {
    "wsrm+httpr": (WsrmPlugin, HttprPlugin),
    "srmp+wsrm": (SrmpPlugin, WsrmPlugin),
    "srmp+httpr+wsrm": (SrmpPlugin, HttprPlugin, WsrmPlugin),
}


@pytest.mark.parametrize("first", range(1, 51, CHUNK))
def test_no_promise_is_broken_between_sources_and_destinations(first: int) -> None:
    check_seeds(simulate, first, CHUNK)


@pytest.mark.parametrize("world", CHAINS)
def test_no_promise_is_broken_in_chains_of_several_protocols(world: str) -> None:
    check_seeds(partial(simulate_world, plugins=CHAINS[world]), 1, 4)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(10_001, 10_301, 50))
def test_no_promise_is_broken_between_sources_and_destinations_in_hundreds_of_seeds(first: int) -> None:
    check_seeds(simulate, first, 50)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(10_001, 10_101, 25))
@pytest.mark.parametrize("world", CHAINS)
def test_no_promise_is_broken_in_chains_in_hundreds_of_seeds(world: str, first: int) -> None:
    check_seeds(partial(simulate_world, plugins=CHAINS[world]), first, 25)
