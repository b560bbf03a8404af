"""Tests that each seed has its own faults at its sites, and that they end."""

from __future__ import annotations

from dataclasses import asdict

from reliquary.sim.chance import SeededChance
from reliquary.sim.site_faults import SiteFaults, jump


def test_seeds_have_different_faults_and_some_have_none() -> None:
    drawn = [SiteFaults.drawn(SeededChance(seed)) for seed in range(300)]
    assert SiteFaults.drawn(SeededChance(5)) == drawn[5]
    for name in ("request_lost", "power_at_a_point", "power_every", "disk_fails", "jump_every", "stop_every"):
        values = {getattr(each, name) for each in drawn}
        assert 0 in values
        assert len(values) > 1


def test_after_the_end_nothing_goes_wrong() -> None:
    faults = SiteFaults.drawn(SeededChance(3))
    faults.end()
    spans = {name for name in asdict(faults) if name.startswith(("slowest", "longest"))}
    assert {value for name, value in asdict(faults).items() if name not in spans} == {0}


def test_the_calendar_is_set_forwards_and_back() -> None:
    chance = SeededChance(1)
    jumps = [jump(chance) for _ in range(100)]
    assert min(jumps) < 0 < max(jumps)
