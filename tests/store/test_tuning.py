"""Tests what the set-up of RocksDB promises: memory and files that do not grow with the rows."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

import pytest

from reliquary.store import Changes, RocksDisk, tuning
from reliquary.store.tuning import LOG_BYTES, WRITE_BUFFER, WRITE_BUFFERS
from tests.store.conftest import TABLES

ROWS = 400
STEP = 20
"""Rows of a megabyte between two looks: less than one memtable holds."""
BACKGROUND = (
    "mem-table-flush-pending", "num-running-flushes", "num-immutable-mem-table",
    "compaction-pending", "num-running-compactions",
)  # fmt: skip
"""What RocksDB has begun and not ended, by its properties."""


def wait_for_background(disk: RocksDisk) -> None:
    """Wait until RocksDB has written what it has begun to write, however long a busy machine takes for it."""
    for reader in (disk._db, *disk._readers.values()):
        while any(reader.property_int_value(f"rocksdb.{name}") for name in BACKGROUND):
            os.sched_yield()


def rewritten(disk: RocksDisk, table: str) -> float:
    """Megabytes that RocksDB has written to sorted files of a table, by its own account."""
    account = disk._readers[table].property_value("rocksdb.cfstats")
    found = re.search(r"Cumulative compaction: ([\d.]+) GB write", account or "")
    assert found is not None
    return 1024 * float(found[1])


def logged(folder: Path) -> int:
    size = 0
    for log in folder.glob("*.log"):
        with suppress(FileNotFoundError):  # one that was just done with
            size += log.stat().st_size
    return size


def test_the_log_and_the_memtables_stay_bounded_while_rows_come_and_go(folder: Path) -> None:
    disk = RocksDisk(folder, TABLES)
    body = os.urandom(1_000_000)
    for number in range(ROWS):
        key = b"%04d" % number
        disk.apply(Changes({"letters": {key: body}, "numbers": {key: b""}}))
        disk.apply(Changes({"letters": {key: None}, "numbers": {key: None}}))
        if number % STEP == 0:
            wait_for_background(disk)
            assert logged(folder) <= LOG_BYTES + 2 * WRITE_BUFFER
            assert (disk._db.property_int_value("rocksdb.cur-size-all-mem-tables") or 0) <= WRITE_BUFFERS
    disk.close()


@pytest.mark.parametrize("deep", [1_500, 4_000])
def test_a_deep_queue_that_moves_on_rewrites_few_of_the_rows_between_its_ends(
    folder: Path, deep: int
) -> None:
    noise = os.urandom(4_000_000)

    def row(number: int) -> dict[bytes, bytes | None]:
        return {b"%04d" % number: noise[number * 500 : number * 500 + 100_000]}

    disk = RocksDisk(folder, TABLES)
    for number in range(deep):
        disk.apply(Changes({"letters": row(number)}))
        if number % 200 == 0:
            wait_for_background(disk)
    disk.reclaim()
    wait_for_background(disk)
    filled = rewritten(disk, "letters")
    for begin in (0, 100, 200):
        for number in range(begin, begin + 100):
            disk.apply(Changes({"letters": {**row(deep + number), b"%04d" % number: None}}))
        disk.reclaim()
        wait_for_background(disk)
    assert rewritten(disk, "letters") - filled < 200  # for 30 MB that came and went
    disk.close()


def test_a_store_that_was_written_with_larger_levels_and_files_opens_with_all_its_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: dict[bytes, bytes | None] = {b"%04d" % number: os.urandom(100_000) for number in range(800)}
    with monkeypatch.context() as before:
        before.setattr(tuning, "LEVEL", 256 * 1024 * 1024)
        before.setattr(tuning, "SORTED_FILE", 64 * 1024 * 1024)
        before.setattr(tuning, "MERGED", 1600 * 1024 * 1024)
        disk = RocksDisk(folder, TABLES)
        disk.apply(Changes({"letters": rows}))
        disk.close()
    disk = RocksDisk(folder, TABLES)
    assert disk.range("letters", b"", b"a", limit=1_000) == list(rows.items())
    disk.close()
