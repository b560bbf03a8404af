"""Tests that a world of several sites can be repeated, with any protocols."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.events import RequestArrived
from reliquary.protocols.srmp.events import PostArrived
from reliquary.sim.__main__ import main
from reliquary.sim.httpr.plugin import HttprPlugin
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.run import World, simulate
from tests.sim.test_run import hashed_in_two_ways


@pytest.mark.parametrize("plugin", [SrmpPlugin, HttprPlugin])
def test_a_seed_gives_one_history(plugin: type[Plugin]) -> None:
    one, again, other = (simulate(seed, [plugin]) for seed in (11, 11, 12))
    assert one == again
    assert one.digest != other.digest


@pytest.mark.parametrize("plugin", [SrmpPlugin, HttprPlugin])
def test_a_seed_does_not_depend_on_how_strings_are_hashed(plugin: type[Plugin]) -> None:
    code = (
        f"from {plugin.__module__} import {plugin.__name__}; from reliquary.sim.world.run import simulate;"
        f"print(simulate(13, [{plugin.__name__}], 100).digest)"
    )
    assert len(hashed_in_two_ways(code)) == 1


@pytest.mark.parametrize("seed", range(1, 5))
def test_sites_may_use_two_protocols_at_once(seed: int) -> None:
    world = World(seed, [SrmpPlugin, HttprPlugin])
    world.play(world.steps)
    events = {type(turned.event) for site in world.sites.values() for turned in site.history.turns}
    assert {PostArrived, RequestArrived} <= events


def test_a_run_of_two_protocols_repeats_itself_and_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    one, again = (simulate(3, [SrmpPlugin, HttprPlugin]) for _ in range(2))
    assert one == again
    assert one.command == "./dev sim --seed 3 --world srmp+httpr"
    assert main(["--seed", "3", "--world", "srmp+httpr"]) == 0
    assert str(one) in capsys.readouterr().out


def test_a_protocol_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--world", "srmp+carrier-pigeon"])
    assert "there is no protocol 'carrier-pigeon'" in capsys.readouterr().err
