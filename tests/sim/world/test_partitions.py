"""Tests that sites cannot reach each other for a time, and can after the faults have ended."""

from __future__ import annotations

from reliquary.base.time import SECOND
from reliquary.sim.chance import SeededChance
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.network_faults import NetworkFaults
from reliquary.sim.world.partitions import LONGEST, Partitions


def test_sites_are_separate_now_and_then_until_the_faults_end() -> None:
    chance, faults = SeededChance(3), NetworkFaults(partition_every=SECOND // 10)
    scheduler = Scheduler(chance)
    partitions = Partitions(scheduler, chance, faults)
    for site in ("a", "b"):
        partitions.add(site)
    seen = set()
    for _ in range(100):
        scheduler.pass_time(SECOND // 10)
        seen.add(partitions.are_separate("a", "b"))
        assert partitions.are_separate("a", "b") == partitions.are_separate("b", "a")
    assert True in seen
    faults.end()
    scheduler.pass_time(LONGEST + SECOND)
    assert not partitions.are_separate("a", "b")


def test_without_faults_there_are_no_partitions() -> None:
    chance = SeededChance(3)
    scheduler = Scheduler(chance)
    Partitions(scheduler, chance, NetworkFaults())
    assert not len(scheduler)


def test_a_site_that_is_silenced_neither_sends_nor_receives() -> None:
    chance = SeededChance(3)
    faults = NetworkFaults(silenced=("a", "b"))
    partitions = Partitions(Scheduler(chance), chance, faults)
    assert (partitions.are_separate("a", "b"), partitions.are_separate("b", "a")) == (True, False)
    faults.end()
    assert not partitions.are_separate("a", "b")
