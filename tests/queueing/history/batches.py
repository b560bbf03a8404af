"""Helpers that send batches to a manager with a history, and read the events that it wrote."""

from __future__ import annotations

from uuid import UUID

from reliquary.queueing.model.history.history import History
from tests.queueing.history.chronicle import Event, events_of
from tests.queueing.manager_harness import Bench

THERE = UUID(int=77)
"""The identifier of another manager, which sends messages to this one."""


def history_of(bench: Bench) -> History:
    """Return the history of a manager that keeps one."""
    assert bench.state.history is not None
    return bench.state.history


def note_batches(bench: Bench, *counts: int) -> None:
    """Write batches of events, each as long as its count says."""
    for count in counts:
        bench.send("orders", *[b"x"] * count)
        bench.flush()


def reported(bench: Bench) -> list[Event]:
    """Return all events that are on disk once the batch is flushed."""
    bench.flush()
    return events_of(bench.disk)


def numbers(bench: Bench) -> list[int]:
    """Return the numbers of all events."""
    return [event["event_id"] for event in reported(bench)]
