"""Tests the simulator's disk: what a crash loses, and how it fails on request."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reliquary.base.faults import StoreDamage, StoreFailure, UsageError
from reliquary.base.rows import unframe
from reliquary.store import Changes, MemoryDisk
from tests.store.conftest import LETTERS, TABLES, Letter, Seeded

END = b"\xff"


def batch(number: int) -> Changes:
    """Return two rows in two tables, which a crash must not separate."""
    return Changes({"letters": {b"%d" % number: b""}, "numbers": {b"%d" % number: b""}})


def survivors(disk: MemoryDisk, table: str = "letters") -> list[int]:
    return [int(key) for key, _ in disk.range(table, b"", END, limit=99)]


def crashed(seed: int, *, synced: int, unsynced: int) -> MemoryDisk:
    disk = MemoryDisk(TABLES)
    for number in range(synced):
        disk.apply(batch(number))
    disk.sync()
    for number in range(synced, synced + unsynced):
        disk.apply(batch(number))
    return disk.crash(Seeded(seed))


def test_a_crash_keeps_what_was_synced_and_a_prefix_of_the_rest() -> None:
    seen = set()
    for seed in range(100):
        disk = crashed(seed, synced=3, unsynced=4)
        kept = survivors(disk)
        assert kept == list(range(len(kept))) == survivors(disk, "numbers")
        seen.add(len(kept))
    assert seen == {3, 4, 5, 6, 7}  # some seed loses nothing, some seed all that was not synced


def test_a_seed_repeats_a_crash() -> None:
    assert survivors(crashed(7, synced=1, unsynced=5)) == survivors(crashed(7, synced=1, unsynced=5))


def test_what_survived_a_crash_is_durable() -> None:
    once = crashed(5, synced=1, unsynced=5)
    kept = survivors(once)
    assert once.unsynced == 0
    assert survivors(once.crash(Seeded(1))) == kept


def test_a_survivor_loses_its_own_unsynced_batches_in_the_next_crash() -> None:
    once = crashed(5, synced=1, unsynced=0)
    once.apply(batch(1))
    outcomes = {len(survivors(once.crash(Seeded(seed)))) for seed in range(20)}
    assert outcomes == {1, 2}


def test_a_crash_brings_unsynced_deletes_back() -> None:
    disk = MemoryDisk(TABLES)
    disk.apply(batch(0))
    disk.sync()
    disk.apply(Changes({"letters": {b"0": None}}, [("numbers", b"", END)]))
    outcomes = {bool(survivors(disk.crash(Seeded(seed)))) for seed in range(20)}
    assert outcomes == {True, False}


def test_the_process_that_crashed_writes_no_more() -> None:
    disk = MemoryDisk(TABLES)
    disk.crash(Seeded(0))
    with pytest.raises(UsageError):
        disk.apply(batch(0))


def test_the_crashed_disk_and_its_survivor_share_nothing() -> None:
    disk = MemoryDisk(TABLES)
    disk.apply(batch(0))
    disk.sync()
    first, second = disk.crash(Seeded(0)), disk.crash(Seeded(0))
    first.apply(batch(1))
    assert survivors(second) == [0]


@pytest.mark.parametrize("kind", ["io", "full"])
def test_a_disk_refuses_all_work_after_a_failed_sync(kind: str) -> None:
    disk = MemoryDisk(TABLES)
    disk.apply(batch(0))
    disk.fail_next_sync(kind)
    later: list[Callable[[], object]] = [
        disk.sync,
        disk.sync,
        lambda: disk.apply(batch(1)),
        lambda: disk.get("letters", b"0"),
        lambda: disk.range("letters", b"", END, limit=1),
    ]
    for attempt in later:
        with pytest.raises(StoreFailure) as failure:
            attempt()
        assert failure.value.kind == kind
    disk.close()
    assert survivors(disk.crash(Seeded(0))) in ([], [0])


def test_an_apply_fails_after_the_given_count_and_changes_nothing() -> None:
    disk = MemoryDisk(TABLES)
    disk.fail_apply_after(2, "full")
    disk.apply(batch(0))
    disk.apply(batch(1))
    with pytest.raises(StoreFailure, match="full") as failure:
        disk.apply(batch(2))
    assert failure.value.kind == "full"
    assert all(survivors(disk.crash(Seeded(seed))) in ([], [0], [0, 1]) for seed in range(20))


def test_a_flipped_bit_is_found_by_the_checksum_also_after_a_crash() -> None:
    disk = MemoryDisk(TABLES)
    value = LETTERS.encode(b"a", Letter("sound"))
    disk.apply(Changes({"letters": {b"a": value}}))
    disk.sync()
    for bit in range(len(value) * 8):
        disk.flip_bit("letters", b"a", bit)
        rotten = disk.get("letters", b"a")
        assert rotten is not None
        with pytest.raises(StoreDamage):
            unframe("letters", b"a", rotten)
        disk.flip_bit("letters", b"a", bit)
    disk.flip_bit("letters", b"a", 3)
    assert disk.crash(Seeded(0)).get("letters", b"a") != value
