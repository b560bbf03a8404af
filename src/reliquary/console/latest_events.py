"""Reads the latest events of the history, so that a message can be found without its identifier.

    the newest rows of the store    --.
    the newest files of the history --+--> the events with the highest numbers, the newest first

Few rows and few files are read, however long the history is.  Only the first event of a message names its
identifier, so an event may have the number of its message alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from reliquary.client.records import TraceLine
from reliquary.console.message_lines import COLUMNS, line_of
from reliquary.engine.open import OpenedEngine

MOST: Final = 25
"""The largest number of events."""
ROWS: Final = 64
"""The most rows of the store that are read; a row has one event or more."""
_COLUMNS: Final = [*COLUMNS, "message", "message_id"]


class LatestEvent(NamedTuple):
    """An event, with the message that it happened to."""

    number: int | None
    """The number of the message at this manager; None where the event is about no message."""
    identifier: str
    r"""The identifier of the message, GUID\NUMBER; empty where no event that was read names it."""
    line: TraceLine


async def read_latest_events(opened: OpenedEngine) -> list[LatestEvent]:
    """Return the latest events, the newest first; none at a manager without a history."""
    if opened.history is None:
        return []
    await opened.settled()
    return await asyncio.to_thread(_read, opened.history.options.folder, opened.disk)


def _read(folder: Path, disk: Any) -> list[LatestEvent]:
    """Return the events of store and files, each once; the call blocks."""
    once = {row["event_id"]: row for row in (*_in_store(disk), *_in_files(folder))}
    rows = [once[event] for event in sorted(once, reverse=True)[:MOST]]
    named = [(row.pop("message"), row.pop("message_id")) for row in rows]
    known = {number: identifier for number, identifier in named if identifier}
    return [
        LatestEvent(number, known.get(number, ""), line_of(row))
        for (number, _), row in zip(named, rows, strict=True)
    ]


def _in_store(disk: Any) -> Iterator[dict[str, Any]]:
    from reliquary.store.history.columns import newest_rows_of

    found = newest_rows_of(disk, ROWS).select(_COLUMNS)
    yield from found.slice(max(0, len(found) - MOST)).to_pylist()


def _in_files(folder: Path) -> Iterator[dict[str, Any]]:
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    import pyarrow.dataset as ds  # type: ignore[import-untyped]

    from reliquary.store.history.folder import files_in

    files = files_in(folder)
    if not files:
        return
    after = files[-1].last - MOST
    paths = [str(file.path) for file in files if file.last > after]
    yield from ds.dataset(paths).to_table(_COLUMNS, pc.field("event_id") > after).to_pylist()
