"""Tests stores whose files are missing, cut or changed: they open with every row, or report damage."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from rocksdict import Cache, Options

from reliquary.base.faults import StoreDamage, StoreFailure
from reliquary.net.chance import SystemChance
from reliquary.store import Changes, RocksDisk, backup_stopped, restore, tuning
from reliquary.store import format as store_format
from reliquary.store.mark import NAME as MARK
from tests.store.conftest import TABLES

LETTERS = 240
EXPECTED = [b"%04d" % number for number in range(LETTERS)]


def rows(folder: Path) -> list[bytes]:
    """Open a store, read every row, and close it."""
    disk = RocksDisk(folder, TABLES)
    try:
        numbers = [key for key, _ in disk.range("numbers", b"", b"\xff", limit=9)]
        assert numbers == [b"first", b"last"]
        return [key for key, _ in disk.range("letters", b"", b"\xff", limit=LETTERS + 9)]
    finally:
        disk.close()


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what a crash leaves of a store with several live logs and sorted files.

    The first row of `numbers` is in the first log alone, so every later log is live too.
    """
    place = tmp_path_factory.mktemp("crashed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "WRITE_BUFFER", 64 * 1024)
        disk = RocksDisk(place / "running", TABLES)
        _fill(disk)
        shutil.copytree(place / "running", place / "store")
        disk.close()
    return place / "store"


def _fill(disk: RocksDisk) -> None:
    disk.apply(Changes({"numbers": {b"first": b""}}))
    for key in EXPECTED:
        disk.apply(Changes({"letters": {key: os.urandom(1000)}}))
        disk.sync()
    disk.apply(Changes({"numbers": {b"last": b""}}))
    disk.sync()


@pytest.fixture
def store(crashed: Path, folder: Path) -> Path:
    shutil.copytree(crashed, folder)
    return folder


@pytest.fixture
def logs(store: Path) -> list[Path]:
    found = sorted(store.glob("*.log"))
    assert len(found) >= 4, "the trial needs several live logs"
    return found


def must_be_damage(folder: Path, *words: str) -> None:
    """Check that opening fails repeatedly and changes no file that has rows."""
    before = _content(folder)
    for _ in range(2):
        with pytest.raises(StoreDamage, match=str(folder)) as damage:
            RocksDisk(folder, TABLES)
        assert all(word in str(damage.value) for word in words), damage.value
    assert _content(folder) == before


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith("LO")}


def test_the_store_opens_with_every_row_when_nothing_is_wrong(store: Path) -> None:
    assert rows(store) == EXPECTED
    assert rows(store) == EXPECTED


# Logs


@pytest.mark.parametrize("place", [0, 1, 2, -1], ids=["first", "second", "third", "last"])
@pytest.mark.parametrize("how", ["missing", "empty"])
def test_any_missing_log_is_damage(logs: list[Path], place: int, how: str) -> None:
    log = logs[place]
    log.unlink() if how == "missing" else log.write_bytes(b"")
    must_be_damage(log.parent, log.name if place != -1 or how == "missing" else "")


@pytest.mark.parametrize("place", [0, 1, -1], ids=["first", "second", "last"])
def test_a_log_that_was_cut_between_two_records_is_damage(logs: list[Path], place: int) -> None:
    log = logs[place]
    content = log.read_bytes()
    log.write_bytes(content[: _record_boundary(content, len(content) // 2)])
    must_be_damage(log.parent)


def test_a_block_of_zeros_in_a_log_is_damage(logs: list[Path]) -> None:
    """RocksDB takes zeros at the start of a block for the end of that block, without an error."""
    content = logs[1].read_bytes()
    logs[1].write_bytes(content[:32768] + bytes(4096) + content[36864:])
    must_be_damage(logs[1].parent)


def test_a_log_that_only_another_store_had_is_damage(logs: list[Path], tmp_path: Path) -> None:
    other = RocksDisk(tmp_path / "other", TABLES)
    _fill(other)
    shutil.copy(max(other.folder.glob("*.log")), logs[1])
    other.close()
    must_be_damage(logs[1].parent)


def test_old_logs_that_rocksdb_no_longer_needs_may_be_there_or_not(folder: Path, tmp_path: Path) -> None:
    """A process may die while it deletes obsolete logs, in any order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "WRITE_BUFFER", 64 * 1024)
        disk = RocksDisk(folder, TABLES)
        _fill(disk)
        old = {log.name: log.read_bytes() for log in sorted(folder.glob("*.log"))}
        disk._db.flush()
        for table in TABLES:
            disk._readers[table].flush()
        disk.apply(Changes({"letters": {b"zz": b""}}))
        disk.sync()
        stale = (folder / MARK).read_bytes()
        shutil.copytree(folder, tmp_path / "copy")
        disk.close()
    copy = tmp_path / "copy"
    names = sorted(old)
    for name in names[::2]:  # half of them come back, with gaps between them
        (copy / name).write_bytes(old[name])
    (copy / MARK).write_bytes(stale)
    assert rows(copy) == [*EXPECTED, b"zz"]


def test_a_mark_that_is_older_than_the_logs_is_no_damage(folder: Path, tmp_path: Path) -> None:
    """After a power cut the mark may be some seconds old; logs that it names may be obsolete by now."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "WRITE_BUFFER", 64 * 1024)
        disk = RocksDisk(folder, TABLES)
        _fill(disk)
        old = (folder / MARK).read_bytes()
        for table in TABLES:
            disk._readers[table].flush()
        disk.apply(Changes({"letters": {b"zz": b""}}))
        disk.sync()
        shutil.copytree(folder, tmp_path / "copy")
        disk.close()
    (tmp_path / "copy" / MARK).write_bytes(old)
    assert rows(tmp_path / "copy") == [*EXPECTED, b"zz"]


# The MANIFEST


def test_a_manifest_that_lost_its_last_records_is_damage(folder: Path, tmp_path: Path) -> None:
    """RocksDB would take it for an older one, and delete the sorted files that it does not name."""
    disk = RocksDisk(folder, TABLES)
    [manifest] = folder.glob("MANIFEST-*")
    before = manifest.stat().st_size
    _fill(disk)
    for table in TABLES:
        disk._readers[table].flush()
    disk.apply(Changes({"letters": {b"zz": b""}}))
    disk.sync()
    shutil.copytree(folder, tmp_path / "cut")
    disk.close()
    os.truncate(tmp_path / "cut" / manifest.name, before)
    must_be_damage(tmp_path / "cut", manifest.name)


# What a power cut leaves beyond the mark


@pytest.fixture
def unsynced(folder: Path, tmp_path: Path) -> tuple[Path, list[Path]]:
    """Return a crashed store with several unsynced logs; only the start of the first one is safe.

    Memtables are kept in memory while the logs switch: before a memtable becomes a file, its logs are synced.
    """
    usual = tuning.table

    def patient(cache: Cache) -> Options:
        options = usual(cache)
        options.set_max_write_buffer_number(12)
        options.set_min_write_buffer_number_to_merge(11)
        return options

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "WRITE_BUFFER", 64 * 1024)
        patch.setattr(tuning, "table", patient)
        disk = RocksDisk(folder, TABLES)
        disk.apply(Changes({"numbers": {b"first": b"", b"last": b""}}))
        disk.apply(Changes({"letters": dict.fromkeys(EXPECTED, b"")}))
        disk.sync()
        for number in range(200):
            disk.apply(Changes({"letters": {b"x%03d" % number: os.urandom(1000)}}))
        shutil.copytree(folder, tmp_path / "cut")
        disk.close()
    found = sorted((tmp_path / "cut").glob("*.log"))
    assert len(found) >= 3
    assert not list((tmp_path / "cut").glob("*.sst"))
    return tmp_path / "cut", found


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_logs_behind_a_gap_that_was_never_synced_are_dropped(
    unsynced: tuple[Path, list[Path]], how: str
) -> None:
    folder, logs = unsynced
    logs[1].unlink() if how == "missing" else logs[1].write_bytes(b"")
    late = rows_up_to_a_gap(folder)
    assert 0 < len(late) < 100


def test_a_release_with_a_new_table_opens_what_a_crash_left(unsynced: tuple[Path, list[Path]]) -> None:
    """The check of the logs opens only existing tables; the store gets the new table afterwards."""
    folder, logs = unsynced
    logs[1].unlink()
    disk = RocksDisk(folder, (*TABLES, "new"))
    try:
        assert disk.range("new", b"", b"\xff", limit=1) == []
        assert disk.get("numbers", b"first") is not None
    finally:
        disk.close()


def test_zeros_in_a_part_that_was_never_synced_end_the_log_there(unsynced: tuple[Path, list[Path]]) -> None:
    folder, logs = unsynced
    content = logs[0].read_bytes()
    logs[0].write_bytes(content[:32768] + bytes(4096) + content[36864:])
    late = rows_up_to_a_gap(folder)
    assert 0 < len(late) < 40


def rows_up_to_a_gap(folder: Path) -> list[bytes]:
    """Return the unsynced rows: all before the gap and none after it, now and at the next start."""
    found: list[list[bytes]] = []
    for _ in range(2):
        assert set(rows(folder)) >= set(EXPECTED)
        disk = RocksDisk(folder, TABLES)
        found.append([key for key, _ in disk.range("letters", b"x", b"y", limit=999)])
        disk.close()
    assert found[0] == [b"x%03d" % number for number in range(len(found[0]))], (
        "a batch came before an earlier"
    )
    assert found[0] == found[1]
    return found[0]


# The mark


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda mark: mark.unlink(), id="missing"),
        pytest.param(lambda mark: mark.write_bytes(b""), id="empty"),
        pytest.param(lambda mark: mark.write_bytes(bytes(mark.stat().st_size)), id="zeros"),
        pytest.param(lambda mark: mark.write_bytes(os.urandom(mark.stat().st_size)), id="noise"),
    ],
)
@pytest.mark.parametrize("halved", [False, True], ids=["logs whole", "last log halved"])
def test_a_mark_that_is_gone_is_damage(
    store: Path, logs: list[Path], spoil: Callable[[Path], object], halved: bool
) -> None:
    spoil(store / MARK)
    if halved:
        os.truncate(logs[-1], logs[-1].stat().st_size // 2)
    must_be_damage(store, MARK)


@pytest.mark.parametrize("slot", [0, 1])
def test_one_of_the_two_slots_of_the_mark_is_enough(store: Path, logs: list[Path], slot: int) -> None:
    half = (store / MARK).stat().st_size // 2
    content = bytearray((store / MARK).read_bytes())
    content[slot * half : slot * half + 64] = bytes(64)
    (store / MARK).write_bytes(content)
    shutil.copytree(store, store.with_name("second"))
    assert rows(store) == EXPECTED
    (store.with_name("second") / logs[1].name).unlink()
    must_be_damage(store.with_name("second"), logs[1].name)


# First starts that were cut short, stores of older releases, backups


def without_mark(store: Path) -> Path:
    """Return the store in the state after a first start that did not reach its first mark."""
    (store / MARK).unlink()
    store_format.stamp(store, store_format.WITHOUT_MARK)
    return store


def test_a_store_whose_first_start_was_cut_short_opens_and_has_the_mark_from_then_on(store: Path) -> None:
    assert rows(without_mark(store)) == EXPECTED
    assert (store / "FORMAT").read_text() == f"reliquary store {store_format.VERSION}\n"
    (store / MARK).unlink()
    must_be_damage(store, MARK)


@pytest.mark.parametrize("version", range(1, store_format.WITHOUT_MARK))
def test_a_store_of_an_older_release_is_refused_and_left_as_it_is(store: Path, version: int) -> None:
    store_format.stamp(store, version)
    before = _content(store)
    with pytest.raises(StoreFailure, match="with the release that wrote it"):
        RocksDisk(store, TABLES)
    assert _content(store) == before


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_gap_between_the_logs_of_a_store_without_a_mark_is_damage(logs: list[Path], how: str) -> None:
    folder = without_mark(logs[0].parent)
    logs[1].unlink() if how == "missing" else logs[1].write_bytes(b"")
    must_be_damage(folder)


def test_a_backup_has_a_mark_of_its_own_and_so_has_what_is_restored(store: Path, tmp_path: Path) -> None:
    backup_stopped(store, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored", SystemChance())
    for folder in (tmp_path / "backup", tmp_path / "restored"):
        assert rows(folder) == EXPECTED
        (folder / MARK).unlink()
        must_be_damage(folder, MARK)


def test_a_backup_whose_manifest_was_cut_is_damage(store: Path, tmp_path: Path) -> None:
    backup_stopped(store, tmp_path / "backup")
    [manifest] = (tmp_path / "backup").glob("MANIFEST-*")
    os.truncate(manifest, manifest.stat().st_size - 1)
    must_be_damage(tmp_path / "backup", manifest.name)


def test_a_backup_of_an_older_release_is_not_restored(store: Path, tmp_path: Path) -> None:
    store_format.stamp(store, 1)
    with pytest.raises(StoreFailure, match="store version 1"):
        restore(store, tmp_path / "restored", SystemChance())
    assert not (tmp_path / "restored").exists()


def test_a_start_that_ended_before_the_first_mark_begins_again(folder: Path) -> None:
    store_format.claim(folder, create=True)
    RocksDisk(folder, TABLES).close()


# Every file in every way


def _flip(share: float) -> Callable[[bytes], bytes]:
    def flip(content: bytes) -> bytes:
        place = min(int(len(content) * share), len(content) - 1)
        return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]

    return flip


DAMAGES: dict[str, Callable[[bytes], bytes] | None] = {
    "deleted": None,
    "halved": lambda content: content[: len(content) // 2],
    "emptied": lambda content: b"",
    **{f"a bit flipped at {share}": _flip(share) for share in (0, 0.1, 0.3, 0.5, 0.7, 0.9, 1)},
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["after a crash", "after a close"])
def test_no_damage_to_one_file_loses_a_row_without_a_report(
    crashed: Path, tmp_path: Path, damage: str, kind: str
) -> None:
    if kind == "after a close":
        shutil.copytree(crashed, tmp_path / "closed")
        rows(tmp_path / "closed")
        crashed = tmp_path / "closed"
    silent = []
    for name in sorted(path.name for path in crashed.iterdir() if path.stat().st_size):
        trial = tmp_path / "trial"
        shutil.copytree(crashed, trial)
        spoil = DAMAGES[damage]
        if spoil is None:
            (trial / name).unlink()
        else:
            (trial / name).write_bytes(spoil((trial / name).read_bytes()))
        try:
            if rows(trial) != EXPECTED:
                silent.append(name)
        except (StoreDamage, StoreFailure):
            pass
        except AssertionError:
            silent.append(name)
        shutil.rmtree(trial)
    assert silent == [], f"{damage}: rows are missing, and nothing says so"


def _record_boundary(content: bytes, near: int) -> int:
    """Return the end of the last whole record before an offset; records are shorter than a block."""
    place = end = 0
    while place < near:
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        length, kind = int.from_bytes(content[place + 4 : place + 6], "little"), content[place + 6]
        place += 7 + length
        if kind in (1, 4) and place < near:  # FULL, LAST
            end = place
    return end
