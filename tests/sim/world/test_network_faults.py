"""Tests that each seed has its own faults between sites, and that they end."""

from __future__ import annotations

from reliquary.sim.chance import SeededChance
from reliquary.sim.world.network_faults import NetworkFaults


def test_seeds_have_different_faults_and_some_have_none() -> None:
    drawn = [NetworkFaults.drawn(SeededChance(seed)) for seed in range(40)]
    assert {faults.lost for faults in drawn} == {0.0, 0.01, 0.1}
    assert len({str(faults) for faults in drawn}) > 30


def test_after_the_end_nothing_goes_wrong() -> None:
    faults = NetworkFaults(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, overtaken=0.1, partition_every=5)
    faults.end()
    assert faults == NetworkFaults()
