"""Tests the file FORMAT: the owner of a folder, and whether this release may open it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import StoreDamage, StoreFailure
from reliquary.store.format import NAME, VERSION, WITHOUT_MARK, claim, stamp


def test_an_empty_folder_is_claimed_and_known_again(folder: Path) -> None:
    assert claim(folder, create=True) == WITHOUT_MARK
    assert (folder / NAME).read_text() == f"reliquary store {WITHOUT_MARK}\n"
    stamp(folder, VERSION)
    assert claim(folder, create=False) == VERSION


def test_a_folder_is_not_made_when_none_is_wanted(folder: Path) -> None:
    with pytest.raises(StoreFailure, match="no store") as failure:
        claim(folder, create=False)
    assert failure.value.kind == "missing"
    assert not folder.exists()


def test_a_newer_store_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / NAME).write_text(f"reliquary store {VERSION + 1}\n")
    with pytest.raises(StoreFailure, match=f"version {VERSION + 1}, this release knows {VERSION}") as failure:
        claim(folder, create=True)
    assert failure.value.kind == "newer"


@pytest.mark.parametrize("version", range(1, WITHOUT_MARK))
def test_an_older_store_is_left_alone_and_the_sentence_says_what_to_do(folder: Path, version: int) -> None:
    folder.mkdir()
    stamp(folder, version)
    with pytest.raises(
        StoreFailure, match=f"version {version}.*receive its messages with the release"
    ) as why:
        claim(folder, create=True)
    assert why.value.kind == "older"
    assert (folder / NAME).read_text() == f"reliquary store {version}\n"


@pytest.mark.parametrize(
    "content", ["", "reliquary store", "reliquary store x", "reliquary store 0", "something else 1"]
)
def test_a_format_file_that_says_something_else_is_damage(folder: Path, content: str) -> None:
    folder.mkdir()
    (folder / NAME).write_text(content)
    with pytest.raises(StoreDamage):
        claim(folder, create=True)


def test_a_folder_with_other_files_is_not_claimed(folder: Path) -> None:
    folder.mkdir()
    (folder / "000001.log").write_text("the notes of a user")
    with pytest.raises(StoreFailure, match=r"not empty.*000001\.log") as failure:
        claim(folder, create=True)
    assert failure.value.kind == "missing"
    assert [entry.name for entry in folder.iterdir()] == ["000001.log"]


def test_a_start_that_was_cut_short_is_begun_again(folder: Path) -> None:
    folder.mkdir()
    (folder / (NAME + ".new")).write_text("reli")
    claim(folder, create=True)
    claim(folder, create=False)
