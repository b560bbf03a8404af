"""What the set-up of RocksDB promises: memory and files that do not grow with the rows."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from reliquary.store import Changes, RocksDisk
from reliquary.store.tuning import LOG_BYTES, WRITE_BUFFER, WRITE_BUFFERS
from tests.store.conftest import TABLES


def test_the_log_and_the_memtables_stay_bounded_while_rows_come_and_go(folder: Path) -> None:
    disk = RocksDisk(folder, TABLES)
    body = os.urandom(1_000_000)
    for number in range(400):
        key = b"%04d" % number
        disk.apply(Changes({"letters": {key: body}, "numbers": {key: b""}}))
        disk.apply(Changes({"letters": {key: None}, "numbers": {key: None}}))
        logged = 0
        for log in folder.glob("*.log"):
            with suppress(FileNotFoundError):  # one that was just done with
                logged += log.stat().st_size
        assert logged <= LOG_BYTES + 2 * WRITE_BUFFER
        memtables = disk._db.property_int_value("rocksdb.cur-size-all-mem-tables") or 0
        assert memtables <= WRITE_BUFFERS
    disk.close()
