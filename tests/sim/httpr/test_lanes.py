"""Each seed has its own lanes, and in the end all of them are good."""

from __future__ import annotations

from reliquary.sim.chance import SeededChance
from reliquary.sim.httpr.lanes import Lanes


def test_seeds_have_different_lanes() -> None:
    drawn = [Lanes.drawn(SeededChance(seed)) for seed in range(40)]
    assert {lanes.torn for lanes in drawn} == {0.0, 0.02, 0.1}
    assert len({str(lanes) for lanes in drawn}) > 30


def test_after_clearing_up_nothing_goes_wrong() -> None:
    lanes = Lanes(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, closed_every=5, stalled=0.1, torn=0.1, haunted=0.1, deaf=0.1)
    lanes.clear_up()
    assert lanes == Lanes()
