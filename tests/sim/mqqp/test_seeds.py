"""Whatever the seed does to sites that use MQQP, alone or with other protocols, no promise is broken."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from reliquary.sim.mqqp.plugin import MqqpPlugin
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.run import simulate as simulate_world
from reliquary.sim.wsrm.plugin import WsrmPlugin
from tests.sim.seeds import check_seeds

CHUNK = 10
simulate = partial(simulate_world, plugins=[MqqpPlugin])
TOGETHER: dict[str, Sequence[type[Plugin]]] = {
    "srmp+mqqp": (SrmpPlugin, MqqpPlugin),
    "wsrm+mqqp": (WsrmPlugin, MqqpPlugin),
}
"""Messages come to a site by another protocol, and are read there by MQQP."""


@pytest.mark.mqqp("T34", "T35", "T38", "T39", "T40", "T41", "T42")
@pytest.mark.parametrize("first", range(1, 51, CHUNK))
def test_no_promise_is_broken_between_servers_and_clients(first: int) -> None:
    check_seeds(simulate, first, CHUNK)


@pytest.mark.parametrize("world", TOGETHER)
def test_no_promise_is_broken_with_another_protocol(world: str) -> None:
    check_seeds(partial(simulate_world, plugins=TOGETHER[world]), 1, 4)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(10_001, 10_301, 50))
def test_no_promise_is_broken_between_servers_and_clients_in_hundreds_of_seeds(first: int) -> None:
    check_seeds(simulate, first, 50)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(10_001, 10_101, 25))
@pytest.mark.parametrize("world", TOGETHER)
def test_no_promise_is_broken_with_another_protocol_in_hundreds_of_seeds(world: str, first: int) -> None:
    check_seeds(partial(simulate_world, plugins=TOGETHER[world]), first, 25)
