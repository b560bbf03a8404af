"""Rows of the history: numbered, kept until they are in files, and honest about what is missing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.queueing.history.events import ForgetHistory, ResumeHistory
from reliquary.queueing.model.history.history import History, Room
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.model.tables import HISTORY
from tests.queueing.history.chronicle import events_of, words
from tests.queueing.manager_harness import Bench, durable


def history_of(bench: Bench) -> History:
    assert bench.state.history is not None
    return bench.state.history


def tell(bench: Bench, *counts: int) -> None:
    """Batches of so many events."""
    for count in counts:
        bench.send("orders", *[b"x"] * count)
        bench.flush()


def numbers(bench: Bench) -> list[int]:
    bench.flush()
    return [event["event_id"] for event in events_of(bench.disk)]


def test_a_batch_is_one_row_under_the_number_of_its_first_event() -> None:
    bench = Bench(history=True)
    tell(bench, 2, 3)
    rows = bench.disk.range(HISTORY.name, b"", b"\xff" * 9, limit=9)
    assert [int.from_bytes(key) for key, _ in rows] == [1, 3]
    assert numbers(bench) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("until", "left"),
    [(1, [1, 2, 3, 4, 5, 6]), (2, [3, 4, 5, 6]), (4, [3, 4, 5, 6]), (5, [6]), (6, [])],
)
def test_what_is_in_files_goes_and_a_row_that_is_there_in_part_stays(until: int, left: list[int]) -> None:
    bench = Bench(history=True)
    tell(bench, 2, 3, 1)
    bench.handle(ForgetHistory(until))
    assert numbers(bench) == left
    assert history_of(bench).exported == until
    assert history_of(bench).pending == 6 - until
    live = (durable(bench.state), history_of(bench).pending_bytes)
    bench.restart(start=False)
    assert (durable(bench.state), history_of(bench).pending_bytes) == live


def test_a_word_that_comes_too_late_or_too_early_changes_nothing() -> None:
    bench = Bench(history=True)
    tell(bench, 2, 3)
    bench.handle(ForgetHistory(2))
    for until in (0, 1, 2, 6):
        bench.handle(ForgetHistory(until))
    assert numbers(bench) == [3, 4, 5]
    assert history_of(bench).exported == 2


def test_numbers_go_on_when_no_row_is_left() -> None:
    bench = Bench(history=True)
    tell(bench, 2)
    bench.handle(ForgetHistory(2))
    bench.restart()
    tell(bench, 1)
    assert numbers(bench) == [3]


def test_when_there_is_no_room_the_history_stops_and_says_later_how_much_is_missing() -> None:
    bench = Bench(history=True, sizes=Sizes(history=Room(events=4)))
    tell(bench, 4, 3)
    assert numbers(bench) == [1, 2, 3, 4]
    bench.restart(crash=True)
    tell(bench, 2)
    assert history_of(bench).missing == 5
    bench.handle(ForgetHistory(1))
    tell(bench, 1)
    assert history_of(bench).missing == 6, "half of it has to be free again"
    bench.handle(ForgetHistory(4))
    bench.flush()
    tell(bench, 1)
    assert words(events_of(bench.disk), "event_id", "message")[0] == ("gap", 5, 6)
    assert numbers(bench) == [5, 6]
    assert not history_of(bench).gap
    assert bench.bodies() == [b"x"] * 11, "nobody is hindered"


def test_bytes_are_counted_too() -> None:
    bench = Bench(history=True, sizes=Sizes(history=Room(bytes=150)))
    tell(bench, 1, 1, 1)
    assert 150 <= history_of(bench).pending_bytes < 400
    assert numbers(bench) == [1, 2]
    assert history_of(bench).missing == 1


def test_a_history_that_was_off_begins_with_a_gap_of_any_number() -> None:
    bench = Bench(history=True)
    tell(bench, 1)
    bench.history = False
    bench.restart()
    tell(bench, 1)
    bench.history = True
    bench.restart()
    tell(bench, 1)
    found = events_of(bench.disk)
    assert words(found, "event_id") == [("accepted", 1), ("gap", 2), ("accepted", 3)]
    assert "message" not in found[1]
    bench.restart()
    tell(bench, 1)
    assert [event["event"] for event in events_of(bench.disk)].count("gap") == 1


def test_messages_that_were_there_before_the_history_are_a_gap_too() -> None:
    bench = Bench()
    tell(bench, 1)
    bench.history = True
    bench.restart()
    tell(bench, 1)
    assert [event["event"] for event in events_of(bench.disk)] == ["gap", "accepted"]


def test_a_store_that_is_older_than_its_files_tells_no_number_twice() -> None:
    bench = Bench(history=True)
    tell(bench, 3)
    bench.restart(start=False)
    bench.handle(ResumeHistory(10))
    bench.start()
    tell(bench, 1)
    assert words(events_of(bench.disk), "event_id") == [("gap", 11), ("accepted", 12)]
    bench.handle(ResumeHistory(10))
    assert numbers(bench) == [11, 12]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["tell", "forget", "restart", "crash"]))))
def test_whatever_comes_numbers_are_dense_and_nothing_goes_before_it_is_in_files(
    steps: list[tuple[int, str]],
) -> None:
    bench = Bench(history=True)
    bench.flush()
    for count, what in steps:
        if what == "tell":
            tell(bench, count)
        elif what == "forget":
            bench.handle(ForgetHistory(history_of(bench).exported + count))
            bench.flush()
        else:
            bench.restart(crash=what == "crash")
        found, history = numbers(bench), history_of(bench)
        assert found == list(range(found[0], history.last + 1)) if found else history.pending == 0
        assert not history.pending or found[0] <= history.exported + 1
        assert (history.pending_bytes > 0) == bool(history.pending)
