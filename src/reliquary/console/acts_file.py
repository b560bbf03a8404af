"""Writes and reads the files of the log of administrative acts: one JSON object for each line.

    FOLDER/acts-00000001.jsonl     older lines
    FOLDER/acts-00000002.jsonl     the file that grows; another begins each day and when this one is large

A line is written with one call and synced.  A crash can leave a part of the last line: the next start
ends it with a line break, and readers skip lines that are no act.  Old files are deleted by age and by
the size of all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from reliquary.base.faults import UsageError
from reliquary.client.records import ActInfo
from reliquary.store.files import make_folder, sync_folder
from reliquary.views.pages import Page, PageWanted

NAME: Final = "acts"
"""The folder beside the rows of a store."""
LARGEST: Final = 8 * 1024 * 1024
"""The size of a file from which on another begins."""
OWNER_ONLY: Final = 0o600
_NAME: Final = re.compile(r"acts-(\d{8})\.jsonl")
_PLACE: Final = re.compile(r"(\d{1,8})-(\d{1,12})")
_decode = msgspec.json.Decoder(ActInfo).decode
_encode = msgspec.json.Encoder().encode


class KeptActs(NamedTuple):
    """The limits up to which lines are kept, by age and by size; None is no limit."""

    days: float | None = None
    bytes: int | None = None


class ActsFile:
    """The folder of one server; its methods block, so a thread calls them."""

    def __init__(self, folder: Path, kept: KeptActs, today: Callable[[], datetime]) -> None:
        self.folder = folder
        self.kept = kept
        self._today = today
        self._largest = LARGEST
        self._handle: int | None = None
        self._number = 0
        self._day = ""

    def append(self, act: ActInfo) -> None:
        """Write a line and sync it; OSError has the reason why it is not on disk."""
        handle = self._open()
        line = _encode(act) + b"\n"
        written = os.write(handle, line)
        if written != len(line):
            raise OSError(None, f"only {written} of {len(line)} bytes were written")
        os.fsync(handle)

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _open(self) -> int:
        """Return the current file, or begin another one."""
        today = self._today().date().isoformat()
        if self._handle is not None and self._day == today and os.fstat(self._handle).st_size < self._largest:
            return self._handle
        self.close()
        make_folder(self.folder)
        last = max((number for number, _ in files_in(self.folder)), default=0)
        is_first = self._number == 0
        self._number, self._day = last + (0 if is_first and self._grows(last, today) else 1), today
        file = path_of(self.folder, self._number)
        self._handle = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, OWNER_ONLY)
        size = os.fstat(self._handle).st_size
        if size and os.pread(self._handle, 1, size - 1) != b"\n":
            os.write(self._handle, b"\n")
        sync_folder(self.folder)
        self._sweep()
        return self._handle

    def _grows(self, number: int, today: str) -> bool:
        """Return whether the last file of an earlier start is of today, and not large."""
        if not number:
            return False
        found = path_of(self.folder, number).stat()
        of_day = datetime.fromtimestamp(found.st_mtime, UTC).date().isoformat()
        return of_day == today and found.st_size < self._largest

    def _sweep(self) -> None:
        """Remove files that are too old, and the oldest ones while all together are too large."""
        files = [(file, file.stat()) for number, file in files_in(self.folder) if number != self._number]
        oldest = self._today() - timedelta(days=self.kept.days) if self.kept.days is not None else None
        size = sum(found.st_size for _, found in files)
        for file, found in files:
            is_old = oldest is not None and datetime.fromtimestamp(found.st_mtime, UTC) < oldest
            if is_old or (self.kept.bytes is not None and size > self.kept.bytes):
                with suppress(FileNotFoundError):
                    file.unlink()
                size -= found.st_size


def read_acts(folder: Path, wanted: PageWanted, who: str = "", act: str = "") -> Page[ActInfo]:
    """Return a page of acts, the latest first; `who` and `act` omit others."""
    records: list[ActInfo] = []
    place = ""
    for where, line in _lines(folder, *_place(wanted.after)):
        try:
            found = _decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue
        if (who and found.who.casefold() != who.casefold()) or (act and found.act != act):
            continue
        if len(records) == wanted.limit:
            return Page(records, place)
        records.append(found)
        place = where
    return Page(records)


def _lines(folder: Path, before: int, line: int) -> Iterator[tuple[str, bytes]]:
    """Yield lines from the last on, each with its position; only those before a line of a file."""
    for number, file in reversed(files_in(folder)):
        if number > before:
            continue
        try:
            lines = file.read_bytes().splitlines()
        except FileNotFoundError:
            continue
        last = min(line, len(lines)) if number == before else len(lines)
        for at in range(last - 1, -1, -1):
            yield f"{number}-{at}", lines[at]


def _place(after: str) -> tuple[int, int]:
    if not after:
        return 10**9, 0
    found = _PLACE.fullmatch(after)
    if found is None:
        raise UsageError(f"after is what the page before it gave as next, not {after[:40]!r}")
    return int(found[1]), int(found[2])


def path_of(folder: Path, number: int) -> Path:
    """Return the path of a file by its number."""
    return folder / f"acts-{number:08d}.jsonl"


def files_in(folder: Path) -> list[tuple[int, Path]]:
    """Return all files with their numbers, the oldest first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted((int(found[1]), folder / name) for name in names if (found := _NAME.fullmatch(name)))
