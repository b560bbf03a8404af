"""Tests backup and restore, of a live store and of a stopped one."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from reliquary.base.faults import StoreFailure, UsageError
from reliquary.console import acts_file
from reliquary.net.chance import SystemChance
from reliquary.store import Changes, RocksDisk, backup, backup_stopped, restore
from reliquary.store.backup import ACTS, KEYS
from reliquary.store.format import VERSION
from reliquary.store.history.folder import NAME as HISTORY
from reliquary.store.history.folder import files_in
from reliquary.store.restored import noted
from tests.store.conftest import TABLES


def put(disk: RocksDisk, *keys: bytes) -> None:
    disk.apply(Changes({"letters": {key: b"value of " + key for key in keys}}))


def keys_in(folder: Path) -> list[bytes]:
    disk = RocksDisk(folder, TABLES, create=False)
    found = [key for key, _ in disk.range("letters", b"", b"\xff", limit=999)]
    disk.close()
    return found


@pytest.fixture
def stopped(folder: Path) -> Path:
    disk = RocksDisk(folder, TABLES)
    put(disk, b"a", b"b")
    disk.close()
    return folder


def test_a_live_store_is_backed_up_as_it_is_at_that_moment(folder: Path, tmp_path: Path) -> None:
    disk = RocksDisk(folder, TABLES)
    put(disk, b"a")
    backup(disk, tmp_path / "deep" / "backup")
    put(disk, b"b")
    restore(tmp_path / "deep" / "backup", tmp_path / "new" / "restored", SystemChance())
    disk.close()
    assert keys_in(tmp_path / "new" / "restored") == [b"a"]
    assert keys_in(folder) == [b"a", b"b"]


def test_only_the_owner_may_read_a_backup_and_a_restored_store(stopped: Path, tmp_path: Path) -> None:
    backup_stopped(stopped, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored", SystemChance())
    assert [(tmp_path / name).stat().st_mode & 0o077 for name in ("backup", "restored")] == [0, 0]


def test_a_stopped_store_is_backed_up_without_knowing_its_tables(stopped: Path, tmp_path: Path) -> None:
    backup_stopped(stopped, tmp_path / "backup")
    assert keys_in(tmp_path / "backup") == [b"a", b"b"]


def test_the_keys_go_with_the_store_and_stay_secret(stopped: Path, tmp_path: Path) -> None:
    (stopped / KEYS).write_bytes(b"secret")
    (stopped / KEYS).chmod(0o600)
    backup_stopped(stopped, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored", SystemChance())
    for folder in (tmp_path / "backup", tmp_path / "restored"):
        assert (folder / KEYS).read_bytes() == b"secret"
        assert (folder / KEYS).stat().st_mode & 0o777 == 0o600
    (stopped / KEYS).write_bytes(b"another")
    assert (tmp_path / "backup" / KEYS).read_bytes() == b"secret", "a copy, not a link"


def test_a_backup_restores_many_times_and_stays_what_it_is(stopped: Path, tmp_path: Path) -> None:
    backup_stopped(stopped, tmp_path / "backup")
    for name in ("one", "two"):
        restore(tmp_path / "backup", tmp_path / name, SystemChance())
        disk = RocksDisk(tmp_path / name, TABLES)
        disk.apply(Changes({"letters": {b"a": None, name.encode(): b""}}))
        disk.close()
    assert keys_in(tmp_path / "one") == [b"b", b"one"]
    assert keys_in(tmp_path / "backup") == [b"a", b"b"]


def test_a_store_goes_on_after_its_backup_was_taken(stopped: Path, tmp_path: Path) -> None:
    backup_stopped(stopped, tmp_path / "backup")
    disk = RocksDisk(stopped, TABLES)
    put(disk, b"c")
    disk.close()
    assert keys_in(stopped) == [b"a", b"b", b"c"]
    assert keys_in(tmp_path / "backup") == [b"a", b"b"]


def test_a_backup_does_not_go_into_a_folder_that_exists(stopped: Path, tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    with pytest.raises(UsageError, match="backup exists"):
        backup_stopped(stopped, tmp_path / "backup")


def test_a_stopped_backup_of_a_store_in_use_is_refused(folder: Path, tmp_path: Path) -> None:
    disk = RocksDisk(folder, TABLES)
    with pytest.raises(StoreFailure) as failure:
        backup_stopped(folder, tmp_path / "backup")
    assert failure.value.kind == "locked"
    assert not (tmp_path / "backup").exists()
    disk.close()


def test_a_backup_of_nothing_is_refused_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreFailure) as failure:
        backup_stopped(tmp_path / "nothing", tmp_path / "backup")
    assert failure.value.kind == "missing"
    assert list(tmp_path.iterdir()) == []


def test_a_restore_does_not_go_into_a_folder_that_holds_something(stopped: Path, tmp_path: Path) -> None:
    backup_stopped(stopped, tmp_path / "backup")
    with pytest.raises(UsageError, match="empty folder"):
        restore(tmp_path / "backup", stopped, SystemChance())
    assert keys_in(stopped) == [b"a", b"b"]


def test_a_restore_into_an_empty_folder_is_done(stopped: Path, tmp_path: Path) -> None:
    backup_stopped(stopped, tmp_path / "backup")
    (tmp_path / "restored").mkdir()
    restore(tmp_path / "backup", tmp_path / "restored", SystemChance())
    assert keys_in(tmp_path / "restored") == [b"a", b"b"]


def test_a_copy_of_the_folder_of_a_server_is_restored_without_its_log_of_acts(
    stopped: Path, tmp_path: Path
) -> None:
    assert ACTS == acts_file.NAME
    (stopped / "acts").mkdir()
    (stopped / "acts" / "2026-11-19.jsonl").write_text("{}\n")
    restore(stopped, tmp_path / "restored", SystemChance())
    assert keys_in(tmp_path / "restored") == [b"a", b"b"]
    assert not (tmp_path / "restored" / "acts").exists()


def test_a_restore_from_what_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "note").write_text("milk")
    with pytest.raises(UsageError, match="not a backup"):
        restore(tmp_path / "notes", tmp_path / "restored", SystemChance())
    assert not (tmp_path / "restored").exists()


def test_a_restore_of_a_newer_store_is_refused(stopped: Path, tmp_path: Path) -> None:
    backup_stopped(stopped, tmp_path / "backup")
    (tmp_path / "backup" / "FORMAT").write_text(f"reliquary store {VERSION + 1}\n")
    with pytest.raises(StoreFailure) as failure:
        restore(tmp_path / "backup", tmp_path / "restored", SystemChance())
    assert failure.value.kind == "newer"


def test_a_restore_that_was_cut_short_is_no_store(stopped: Path, tmp_path: Path) -> None:
    backup_stopped(stopped, tmp_path / "backup")
    for file in (tmp_path / "backup").glob("MANIFEST-*"):
        file.unlink()
        file.mkdir()  # cannot be copied
    with pytest.raises(StoreFailure):
        restore(tmp_path / "backup", tmp_path / "restored", SystemChance())
    with pytest.raises(StoreFailure) as failure:
        RocksDisk(tmp_path / "restored", TABLES)
    assert failure.value.kind == "missing"


def test_a_restored_store_says_so_until_its_new_era_is_on_disk(stopped: Path, tmp_path: Path) -> None:
    backup_stopped(stopped, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored", SystemChance())
    found = []
    for begun in (False, True, True):
        disk = RocksDisk(tmp_path / "restored", TABLES, create=False)
        found.append(disk.restoration)
        if begun:
            disk.restoration_begun()
        disk.close()
    assert found[0] == found[1] is not None
    assert found[2] is None


def test_a_backup_of_a_restored_store_is_no_restored_store(stopped: Path, tmp_path: Path) -> None:
    backup_stopped(stopped, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "one", SystemChance())
    backup_stopped(tmp_path / "one", tmp_path / "second")
    assert noted(tmp_path / "second") is None
    restore(tmp_path / "second", tmp_path / "two", SystemChance())
    first, second = noted(tmp_path / "one"), noted(tmp_path / "two")
    assert first is not None
    assert second is not None
    assert first.identifier != second.identifier


def history_of(folder: Path, *ranges: tuple[int, int]) -> Path:
    """Write files with these names into a folder of history."""
    for first, last in ranges:
        path = folder / "day=2026-11-15" / "hour=12" / f"{first:020}-{last:020}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{first} to {last}")
    return folder


def test_the_history_goes_along_and_comes_back(stopped: Path, tmp_path: Path) -> None:
    history_of(stopped / HISTORY, (1, 3), (4, 9))
    (stopped / HISTORY / "day=2026-11-15" / "hour=12" / ".writing-7").write_text("not whole")
    backup_stopped(stopped, tmp_path / "plain")
    assert not (tmp_path / "plain" / HISTORY).exists()
    backup_stopped(stopped, tmp_path / "backup", with_history=True)
    restore(tmp_path / "backup", tmp_path / "restored", SystemChance())
    for folder in (tmp_path / "backup", tmp_path / "restored"):
        found = [(file.first, file.last, file.path.read_text()) for file in files_in(folder / HISTORY)]
        assert found == [(1, 3, "1 to 3"), (4, 9, "4 to 9")]
        assert not [*folder.rglob(".writing*")]
    assert keys_in(tmp_path / "restored") == [b"a", b"b"]


def test_a_history_that_is_not_there_is_refused_first(stopped: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no history beside this store"):
        backup_stopped(stopped, tmp_path / "backup", with_history=True)
    assert not (tmp_path / "backup").exists()


def test_no_file_is_taken_behind_one_that_was_overlooked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the folder is read, the exporter may write into hours that were read already."""
    disk = RocksDisk(folder, TABLES)
    history = history_of(tmp_path / "history", (1, 3))
    real = disk.checkpoint

    def meanwhile(target: Path) -> None:
        real(target)
        history_of(history, (4, 5), (8, 9))  # 6 to 7 comes before 8, but after its hour was read

    monkeypatch.setattr(disk, "checkpoint", meanwhile)
    backup(disk, tmp_path / "backup", history)
    disk.close()
    assert [file.last for file in files_in(tmp_path / "backup" / HISTORY)] == [3, 5]


def test_a_history_on_another_disk_is_copied(
    stopped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "another device")

    history_of(stopped / HISTORY, (1, 3))
    monkeypatch.setattr(os, "link", refuse)
    backup_stopped(stopped, tmp_path / "backup", with_history=True)
    assert [file.last for file in files_in(tmp_path / "backup" / HISTORY)] == [3]
