"""Tests of the history on disk: the numbers of its events, and the gaps where events are missing."""

from __future__ import annotations

from reliquary.queueing.history.events import ForgetHistory
from reliquary.queueing.model.history.history import Room
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import HISTORY
from reliquary.store.memory import MemoryDisk
from tests.queueing.history.batches import history_of, note_batches, numbers, reported
from tests.queueing.history.chronicle import events_of, words
from tests.queueing.manager_harness import Bench


def test_a_batch_is_one_row_under_the_number_of_its_first_event() -> None:
    bench = Bench(history=True)
    note_batches(bench, 2, 3)
    rows = bench.disk.range(HISTORY.name, b"", b"\xff" * 9, limit=9)
    assert [int.from_bytes(key) for key, _ in rows] == [1, 3]
    assert numbers(bench) == [1, 2, 3, 4, 5]


def test_an_empty_disk_has_no_history() -> None:
    assert events_of(MemoryDisk(Bench.TABLES)) == []


def test_events_are_numbered_without_a_gap_through_restarts_and_crashes() -> None:
    bench = Bench(history=True)
    for round_ in range(6):
        bench.send("orders", b"a", b"b")
        bench.flush()
        bench.send("orders", b"lost in a crash")
        bench.restart(crash=round_ % 2 == 0)
    numbers = [event["event_id"] for event in reported(bench)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 12


def test_numbers_go_on_when_no_row_is_left() -> None:
    bench = Bench(history=True)
    note_batches(bench, 2)
    bench.handle(ForgetHistory(2))
    bench.restart()
    note_batches(bench, 1)
    assert numbers(bench) == [3]


# -- gaps


def test_when_there_is_no_room_the_history_stops_and_says_later_how_much_is_missing() -> None:
    bench = Bench(history=True, sizes=Sizes(history=Room(events=4)))
    note_batches(bench, 4, 3)
    assert numbers(bench) == [1, 2, 3, 4]
    bench.restart(crash=True)
    note_batches(bench, 2)
    assert history_of(bench).missing == 5
    bench.handle(ForgetHistory(1))
    note_batches(bench, 1)
    assert history_of(bench).missing == 6, "half of it has to be free again"
    bench.handle(ForgetHistory(4))
    bench.flush()
    note_batches(bench, 1)
    assert words(events_of(bench.disk), "event_id", "message")[0] == ("gap", 5, 6)
    assert numbers(bench) == [5, 6]
    assert not history_of(bench).gap
    assert bench.bodies() == [b"x"] * 11, "no request waits"


def test_bytes_are_counted_too() -> None:
    bench = Bench(history=True, sizes=Sizes(history=Room(bytes=150)))
    note_batches(bench, 1, 1, 1)
    assert 150 <= history_of(bench).pending_bytes < 400
    assert numbers(bench) == [1, 2]
    assert history_of(bench).missing == 1


def test_a_history_that_was_off_begins_with_a_gap_of_any_number() -> None:
    bench = Bench(history=True)
    note_batches(bench, 1)
    bench.history = False
    bench.restart()
    note_batches(bench, 1)
    bench.history = True
    bench.restart()
    note_batches(bench, 1)
    found = events_of(bench.disk)
    assert words(found, "event_id") == [("accepted", 1), ("gap", 2), ("accepted", 3)]
    assert "message" not in found[1]
    bench.restart()
    note_batches(bench, 1)
    assert [event["event"] for event in events_of(bench.disk)].count("gap") == 1


def test_messages_that_were_there_before_the_history_are_a_gap_too() -> None:
    bench = Bench()
    note_batches(bench, 1)
    bench.history = True
    bench.restart()
    note_batches(bench, 1)
    assert [event["event"] for event in events_of(bench.disk)] == ["gap", "accepted"]
