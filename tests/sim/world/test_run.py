"""A world of several sites into which more than one protocol is plugged."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.events import RequestArrived
from reliquary.protocols.srmp.events import PostArrived
from reliquary.sim.__main__ import main
from reliquary.sim.httpr.plugin import HttprPlugin
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.run import World, simulate


@pytest.mark.parametrize("seed", range(1, 5))
def test_sites_may_speak_two_protocols_at_once(seed: int) -> None:
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
