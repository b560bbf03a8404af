"""Tests the order of events at several managers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reliquary.client.records import TraceLine
from reliquary.console.message_order import in_order

BEGIN = datetime(2026, 11, 18, 10, tzinfo=UTC)


def line(manager: str, number: int, event: str, after: float) -> TraceLine:
    """Return an event, some seconds after the first."""
    time = BEGIN + timedelta(seconds=after)
    return TraceLine(manager=manager, manager_name=manager, event_id=number, time=time, event=event)


def events(*lines: TraceLine) -> list[str]:
    return [f"{each.manager} {each.event}" for each in in_order(lines)]


def test_events_are_in_the_order_of_their_times() -> None:
    one = [line("a", 1, "queued", 0), line("a", 2, "delivered", 3)]
    two = [line("b", 1, "arrived", 2), line("b", 2, "received", 4)]
    assert events(*two, *one) == ["a queued", "b arrived", "a delivered", "b received"]


def test_an_arrival_comes_after_the_departure_although_a_clock_is_slow() -> None:
    one = [line("b", 1, "queued", 100), line("b", 2, "delivered", 103)]
    two = [line("a", 7, "arrived", 1), line("a", 8, "queued", 2)]
    three = [line("c", 1, "arrived", 0), line("c", 2, "received", 200)]
    found = events(*three, *two, *one)
    assert (
        found.index("b queued")
        < found.index("a arrived")
        < found.index("a queued")
        < found.index("c arrived")
    )


def test_events_of_one_manager_stay_in_the_order_of_their_numbers() -> None:
    assert events(line("a", 2, "received", 0), line("a", 1, "accepted", 5)) == ["a accepted", "a received"]


def test_an_arrival_without_a_known_departure_waits_for_nothing() -> None:
    assert events(line("b", 1, "arrived", 0), line("a", 1, "acknowledged", 1)) == [
        "b arrived",
        "a acknowledged",
    ]
    assert events(line("b", 1, "arrived", 0), line("b", 1, "arrived", 0)) == ["b arrived"]
