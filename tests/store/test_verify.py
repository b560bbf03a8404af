"""Verify reads every row and tells every damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.rows import unframe
from reliquary.queueing.model import tables as queueing
from reliquary.queueing.model.tables import position_key, queue_key
from reliquary.store import Changes, Disk, MemoryDisk, RocksDisk, StagedRows, verify
from reliquary.store.verify import LISTED
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import walk
from tests.store.conftest import LETTERS, NUMBERS, TABLES, Letter


def fill(disk: Disk, count: int) -> None:
    rows = StagedRows(disk)
    for number in range(count):
        rows.put(LETTERS, b"%04d" % number, Letter("x" * 300 + str(number)))
    rows.put(NUMBERS, b"one", Letter())
    disk.apply(rows.take())


def test_a_sound_store_is_sound_and_counted(disk: Disk) -> None:
    fill(disk, 100)
    report = verify(disk, TABLES)
    assert report.is_sound
    assert report.rows == {"letters": 100, "numbers": 1}


def test_an_empty_store_is_sound(disk: Disk) -> None:
    assert verify(disk, TABLES).rows == {"letters": 0, "numbers": 0}


def test_every_row_whose_checksum_fails_is_named(disk: Disk) -> None:
    fill(disk, 100)
    value = disk.get("letters", b"0042")
    assert value is not None
    disk.apply(Changes({"letters": {b"0007": b"\x01", b"0099": value}}))  # cut off; in the wrong place
    report = verify(disk, TABLES)
    assert [(damage.table, bytes.fromhex(damage.key)) for damage in report.damages] == [
        ("letters", b"0007"),
        ("letters", b"0099"),
    ]
    assert "cut off" in report.damages[0].why
    assert "checksum" in report.damages[1].why
    assert report.rows == {"letters": 100, "numbers": 1}


def test_a_single_bit_is_found() -> None:
    disk = MemoryDisk(TABLES)
    fill(disk, 3)
    disk.flip_bit("letters", b"0001", 1234)
    assert [damage.key for damage in verify(disk, TABLES).damages] == [b"0001".hex()]


def test_many_damages_are_counted_but_not_all_listed(disk: Disk) -> None:
    disk.apply(Changes({"letters": {b"%04d" % number: b"" for number in range(LISTED + 50)}}))
    report = verify(disk, TABLES)
    assert report.damaged == LISTED + 50
    assert len(report.damages) == LISTED


@pytest.mark.parametrize("part", [0.1, 0.5])
def test_a_block_that_cannot_be_read_is_reported_and_the_other_tables_are_still_read(
    folder: Path, part: float
) -> None:
    disk = RocksDisk(folder, TABLES)
    fill(disk, 3000)
    disk.close()
    file = max(folder.glob("*.sst"), key=lambda file: file.stat().st_size)
    content = bytearray(file.read_bytes())
    content[int(len(content) * part)] ^= 1
    file.write_bytes(content)
    disk = RocksDisk(folder, TABLES)
    report = verify(disk, TABLES)
    assert report.damaged == 1
    assert report.damages[0].table == "letters"
    assert str(folder) in report.damages[0].why
    assert report.rows["letters"] < 3000
    assert report.rows["numbers"] == 1
    disk.close()


def test_counters_of_a_queue_manager_are_compared_with_its_rows() -> None:
    bench = Bench("orders")
    bench.send("orders", *[b"x"] * 30)
    bench.flush()
    tables = queueing.TABLES
    assert verify(bench.disk, tables).is_sound
    number = bench.queue().number
    gone = {position_key(number, position.lookup_id): None for position in walk(bench.queue())[10:20]}
    bench.disk.apply(Changes({"positions": dict(gone)}))
    [damage] = verify(bench.disk, tables).damages
    assert (damage.table, damage.key) == ("counters", queue_key(number).hex())
    assert "count is 30, and the rows make 20" in damage.why


def test_a_row_that_hinders_counting_is_reported_once() -> None:
    bench = Bench("orders")
    bench.send("orders", b"x")
    bench.flush()
    [position] = walk(bench.queue())
    bench.disk.flip_bit("positions", position_key(bench.queue().number, position.lookup_id), 99)
    [damage] = verify(bench.disk, queueing.TABLES).damages
    assert damage.table == "positions"


def test_verify_takes_a_row_for_sound_exactly_when_it_can_be_unframed(disk: Disk) -> None:
    fill(disk, 1)
    value = disk.get("letters", b"0000")
    assert value is not None
    unframe("letters", b"0000", value)
    assert verify(disk, ["letters"]).is_sound
