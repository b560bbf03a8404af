"""Exports the rows of a store to files, each event once.

    exported (the mark) <= in files (their names) <= recorded (the rows)
         |                      |                        |
         '-- rows are gone      '-- rows may go          '-- the next export begins behind the files

A crash between two of these steps only leaves rows whose events are in a file already: they are ignored.
Nothing here depends on the engine; the caller syncs the rows before the export and deletes them after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.queueing.model.tables import HISTORY, history_key
from reliquary.store.disk import Disk
from reliquary.store.history.columns import Numbered, read_rows, table_of
from reliquary.store.history.files import FILE_EVENTS, FileWriter, owner_of
from reliquary.store.history.folder import HistoryFile, files_in

PIECE_EVENTS: Final = 250_000
"""The approximate number of events that are in memory at a time."""
ROWS_AT_ONCE: Final = 64


class ExportedManager(NamedTuple):
    """The manager whose history is exported."""

    manager: UUID
    name: str


def last_in(folder: Path, manager: UUID | None) -> int:
    """Return the number of the last event in the files of a folder; refuse files of another manager."""
    files = files_in(folder)
    if not files:
        return 0
    newest = max(files, key=lambda file: file.last)
    owner = owner_of(newest)
    if owner != str(manager):
        raise UsageError(f"{folder} holds the history of manager {owner}: choose another folder for this one")
    return newest.last


def export(
    disk: Disk,
    folder: Path,
    whose: ExportedManager,
    after: int,
    until: int,
    *,
    file_events: int = FILE_EVENTS,
    piece_events: int = PIECE_EVENTS,
) -> Iterator[HistoryFile]:
    """Write the events after `after`, up to `until`; yield each file when it is synced."""
    writer = FileWriter(folder, whose.manager, file_events=file_events)
    try:
        for piece in _pieces(disk, after, until, piece_events):
            yield from writer.add(_between(table_of(piece, *whose), after, until))
        yield from writer.end()
    finally:
        writer.give_up()


def _pieces(disk: Disk, after: int, until: int, most: int) -> Iterator[list[Numbered]]:
    """Yield the rows with these events, as many at a time as may be in memory."""
    piece: list[Numbered] = []
    count, key = 0, _first_key(disk, after + 1)
    while rows := read_rows(disk, key, ROWS_AT_ONCE):
        for first, row in rows:
            if first > until:
                break
            piece.append((first, row))
            count += row.count
            if count >= most:
                yield piece
                piece, count = [], 0
        key = history_key(rows[-1][0] + 1)
        if rows[-1][0] > until:
            break
    if piece:
        yield piece


def _first_key(disk: Disk, event: int) -> bytes:
    """Return the key of the row that may have this event."""
    before = disk.range(HISTORY.name, b"", history_key(event + 1), limit=1, reverse=True)
    return before[0][0] if before else history_key(event)


def _between(table: pa.Table, after: int, until: int) -> pa.Table:
    """Return the table without the events that are in files already, and without those that may not be
    exported."""
    numbers = table.column("event_id")
    before = pc.sum(pc.less_equal(numbers, after)).as_py() or 0
    return table.slice(before, (pc.sum(pc.less_equal(numbers, until)).as_py() or 0) - before)
