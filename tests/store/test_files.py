"""Files that are there as a whole."""

from __future__ import annotations

from pathlib import Path

from reliquary.store.files import copy_durably, write_durably


def test_a_file_is_replaced_as_a_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    write_durably(tmp_path / "file", b"old")
    write_durably(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_copy_has_the_same_content(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    copy_durably(tmp_path / "file", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"content"
