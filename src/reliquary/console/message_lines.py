"""Finds the events of one message at this manager: in the files of its history, and those in no file yet.

number of the message --> files whose statistics may have it --.
                      --> events that are in no file yet -------+--> lines in the order of their numbers
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any, Final, NamedTuple

from reliquary.client.records import TraceLine
from reliquary.engine.history import Exporter
from reliquary.engine.open import OpenedEngine

COLUMNS: Final = TraceLine.__struct_fields__
MOST: Final = 500
"""The largest number of lines that a response has."""
PENDING_MOST: Final = 1_000_000
"""The most events outside of files that are searched; with more, only the files are searched."""


class Found(NamedTuple):
    """The lines of one message at this manager."""

    lines: list[TraceLine]
    is_partial: bool
    """Whether there may be more lines than these."""


async def find_lines(opened: OpenedEngine, *, message: int = 0, identifier: str = "") -> Found | None:
    r"""Return the lines of a message, by its number at this manager or by its identifier, GUID\NUMBER.

    It is None at a manager without a history.
    """
    exporter = opened.history
    if exporter is None:
        return None
    disk = _searched(exporter, opened)
    await opened.settled()
    lines = await asyncio.to_thread(_search, exporter.options.folder, disk, message, identifier)
    return Found(lines[:MOST], disk is None or len(lines) > MOST)


def _search(folder: Path, disk: Any, message: int, identifier: str) -> list[TraceLine]:
    """Return the lines of a message from files and store, each once; the call blocks."""
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    numbers = (
        {message}
        if message
        else {
            line["message"]
            for line in _matching(folder, disk, pc.field("message_id") == identifier, ("message",))
            if line["message"] is not None
        }
    )
    if not numbers:
        return []
    found = _matching(folder, disk, pc.field("message").isin(sorted(numbers)), COLUMNS)
    once = {line["event_id"]: line for line in found}
    return [line_of(once[event]) for event in sorted(once)]


async def find_identifier(opened: OpenedEngine, number: int) -> str:
    """Return the identifier of a message by its number at this manager; empty if no event names it.

    Only the first event of a message names its identifier, and that may be in no file any more.
    """
    if opened.history is None:
        return ""
    disk = _searched(opened.history, opened)
    await opened.settled()
    return await asyncio.to_thread(_identifier_of, opened.history.options.folder, disk, number)


def _identifier_of(folder: Path, disk: Any, number: int) -> str:
    import pyarrow.compute as pc

    named = (pc.field("message") == number) & pc.field("message_id").is_valid()
    return next((row["message_id"] for row in _matching(folder, disk, named, ("message_id",))), "")


def _searched(exporter: Exporter, opened: OpenedEngine) -> Any:
    """Return the disk of the store; None where too many events are in no file yet to search them."""
    return None if exporter.status().pending > PENDING_MOST else opened.disk


def line_of(row: dict[str, Any]) -> TraceLine:
    """Return a row of the history as a line."""
    time = row["time"]
    return TraceLine(**row | {"time": time if time.tzinfo else time.replace(tzinfo=UTC)})


def _matching(folder: Path, disk: Any, condition: Any, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    import pyarrow.dataset as ds  # type: ignore[import-untyped]

    from reliquary.store.history.columns import rows_of
    from reliquary.store.history.folder import files_in

    files = [str(file.path) for file in files_in(folder)]
    if files:
        yield from ds.dataset(files).to_table(columns=list(columns), filter=condition).to_pylist()
    if disk is not None:
        yield from rows_of(disk).filter(condition).select(list(columns)).to_pylist()
