"""Tests that the sequence numbers in logs of RocksDB are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reliquary.store import Changes, RocksDisk
from reliquary.store.logs import BLOCK, bytes_of_logs, first_change, logs_in, number_of, read_log
from tests.store.conftest import TABLES


def record(first: int, count: int = 1, size: int = 100) -> bytes:
    """Return a write batch with `count` changes of any content."""
    return first.to_bytes(8, "little") + count.to_bytes(4, "little") + b"x" * (size - 12)


def written(*records: bytes, extra: int = 0) -> bytes:
    """Return records as RocksDB writes them: in fragments that do not cross the end of a block."""
    log = bytearray()
    for payload in records:
        kind, rest = "start", payload
        while kind != "done":
            left = BLOCK - len(log) % BLOCK
            if left < 7 + extra:
                log += bytes(left)
                continue
            part, rest = rest[: left - 7 - extra], rest[left - 7 - extra :]
            number = (2 if rest else 1) if kind == "start" else (3 if rest else 4)
            log += bytes(4) + len(part).to_bytes(2, "little") + bytes([number + extra]) + bytes(extra) + part
            kind = "middle" if rest else "done"
    return bytes(log)


def log(folder: Path, content: bytes) -> Path:
    path = folder / "000012.log"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("extra", [0, 4], ids=["usual", "recyclable"])
@pytest.mark.parametrize("size", [12, 100, BLOCK - 7, BLOCK - 8, BLOCK, 5 * BLOCK, 3 * BLOCK - 20])
def test_records_of_any_size_are_read(tmp_path: Path, size: int, extra: int) -> None:
    content = written(*(record(10 * number + 1, 10, size) for number in range(50)), extra=extra)
    path = log(tmp_path, content)
    assert read_log(path) == (path, 12, 1, 500, len(content), False)
    assert first_change(path) == 1


@pytest.mark.parametrize("before", range(BLOCK - 30, BLOCK - 5))
def test_the_numbers_of_a_record_may_be_in_two_fragments(tmp_path: Path, before: int) -> None:
    content = written(record(1, 1, before - 7), record(2, 3, 5000))
    path = log(tmp_path, content)
    assert read_log(path)[2:] == (1, 4, len(content), False)


def test_an_empty_log_has_no_change(tmp_path: Path) -> None:
    path = log(tmp_path, b"")
    assert read_log(path) == (path, 12, 0, 0, 0, False)
    assert first_change(path) == 0


def test_a_gap_in_the_numbers_is_seen_and_nothing_behind_it_counts(tmp_path: Path) -> None:
    good = written(record(1), record(2))
    path = log(tmp_path, written(record(1), record(2), record(4), record(5)))
    assert read_log(path)[2:] == (1, 2, len(good), True)


def test_a_block_of_zeros_hides_records_and_leaves_a_gap(tmp_path: Path) -> None:
    content = bytearray(written(*(record(number, size=1017) for number in range(1, 200))))
    content[BLOCK : 2 * BLOCK] = bytes(BLOCK)
    found = read_log(log(tmp_path, bytes(content)))
    assert (found.first, found.last, found.end, found.has_gap) == (1, 32, BLOCK, True)


@pytest.mark.parametrize("cut", [1, 5, 50, 106])
def test_a_record_that_is_cut_does_not_count(tmp_path: Path, cut: int) -> None:
    good = written(record(1), record(2))
    path = log(tmp_path, written(record(1), record(2), record(3))[:-cut])
    assert read_log(path)[2:] == (1, 2, len(good), False)


@pytest.mark.parametrize(
    "junk",
    [
        pytest.param(b"\0\0\0\0\x05\x00\x03middle", id="a middle without a start"),
        pytest.param(b"\0\0\0\0\x05\x00\x01short", id="no room for the numbers"),
        pytest.param(b"\0\0\0\0\xff\xff\x01" + bytes(70_000), id="longer than a block"),
        pytest.param(b"\x5a" * 60_000, id="noise"),
        pytest.param(bytes(60_000), id="zeros"),
    ],
)
def test_what_is_no_record_ends_the_log_without_a_gap(tmp_path: Path, junk: bytes) -> None:
    good = written(record(1), record(2))
    assert read_log(log(tmp_path, good + junk))[2:] == (1, 2, len(good), False)


def test_records_of_a_kind_that_holds_no_changes_are_passed_over(tmp_path: Path) -> None:
    path = log(tmp_path, b"\0\0\0\0\x04\x00\x09zstd" + written(record(7), record(8)))
    assert read_log(path)[2:4] == (7, 8)
    assert first_change(path) == 7


def test_the_bytes_of_all_logs_are_added_up(tmp_path: Path) -> None:
    assert bytes_of_logs(tmp_path / "nothing") == 0
    log(tmp_path, bytes(500))
    (tmp_path / "000013.log").write_bytes(bytes(7))
    (tmp_path / "LOG").write_bytes(bytes(9))
    assert bytes_of_logs(tmp_path) == 507


def test_a_file_whose_name_is_no_number_is_no_log_of_rocksdb(tmp_path: Path) -> None:
    (tmp_path / "notes.log").write_text("milk")
    assert number_of(tmp_path / "notes.log") == -1
    assert [each.first for each in logs_in(tmp_path)] == [0]


def test_what_rocksdb_wrote_is_read_to_its_last_change(folder: Path) -> None:
    disk = RocksDisk(folder, TABLES)
    for number in range(100):
        rows = {b"%d %d" % (number, each): os.urandom(number * 50) for each in range(number % 7)}
        disk.apply(Changes({"letters": {**rows, b"gone": None}}, [("numbers", b"a", b"b")]))
    (found,) = logs_in(folder)
    assert (found.first, found.last) == (1, disk._db.latest_sequence_number())
    assert found.end == found.path.stat().st_size
    disk.close()
