"""Files that are there after a power cut: written, synced, renamed, and the folder synced too."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

FOR_OWNER: Final = 0o700
"""The mode of a folder that only its owner may read."""


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file as a whole: a crash leaves the old one or the new one."""
    unfinished = path.with_name(path.name + ".new")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
    sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, so that their names are safe; one that exists is fine.

    Only the owner may read a folder that is made; one that exists keeps its mode.
    """
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(FOR_OWNER, exist_ok=True)
        sync_folder(folder.parent)


def copy_durably(source: Path, target: Path) -> None:
    """Copy one file, synced; the folder is still to be synced.

    Only users who may read the original may read the copy, also while it is made.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, source.stat().st_mode & 0o777 | 0o200))
    shutil.copyfile(source, target)
    sync_file(target)


def sync_file(path: Path) -> None:
    """Wait until the content of a file is safe."""
    _sync(path, os.O_RDONLY)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are safe."""
    _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
