"""Helpers that read histories: as dictionaries, and as the messages that must be in the queues."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reliquary.queueing.model.state import State
from reliquary.store.disk import Disk
from reliquary.store.history.columns import rows_of
from reliquary.wire.history import CAME, LEFT, HistoryEvent

Event = dict[str, Any]
_CAME = {each.word for each in CAME} | {HistoryEvent.JOURNALED.word, HistoryEvent.DEAD_LETTERED.word}
_LEFT = {each.word for each in LEFT}
_WENT_ELSEWHERE = {HistoryEvent.MOVED.word, HistoryEvent.POISONED.word}
_STAYS = {
    each.word
    for each in (
        HistoryEvent.DELAYED,
        HistoryEvent.DUE,
        HistoryEvent.HANDED_OUT,
        HistoryEvent.RETURNED,
        HistoryEvent.HELD,
        HistoryEvent.RELEASED,
        HistoryEvent.SENT,
        HistoryEvent.ACKNOWLEDGED,
    )
}


def events_of(disk: Disk) -> list[Event]:
    """Return all events of the history in their order, without null fields."""
    return [
        {name: value for name, value in event.items() if value is not None}
        for event in rows_of(disk).to_pylist()
    ]


def words(events: Iterable[Event], *names: str) -> list[tuple[Any, ...]]:
    """Return the kind of each event, with these columns."""
    return [tuple(event.get(name) for name in ("event", *names)) for event in events]


def standing(state: State) -> tuple[int, int, int]:
    """Return the last event, the last one in files, and how many are missing."""
    history = state.history
    if history is None:
        return (0, 0, 0)
    return (history.last + len(history.notes), history.exported, history.missing)


StoredMessage = tuple[str, int, int]
"""A queue, a message and its LookupIdentifier."""


def folded(events: Iterable[Event]) -> set[StoredMessage]:
    """Return the content of each queue after these events, without express messages."""
    express: set[int] = set()
    there: set[StoredMessage] = set()
    for event in events:
        if event.get("durable") is False:
            express.add(event["message"])
        word, message = event["event"], event.get("message", 0)
        if "lookup_id" not in event or "queue" not in event or message in express:
            continue
        place = (event["queue"], message, event["lookup_id"])
        if word in _CAME:
            assert place not in there, f"it comes twice: {event}"
            there.add(place)
        elif word in _LEFT | _WENT_ELSEWHERE:
            assert place in there, f"it leaves, and was not there: {event}"
            there.discard(place)
            if word in _WENT_ELSEWHERE:
                there.add((event["other_queue"], *place[1:]))
        elif word in _STAYS:
            assert place in there, f"it was not there: {event}"
    return there
