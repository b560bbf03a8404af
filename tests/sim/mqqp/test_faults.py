"""Each seed has its own faults between sites that use MQQP, and they end."""

from __future__ import annotations

from reliquary.sim.chance import SeededChance
from reliquary.sim.mqqp.faults import MqqpFaults


def test_seeds_have_different_faults() -> None:
    drawn = [MqqpFaults.drawn(SeededChance(seed)) for seed in range(40)]
    assert {faults.cancelled for faults in drawn} == {0.0, 0.01, 0.05}
    assert {faults.rejected for faults in drawn} == {0.0, 0.01}
    assert len({str(faults) for faults in drawn}) > 30


def test_after_the_end_nothing_goes_wrong() -> None:
    faults = MqqpFaults(
        0.1,
        0.1,
        0.1,
        0.1,
        0.1,
        0.1,
        partition_every=5,
        cancelled=0.1,
        end_unnoticed=0.1,
        end_lost=0.1,
        cut_every=9,
    )
    faults.end()
    assert faults == MqqpFaults()
