"""The folder of history files.

    FOLDER/day=2026-11-15/hour=22/00000000000000000001-00000000000000000417.parquet
                                  first event          last event

The names are the truth: an event is in a file when a name says so, and then it is never written again.  A
file is written under another name, which readers pass over, synced, and gets its own when it is whole:

    .writing --fsync--> rename --fsync of the folders--> the rows may go

So a crash leaves a file that is whole and counts, or one that nobody counts and the next start removes.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.store.history.columns import PACKED
from reliquary.wire.history import MANAGER_KEY, VERSION, VERSION_KEY

FILE_EVENTS: Final = 1_000_000
"""A file is cut here."""
WRITING: Final = ".writing-"
"""How a file begins that is not whole."""
_NAME: Final = re.compile(r"(\d{20})-(\d{20})\.parquet")
_COUNTING: Final = ("event_id", "time", "message", "lookup_id", "stream_number", "previous_number")
"""Columns whose numbers mostly grow."""
_ENCODINGS: Final = dict.fromkeys(_COUNTING, "DELTA_BINARY_PACKED") | {"message_id": "DELTA_BYTE_ARRAY"}
_HOUR: Final = 3_600_000_000
"""Microseconds."""


class HistoryFile(NamedTuple):
    """One file, and the events it holds."""

    path: Path
    first: int
    last: int
    size: int

    @property
    def hour(self) -> datetime:
        """When the hour begins that its events are of."""
        day = self.path.parts[-3].removeprefix("day=")
        return datetime.fromisoformat(f"{day}T{self.path.parts[-2].removeprefix('hour=')}:00:00+00:00")


class Kept(NamedTuple):
    """How long files are kept; None is for ever."""

    days: float | None = None
    bytes: int | None = None


def files_in(folder: Path) -> list[HistoryFile]:
    """All whole files, the oldest events first."""
    found = []
    for hour in folder.glob("day=*/hour=*/"):
        with suppress(FileNotFoundError), os.scandir(hour) as entries:  # somebody may move it just now
            for entry in entries:
                match = _NAME.fullmatch(entry.name)
                if match:
                    path, size = hour / entry.name, entry.stat().st_size
                    found.append(HistoryFile(path, int(match[1]), int(match[2]), size))
    return sorted(found, key=lambda file: file.first)


def owner_of(file: HistoryFile) -> str:
    """The manager whose history it is, a GUID; empty when the file does not say."""
    metadata = pq.read_metadata(file.path).metadata or {}
    return bytes(metadata.get(MANAGER_KEY.encode(), b"")).decode()


def clear_unfinished(folder: Path) -> None:
    """Remove what a crash left half written."""
    for path in folder.glob(f"day=*/hour=*/{WRITING}*"):
        path.unlink(missing_ok=True)


def sweep(folder: Path, kept: Kept, exported: int, now: datetime) -> list[HistoryFile]:
    """Remove the oldest files that are too old or too many; those with events up to `exported` only."""
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
        with suppress(OSError):  # others are in there
            file.path.parent.rmdir()
            file.path.parent.parent.rmdir()
    return removed


def copy_missing(folder: Path, target: Path) -> list[HistoryFile]:
    """Bring the files that it has not into another folder, under the same names; those are told."""
    there = {file.path.relative_to(target) for file in files_in(target)}
    copied = []
    for file in files_in(folder):
        name = file.path.relative_to(folder)
        if name not in there:
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f"{WRITING}{path.name}")
            shutil.copyfile(file.path, unfinished)
            _finish(unfinished, path, target)
            copied.append(file._replace(path=path))
    return copied


class FileWriter:
    """Writes tables that follow each other, hour by hour, file by file."""

    def __init__(self, folder: Path, manager: UUID, *, file_events: int = FILE_EVENTS) -> None:
        self._folder = folder
        self._metadata = {VERSION_KEY: str(VERSION), MANAGER_KEY: str(manager)}
        self._file_events = file_events
        self._open: _Open | None = None

    def add(self, table: pa.Table) -> Iterator[HistoryFile]:
        """Write a table; each file that is whole is told when it is safe."""
        for hour, begin, end in hours_in(table):
            place = begin
            while place < end:
                if self._open is not None and not self._open.takes(hour, self._file_events):
                    yield from self.end()
                if self._open is None:
                    self._open = _Open(self._folder, self._metadata, hour)
                fits = min(end - place, self._file_events - self._open.count)
                self._open.write(table.slice(place, fits))
                place += fits

    def end(self) -> Iterator[HistoryFile]:
        """Make the file that is being written whole."""
        if self._open is not None:
            opened, self._open = self._open, None
            yield opened.finish()

    def give_up(self) -> None:
        """Leave nothing behind of a file that cannot be written."""
        if self._open is not None:
            opened, self._open = self._open, None
            opened.discard()


def hours_in(table: pa.Table) -> Iterator[tuple[datetime, int, int]]:
    """Where the hours of a table begin and end; each as often as the calendar jumped back to it."""
    moments = table.column("time").cast(pa.int64()).combine_chunks()
    runs = pc.run_end_encode(pc.divide(moments, _HOUR))
    begin = 0
    for hour, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        yield datetime.fromtimestamp(hour * 3600, UTC), begin, end
        begin = end


class _Open:
    """A file that is being written."""

    def __init__(self, folder: Path, metadata: dict[str, str], hour: datetime) -> None:
        self.hour = hour
        self.count = 0
        self._root = folder
        self._folder = folder / f"day={hour:%Y-%m-%d}" / f"hour={hour:%H}"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._path = self._folder / f"{WRITING}{os.getpid()}"
        self._first = self._last = 0
        self._writer = pq.ParquetWriter(
            self._path,
            PACKED,
            compression="zstd",
            compression_level=1,
            use_dictionary=[name for name in PACKED.names if name not in _ENCODINGS],
            column_encoding=_ENCODINGS,
            store_schema=False,  # readers are to see plain strings, whatever is written
        )
        self._writer.add_key_value_metadata(metadata)

    def takes(self, hour: datetime, most: int) -> bool:
        return hour == self.hour and self.count < most

    def write(self, table: pa.Table) -> None:
        numbers = table.column("event_id")
        self._first = self._first or numbers[0].as_py()
        self._last = numbers[-1].as_py()
        self._writer.write_table(table)
        self.count += len(table)

    def finish(self) -> HistoryFile:
        self._writer.close()
        path = self._folder / f"{self._first:020}-{self._last:020}.parquet"
        _finish(self._path, path, self._root)
        return HistoryFile(path, self._first, self._last, path.stat().st_size)

    def discard(self) -> None:
        with suppress(Exception):
            self._writer.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def _finish(unfinished: Path, path: Path, root: Path) -> None:
    """Give a file that is whole its own name, and see that all of it outlives a crash."""
    _sync(unfinished)
    unfinished.rename(path)
    for folder in (path.parent, path.parent.parent, root):
        _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
