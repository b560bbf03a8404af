"""Tests the settings of seeds: small limits and short times are drawn, and some clients forget."""

from __future__ import annotations

from reliquary.sim.chance import SeededChance
from reliquary.sim.mqqp.drawing import FOR_EVER, LONGEST_CALL, drawn_settings

NAMES = ("a.example", "b.example", "c.example")
DRAWN = [each for seed in range(40) for each in drawn_settings(SeededChance(seed), NAMES).values()]


def test_all_limits_and_times_come_up() -> None:
    assert {each.queues for each in DRAWN} == {each.pending for each in DRAWN} == {2, 256}
    assert len({each.open_time for each in DRAWN}) == len({each.call_time for each in DRAWN}) == 2
    assert max(each.call_time for each in DRAWN) == LONGEST_CALL


def test_most_clients_never_forget_a_message_whose_removal_is_in_doubt() -> None:
    forgetful = [each for each in DRAWN if each.memory < FOR_EVER]
    assert 0 < len(forgetful) < len(DRAWN) / 2


def test_each_site_makes_handles_of_its_own() -> None:
    assert len({each.seed for each in drawn_settings(SeededChance(1), NAMES).values()}) == 3
