"""Lists, copies and deletes the files in the folder of the history.

    FOLDER/day=2026-11-15/hour=22/00000000000000000001-00000000000000000417.parquet
                                  first event          last event

The names decide: an event is in a file when its number is in the range of a name, and then it is never
written again.  A file is written under another name, which readers ignore, synced, and renamed when it is
complete:

    .writing --fsync--> rename --fsync of the folders--> the rows may go

So a crash leaves a complete file that counts, or an incomplete one that the next start removes.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

NAME: Final = "history"
"""The name of the folder in the folder of a store, and in a backup with the history."""
WRITING: Final = ".writing-"
"""The prefix of an incomplete file's name."""
_NAME: Final = re.compile(r"(\d{20})-(\d{20})\.parquet")


class HistoryFile(NamedTuple):
    """One file, and the range of its events."""

    path: Path
    first: int
    last: int
    size: int

    @property
    def hour(self) -> datetime:
        """Return the beginning of the hour of its events."""
        day = self.path.parts[-3].removeprefix("day=")
        return datetime.fromisoformat(f"{day}T{self.path.parts[-2].removeprefix('hour=')}:00:00+00:00")


class Kept(NamedTuple):
    """The retention of files; None keeps them without a limit."""

    days: float | None = None
    bytes: int | None = None


def files_in(folder: Path) -> list[HistoryFile]:
    """Return all complete files, the oldest events first."""
    found = []
    for hour in folder.glob("day=*/hour=*/"):
        # another process may be renaming the file now
        with suppress(FileNotFoundError), os.scandir(hour) as entries:
            for entry in entries:
                match = _NAME.fullmatch(entry.name)
                if match:
                    path, size = hour / entry.name, entry.stat().st_size
                    found.append(HistoryFile(path, int(match[1]), int(match[2]), size))
    return sorted(found, key=lambda file: file.first)


def clear_unfinished(folder: Path) -> None:
    """Remove incomplete files that a crash left."""
    for path in folder.glob(f"day=*/hour=*/{WRITING}*"):
        path.unlink(missing_ok=True)


def sweep(folder: Path, kept: Kept, exported: int, now: datetime) -> list[HistoryFile]:
    """Remove the oldest files that are too old or too many, but only files with events up to `exported`."""
    files = files_in(folder)
    total, removed = sum(file.size for file in files), []
    for file in files:
        old = kept.days is not None and file.hour + timedelta(hours=1, days=kept.days) <= now
        large = kept.bytes is not None and total > kept.bytes
        if not (old or large) or file.last > exported:
            break
        file.path.unlink(missing_ok=True)
        total -= file.size
        removed.append(file)
        with suppress(OSError):  # the folder has other files
            file.path.parent.rmdir()
            file.path.parent.parent.rmdir()
    return removed


def copy_missing(folder: Path, target: Path) -> list[HistoryFile]:
    """Copy the files that the other folder does not have, with their names; return them."""
    there = {file.path.relative_to(target) for file in files_in(target)}
    missing = [file for file in files_in(folder) if file.path.relative_to(folder) not in there]
    return [_taken(file, folder, target, shutil.copyfile) for file in missing]


def take_files(files: list[HistoryFile], folder: Path, target: Path) -> None:
    """Link files, which never change, into another folder; copy them if that is on another file system."""
    for file in files:
        with suppress(FileNotFoundError):  # the oldest files may be deleted meanwhile
            try:
                _taken(file, folder, target, os.link)
            except OSError as why:
                if why.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK):
                    raise
                _taken(file, folder, target, shutil.copyfile)


def _taken(
    file: HistoryFile, folder: Path, target: Path, take: Callable[[Path, Path], object]
) -> HistoryFile:
    path = target / file.path.relative_to(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{WRITING}{path.name}")
    take(file.path, unfinished)
    finish(unfinished, path, target)
    return file._replace(path=path)


def finish(unfinished: Path, path: Path, root: Path) -> None:
    """Give a complete file its final name, and sync it and its folders."""
    sync(unfinished)
    unfinished.rename(path)
    for folder in (path.parent, path.parent.parent, root):
        sync(folder)


def sync(path: Path) -> None:
    """Wait until a file or a folder is durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
