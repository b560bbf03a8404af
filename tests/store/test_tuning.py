"""What the set-up of RocksDB promises: memory and files that do not grow with the rows."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from reliquary.store import Changes, RocksDisk
from reliquary.store.tuning import LOG_BYTES, WRITE_BUFFER, WRITE_BUFFERS
from tests.store.conftest import TABLES

ROWS = 400
STEP = 20
"""Rows of a megabyte between two looks: less than one memtable holds."""
BACKGROUND = ("mem-table-flush-pending", "num-running-flushes", "num-immutable-mem-table")
"""What RocksDB has begun and not ended, by its properties."""


def wait_for_background(disk: RocksDisk) -> None:
    """Wait until RocksDB has written what it has begun to write, however long a busy machine takes for it."""
    for reader in (disk._db, *disk._readers.values()):
        while any(reader.property_int_value(f"rocksdb.{name}") for name in BACKGROUND):
            os.sched_yield()


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
