"""What happened to one message, line by line: from the files of the history, and from events in no file yet.

number of the message --> files whose statistics may have it --.
                      --> events that are in no file yet -------+--> lines in the order of their numbers
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from reliquary.console.context import Context
from reliquary.queueing.model.security.rights import ManagerRight

COLUMNS: Final = (
    "event_id", "time", "event", "queue", "other_queue", "reason", "protocol", "peer", "batch", "attempt",
    "message", "message_id", "transaction",
)  # fmt: skip
MOST: Final = 500
"""Lines that are shown."""
PENDING_MOST: Final = 1_000_000
"""Events in no file that are searched; with more, only the files are."""


class Story(NamedTuple):
    """The lines of one message."""

    lines: list[dict[str, Any]]
    is_known: bool
    """False where the server keeps no history."""
    is_partial: bool = False
    """Too many events wait for their export to be searched."""

    @property
    def way(self) -> list[str]:
        """Return the steps of the message in words: its origin, its queues here and its destination."""
        found: list[str] = []
        for line in self.lines:
            event, by = line["event"], line["protocol"] or "the manager"
            if event in {"accepted", "arrived", "queued", "committed"} and not found:
                found.append(f"from {line['peer'] or 'an application'} by {by}")
            elif event in {"sent", "delivered"}:
                found.append(f"to {line['peer'] or line['queue']} by {by}")
            elif event == "received":
                found.append(f"to {line['peer'] or 'an application'} by {by}")
            place = line["other_queue"] if event == "moved" else line["queue"]
            if place and event not in {"sent", "delivered", "received"}:
                found.append(f"in {place}")
        return list(dict.fromkeys(found))


async def story_of(context: Context, *, message: int = 0, identifier: str = "") -> Story:
    r"""Return the lines of a message, by its number at this manager or by its identifier, GUID\NUMBER."""
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    exporter = context.opened.history
    if exporter is None:
        return Story([], is_known=False)
    partial = exporter.status().pending > PENDING_MOST
    disk = None if partial else context.opened.disk
    await context.opened.settled()
    lines = await asyncio.to_thread(_search, exporter.options.folder, disk, message, identifier)
    return Story(lines, is_known=True, is_partial=partial)


def _search(folder: Path, disk: Any, message: int, identifier: str) -> list[dict[str, Any]]:
    """Return the lines of a message from files and store, each once.  Blocks."""
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    numbers = (
        {message}
        if message
        else {
            line["message"]
            for line in _matching(folder, disk, pc.field("message_id") == identifier)
            if line["message"] is not None
        }
    )
    if not numbers:
        return []
    found = _matching(folder, disk, pc.field("message").isin(sorted(numbers)))
    once = {line["event_id"]: line for line in found}
    return [once[event] for event in sorted(once)][:MOST]


def _matching(folder: Path, disk: Any, condition: Any) -> Iterator[dict[str, Any]]:
    import pyarrow.dataset as ds  # type: ignore[import-untyped]

    from reliquary.store.history.columns import rows_of
    from reliquary.store.history.folder import files_in

    files = [str(file.path) for file in files_in(folder)]
    if files:
        yield from ds.dataset(files).to_table(columns=list(COLUMNS), filter=condition).to_pylist()
    if disk is not None:
        waiting = rows_of(disk).select(list(COLUMNS))
        yield from waiting.filter(condition).to_pylist()
