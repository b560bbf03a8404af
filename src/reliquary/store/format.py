"""Reads and writes the file FORMAT, which marks a folder as a store and names the release line that wrote it.

It is written before RocksDB creates its first file and read before RocksDB touches anything.  So
a store of another release line is left alone, and so is a folder that holds something else: RocksDB
would delete files there whose names look like its own.

    version 1, 2   a store of an older release line, whose rows this one does not read
    version 3      a store whose first start did not come to its first mark
    version 4      a store that has a mark (`mark.py`): without it, something is missing
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from reliquary.base.faults import StoreDamage, StoreFailure
from reliquary.store.files import make_folder, write_durably

WITHOUT_MARK: Final = 3
VERSION: Final = 4
NAME: Final = "FORMAT"
_OPENING: Final = "reliquary store "
_HARMLESS: Final = {"lost+found", NAME + ".new"}  # the root of a file system, and our own start cut short


def claim(folder: Path, *, create: bool) -> int:
    """Check that this release can open the store in the folder, or make an empty folder a store.

    The result is the version of the store.
    """
    if (folder / NAME).exists():
        return _check(folder)
    if not create:
        raise StoreFailure("missing", f"there is no store in {folder}")
    make_folder(folder)
    _must_be_free(folder)
    stamp(folder, WITHOUT_MARK)
    return WITHOUT_MARK


def stamp(folder: Path, version: int) -> None:
    """Mark a folder as a store of this version."""
    write_durably(folder / NAME, f"{_OPENING}{version}\n".encode())


def is_store(folder: Path) -> bool:
    """Return whether the folder has the mark of a store, of any version."""
    return (folder / NAME).is_file()


def _check(folder: Path) -> int:
    text = (folder / NAME).read_text(errors="replace").strip()
    number = text.removeprefix(_OPENING)
    if not text.startswith(_OPENING) or not number.isdecimal() or int(number) < 1:
        raise StoreDamage(f"{folder} is damaged: its file {NAME} does not say what it should")
    if int(number) < WITHOUT_MARK:
        raise StoreFailure(
            "older",
            f"{folder} has store version {number}, this release reads {VERSION} and cannot upgrade it:"
            " receive its messages with the release that wrote it, then begin with a new folder",
        )
    if int(number) > VERSION:
        raise StoreFailure(
            "newer",
            f"{folder} has store version {number}, this release knows {VERSION}:"
            " run the release that wrote it",
        )
    return int(number)


def _must_be_free(folder: Path) -> None:
    strangers = sorted({entry.name for entry in folder.iterdir()} - _HARMLESS)
    if strangers:
        raise StoreFailure("missing", f"{folder} is not empty and holds no store: it has {strangers[0]}")
