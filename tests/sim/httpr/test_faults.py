"""Tests that each seed has its own faults between agents, and that they end."""

from __future__ import annotations

from reliquary.sim.chance import SeededChance
from reliquary.sim.httpr.faults import HttprFaults


def test_seeds_have_different_faults() -> None:
    drawn = [HttprFaults.drawn(SeededChance(seed)) for seed in range(40)]
    assert {faults.truncated for faults in drawn} == {0.0, 0.02, 0.1}
    assert len({str(faults) for faults in drawn}) > 30


def test_after_the_end_nothing_goes_wrong() -> None:
    faults = HttprFaults(
        0.1,
        0.1,
        0.1,
        0.1,
        0.1,
        0.1,
        partition_every=5,
        stalled=0.1,
        truncated=0.1,
        late_response=0.1,
        close_unnoticed=0.1,
    )
    faults.end()
    assert faults == HttprFaults()
