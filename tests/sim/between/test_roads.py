"""Each seed has its own roads, and in the end all of them are good."""

from __future__ import annotations

from reliquary.sim.between.roads import Roads
from reliquary.sim.chance import SeededChance


def test_seeds_have_different_roads_and_some_have_good_ones() -> None:
    drawn = [Roads.drawn(SeededChance(seed)) for seed in range(40)]
    assert {roads.lost for roads in drawn} == {0.0, 0.01, 0.1}
    assert len({str(roads) for roads in drawn}) > 30


def test_after_clearing_up_nothing_goes_wrong() -> None:
    roads = Roads(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, closed_every=5)
    roads.clear_up()
    assert roads == Roads()
