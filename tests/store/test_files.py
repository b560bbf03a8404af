"""Tests that files are written as a whole."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from reliquary.store.files import copy_durably, make_folder, write_durably


def test_a_file_is_replaced_as_a_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    write_durably(tmp_path / "file", b"old")
    write_durably(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_copy_has_equal_content(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    copy_durably(tmp_path / "file", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"content"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400])
def test_a_copy_may_be_read_by_no_others(tmp_path: Path, mode: int) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "file").chmod(mode)
    copy_durably(tmp_path / "file", tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_mode & 0o077 == mode & 0o077
    assert (tmp_path / "copy").read_bytes() == b"content"


def test_a_copy_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "copy").write_bytes(b"other")
    with pytest.raises(FileExistsError):
        copy_durably(tmp_path / "file", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"other"


def test_a_folder_is_made_with_those_above_it_and_may_exist(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_only_the_owner_may_read_a_folder_that_is_made_and_one_that_exists_keeps_its_mode(
    tmp_path: Path,
) -> None:
    make_folder(tmp_path / "a" / "b")
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b")] == [0o700, 0o700]
    (tmp_path / "a").chmod(0o755)
    make_folder(tmp_path / "a")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755


def test_a_folder_is_not_made_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file" / "folder")
