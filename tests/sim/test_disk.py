"""Tests a disk whose syncs take time: what a sync covers, and what a crash meanwhile loses."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.faults import StoreFailure
from reliquary.base.restoration import Restoration
from reliquary.sim.chance import SeededChance
from reliquary.sim.disk import SimulatedDisk
from reliquary.store.disk import Changes


def applied(count: int) -> SimulatedDisk:
    disk = SimulatedDisk(["t"])
    for number in range(count):
        disk.apply(Changes({"t": {b"%d" % number: b""}}))
    return disk


def rows(disk: SimulatedDisk) -> int:
    return len(disk.range("t", b"", b"\xff", limit=99))


def test_a_sync_covers_what_was_applied_when_it_began() -> None:
    disk = applied(2)
    covered = disk.begin_sync()
    disk.apply(Changes({"t": {b"x": b""}}))
    disk.end_sync(covered)
    assert (disk.durable, disk.applied, disk.unsynced) == (2, 3, 1)
    assert {rows(disk.crash(SeededChance(seed))) for seed in range(20)} == {2, 3}


def test_nothing_is_safe_while_a_sync_runs() -> None:
    disk = applied(2)
    disk.begin_sync()
    assert {rows(disk.crash(SeededChance(seed))) for seed in range(40)} == {0, 1, 2}


def test_the_numbers_of_batches_go_on_from_what_a_crash_kept() -> None:
    disk = applied(5)
    disk.end_sync(3)
    for seed in range(20):
        survivor = disk.crash(SeededChance(seed))
        assert survivor.durable == survivor.applied == rows(survivor) == 3 + survivor.kept


def test_a_sync_that_fails_makes_nothing_safe_and_ends_all_work() -> None:
    disk = applied(2)
    disk.fail_next_sync("io")
    with pytest.raises(StoreFailure):
        disk.end_sync(disk.begin_sync())
    assert disk.durable == 0
    with pytest.raises(StoreFailure):
        disk.end_sync(2)


def test_a_sync_that_takes_no_time_covers_everything() -> None:
    disk = applied(3)
    disk.sync()
    assert (disk.durable, disk.unsynced) == (3, 0)


def test_a_copy_shows_what_reads_see_and_changes_nothing() -> None:
    disk = applied(2)
    copy = disk.copied()
    copy.apply(Changes({"t": {b"x": b""}}))
    assert (rows(copy), rows(disk), disk.applied) == (3, 2, 2)


def test_a_disk_that_was_mended_works_on() -> None:
    disk = SimulatedDisk(["letters"])
    disk.fail_next_sync("io")
    disk.fail_apply_after(0, "full")
    disk.mend()
    disk.apply(Changes({"letters": {b"a": b"1"}}))
    disk.sync()
    assert (disk.durable, disk.get("letters", b"a")) == (1, b"1")


def test_a_backup_has_what_is_durable_and_can_be_restored_more_than_once() -> None:
    disk = applied(3)
    disk.end_sync(2)
    backup = disk.backed_up()
    disk.sync()
    one, other = (backup.restored(Restoration(UUID(int=number))) for number in (1, 2))
    one.apply(Changes({"t": {b"x": b""}}))
    assert [(rows(each), each.durable) for each in (disk, backup, one, other)] == [
        (3, 3),
        (2, 2),
        (3, 2),
        (2, 2),
    ]


def test_a_restored_disk_says_so_until_its_era_is_on_disk_also_after_a_crash() -> None:
    restoration = Restoration(UUID(int=1), alive_until=5)
    survivor = applied(1).backed_up().restored(restoration).crash(SeededChance(1))
    assert survivor.restoration == restoration
    survivor.restoration_begun()
    assert survivor.crash(SeededChance(1)).restoration is None
