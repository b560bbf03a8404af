"""Reads the latest events of the history, so that a message can be found without its identifier.

    the newest rows of the store    --.
    the newest files of the history --+--> the events with the highest numbers, the newest first
                                                 '--> the identifiers of their messages

Few rows and few files are read for the events, however long the history is.  Later events of a message do not
name its identifier: it is searched for as the lines of a message are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from reliquary.client.records import TraceLine
from reliquary.console.message_lines import COLUMNS, identifiers_of, line_of, searched_disk
from reliquary.engine.open import OpenedEngine

MOST: Final = 25
"""The largest number of events."""
ROWS: Final = 64
"""The most rows of the store that are read; a row has one event or more."""
_COLUMNS: Final = [*COLUMNS, "message"]


class LatestEvent(NamedTuple):
    """An event, with the message that it happened to."""

    message: str
    r"""The identifier of the message, GUID\NUMBER; empty where it is not known any more."""
    line: TraceLine


async def read_latest_events(opened: OpenedEngine) -> list[LatestEvent]:
    """Return the latest events, the newest first; none at a manager without a history."""
    if opened.history is None:
        return []
    await opened.settled()
    folder, searched = opened.history.options.folder, searched_disk(opened)
    return await asyncio.to_thread(_read, folder, opened.disk, searched)


def _read(folder: Path, disk: Any, searched: Any) -> list[LatestEvent]:
    """Return the events of store and files, each once; the call blocks."""
    once = {row["event_id"]: row for row in (*_in_store(disk), *_in_files(folder))}
    rows = [once[event] for event in sorted(once, reverse=True)[:MOST]]
    messages = [row.pop("message") for row in rows]
    known = identifiers_of(folder, searched, {each for each in messages if each is not None})
    return [
        LatestEvent(known.get(message, ""), line_of(row)) for message, row in zip(messages, rows, strict=True)
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
