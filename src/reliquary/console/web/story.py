"""Shows the events of one message on pages: its way in words, then line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from reliquary.client.records import Trace, TraceLine

_COMES: Final = frozenset({"accepted", "arrived", "queued", "committed"})
_LEAVES: Final = frozenset({"sent", "delivered", "received"})
_SPELLED: Final = {
    "api": "the API",
    "wsrm": "WS-RM",
    "multicast": "multicast",
    "loopback": "loopback",
    "spark": "Spark",
    "manager": "the manager",
}
"""The names of protocols that are not just their column in capitals."""
_COLUMNS: Final = ("reason", "protocol", "peer", "other_queue", "attempt")


class Stop(NamedTuple):
    """One manager on the way of a message."""

    manager: str
    steps: list[str]


def way_of(trace: Trace) -> list[Stop]:
    """Return the managers of a message in order, with its steps there in words."""
    found: list[Stop] = []
    for line in trace.lines:
        stop = next((each for each in found if each.manager == line.manager_name), None)
        if stop is None:
            stop = Stop(line.manager_name, [])
            found.append(stop)
        stop.steps.extend(step for step in _steps(line, stop.steps) if step not in stop.steps)
    return found


def used_columns(lines: Sequence[TraceLine]) -> list[str]:
    """Return the fields that have a value in some line; the others need no column."""
    return [name for name in _COLUMNS if any(getattr(each, name) not in (None, "") for each in lines)]


def _steps(line: TraceLine, before: list[str]) -> list[str]:
    by = _SPELLED.get(line.protocol or "manager", (line.protocol or "").upper())
    if line.event == "received":
        return [f"to {line.peer or 'an application'} by {by}"]
    if line.event in _LEAVES:
        return [f"to {line.peer or line.queue} by {by}"]
    found = []
    if line.event in _COMES and not before:
        found.append(f"from {line.peer or 'an application'} by {by}")
    place = line.other_queue if line.event == "moved" else line.queue
    return [*found, f"in {place}"] if place else found
