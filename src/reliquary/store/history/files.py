"""Writes tables of the history to files: one after the other, cut by hour and by number of events."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.store.history.columns import PACKED
from reliquary.store.history.folder import WRITING, HistoryFile, finish
from reliquary.wire.history import MANAGER_KEY, VERSION, VERSION_KEY

FILE_EVENTS: Final = 1_000_000
"""The largest number of events of a file."""
_COUNTING: Final = ("event_id", "time", "message", "lookup_id", "stream_number", "previous_number")
"""The columns whose numbers mostly grow."""
_ENCODINGS: Final = dict.fromkeys(_COUNTING, "DELTA_BINARY_PACKED") | {"message_id": "DELTA_BYTE_ARRAY"}
SEARCHED: Final = ("event_id", "time", "message", "message_id", "lookup_id")
"""The columns with statistics and page indexes: readers search events and messages by them.

Statistics of all columns took a fifth of the processor time of an export.
"""
_COMPRESSION: Final = {name: "zstd" if name in _ENCODINGS else "snappy" for name in PACKED.names}
"""Words and constants are short pages, for which opening zstd takes longer than compressing them."""
_VALUES_AT_ONCE: Final = 65_536
"""How many values of a column are encoded by one call; Arrow's own number is 1,024."""
_SORTED: Final = pq.SortingColumn.from_ordering(PACKED, [("event_id", "ascending")])
_HOUR: Final = 3_600_000_000
"""The number of microseconds in an hour."""


def owner_of(file: HistoryFile) -> str:
    """Return the GUID of the manager whose history the file contains; empty if the file does not name it."""
    metadata = pq.read_metadata(file.path).metadata or {}
    return bytes(metadata.get(MANAGER_KEY.encode(), b"")).decode()


class FileWriter:
    """Writes tables one after the other to files: an hour in each file."""

    def __init__(self, folder: Path, manager: UUID, *, file_events: int = FILE_EVENTS) -> None:
        self._folder = folder
        self._metadata = {VERSION_KEY: str(VERSION), MANAGER_KEY: str(manager)}
        self._file_events = file_events
        self._open: _Open | None = None

    def add(self, table: pa.Table) -> Iterator[HistoryFile]:
        """Write a table; yield each complete file when it is synced."""
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
        """Complete the file that is being written."""
        if self._open is not None:
            opened, self._open = self._open, None
            yield opened.finish()

    def give_up(self) -> None:
        """Delete the file that cannot be written to its end."""
        if self._open is not None:
            opened, self._open = self._open, None
            opened.discard()


def hours_in(table: pa.Table) -> Iterator[tuple[datetime, int, int]]:
    """Yield the hours of a table with their first and last rows; an hour can occur twice if the calendar was
    set back."""
    moments = table.column("time").cast(pa.int64()).combine_chunks()
    runs = pc.run_end_encode(pc.divide(moments, _HOUR))
    begin = 0
    for hour, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        yield datetime.fromtimestamp(hour * 3600, UTC), begin, end
        begin = end


class _Open:
    """The file that is being written."""

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
            compression=_COMPRESSION,
            use_dictionary=[name for name in PACKED.names if name not in _ENCODINGS],
            column_encoding=_ENCODINGS,
            store_schema=False,  # readers get plain strings, also from dictionary-encoded columns
            sorting_columns=_SORTED,
            write_statistics=list(SEARCHED),
            write_batch_size=_VALUES_AT_ONCE,
            write_page_index=True,  # a reader of few events or of one message skips all other pages
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
        finish(self._path, path, self._root)
        return HistoryFile(path, self._first, self._last, path.stat().st_size)

    def discard(self) -> None:
        with suppress(Exception):
            self._writer.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
