"""Tests the folder of history files: files are complete or missing, and are kept for the configured time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from reliquary.store.history import folder as places
from reliquary.store.history.folder import HistoryFile, Kept, clear_unfinished, copy_missing, files_in, sweep
from tests.store.history.test_files import TEN, events, numbers_in, written


def test_what_is_not_whole_is_not_counted_and_is_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, [events(1, [TEN])])

    def crash(*_: object) -> None:
        raise OSError("the power went")

    monkeypatch.setattr(Path, "rename", crash)
    with pytest.raises(OSError, match="power"):
        written(tmp_path, [events(2, [TEN])])
    monkeypatch.undo()
    assert numbers_in(tmp_path) == [1]
    assert len(list(tmp_path.rglob("*.*"))) == 2
    clear_unfinished(tmp_path)
    assert len(list(tmp_path.rglob("*.*"))) == 1


def test_a_file_and_its_folders_are_synced_before_it_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []
    usual: Callable[[Path], None] = places.sync

    def watch(path: Path) -> None:
        synced.append((path.name, any(path.rglob("*.parquet")) if path.is_dir() else False))
        usual(path)

    monkeypatch.setattr(places, "sync", watch)
    written(tmp_path, [events(1, [TEN])])
    assert [name.partition("-")[0] for name, _ in synced] == [
        ".writing",
        "hour=10",
        "day=2026",
        tmp_path.name,
    ]
    assert [whole for _, whole in synced] == [False, True, True, True]


def test_files_with_other_names_do_not_belong_to_the_history(tmp_path: Path) -> None:
    folder = tmp_path / "day=2026-11-15" / "hour=10"
    folder.mkdir(parents=True)
    for name in ("1-2.parquet", "notes.txt", ".writing-7", "x" * 20 + "-" + "1" * 20 + ".parquet"):
        (folder / name).write_bytes(b"")
    assert files_in(tmp_path) == []
    assert files_in(tmp_path / "missing") == []


# -- retention


def four_files(folder: Path) -> list[HistoryFile]:
    return written(folder, [events(1, [TEN + timedelta(hours=hour) for hour in range(4)])])


def test_files_that_are_too_old_go_with_their_folders(tmp_path: Path) -> None:
    four_files(tmp_path)
    now = TEN + timedelta(days=2, hours=2)
    assert [file.first for file in sweep(tmp_path, Kept(days=2), 4, now)] == [1, 2]
    assert numbers_in(tmp_path) == [3, 4]
    assert not (tmp_path / "day=2026-11-15" / "hour=10").exists()
    sweep(tmp_path, Kept(days=2), 4, now + timedelta(days=9))
    assert list(tmp_path.iterdir()) == []


def test_the_oldest_files_go_until_the_rest_is_small_enough(tmp_path: Path) -> None:
    sizes = [file.size for file in four_files(tmp_path)]
    sweep(tmp_path, Kept(bytes=sum(sizes[1:])), 4, TEN)
    assert numbers_in(tmp_path) == [2, 3, 4]
    sweep(tmp_path, Kept(bytes=0), 4, TEN)
    assert numbers_in(tmp_path) == []


def test_a_file_whose_rows_are_still_in_the_store_stays(tmp_path: Path) -> None:
    four_files(tmp_path)
    sweep(tmp_path, Kept(days=0, bytes=0), 2, TEN + timedelta(days=99))
    assert numbers_in(tmp_path) == [3, 4]
    sweep(tmp_path, Kept(), 9, TEN + timedelta(days=9999))
    assert numbers_in(tmp_path) == [3, 4]


def test_what_is_missing_elsewhere_is_copied_under_its_name(tmp_path: Path) -> None:
    four_files(tmp_path / "here")
    copied = copy_missing(tmp_path / "here", tmp_path / "there")
    assert copied == files_in(tmp_path / "there")
    assert numbers_in(tmp_path / "there") == [1, 2, 3, 4]
    copied[1].path.unlink()
    assert [file.first for file in copy_missing(tmp_path / "here", tmp_path / "there")] == [2]
