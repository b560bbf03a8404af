"""Tests that rows of the history are kept until their events are in files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.queueing.history.events import ForgetHistory, ResumeHistory
from tests.queueing.history.batches import history_of, note_batches, numbers
from tests.queueing.history.chronicle import events_of, words
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import durable


@pytest.mark.parametrize(
    ("until", "left"),
    [(1, [1, 2, 3, 4, 5, 6]), (2, [3, 4, 5, 6]), (4, [3, 4, 5, 6]), (5, [6]), (6, [])],
)
def test_what_is_in_files_goes_and_a_row_that_is_there_in_part_stays(until: int, left: list[int]) -> None:
    bench = Bench(history=True)
    note_batches(bench, 2, 3, 1)
    bench.handle(ForgetHistory(until))
    assert numbers(bench) == left
    assert history_of(bench).exported == until
    assert history_of(bench).pending == 6 - until
    live = (durable(bench.state), history_of(bench).pending_bytes)
    bench.restart(start=False)
    assert (durable(bench.state), history_of(bench).pending_bytes) == live


def test_a_request_that_comes_too_late_or_too_early_changes_nothing() -> None:
    bench = Bench(history=True)
    note_batches(bench, 2, 3)
    bench.handle(ForgetHistory(2))
    for until in (0, 1, 2, 6):
        bench.handle(ForgetHistory(until))
    assert numbers(bench) == [3, 4, 5]
    assert history_of(bench).exported == 2


def test_a_store_that_is_older_than_its_files_uses_no_number_twice() -> None:
    bench = Bench(history=True)
    note_batches(bench, 3)
    bench.restart(start=False)
    bench.handle(ResumeHistory(10))
    bench.start()
    note_batches(bench, 1)
    assert words(events_of(bench.disk), "event_id") == [("gap", 11), ("accepted", 12)]
    bench.handle(ResumeHistory(10))
    assert numbers(bench) == [11, 12]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["tell", "forget", "restart", "crash"]))))
def test_numbers_are_dense_and_no_row_is_deleted_before_it_is_in_files(
    steps: list[tuple[int, str]],
) -> None:
    bench = Bench(history=True)
    bench.flush()
    for count, what in steps:
        if what == "tell":
            note_batches(bench, count)
        elif what == "forget":
            bench.handle(ForgetHistory(history_of(bench).exported + count))
            bench.flush()
        else:
            bench.restart(crash=what == "crash")
        found, history = numbers(bench), history_of(bench)
        assert found == list(range(found[0], history.last + 1)) if found else history.pending == 0
        assert not history.pending or found[0] <= history.exported + 1
        assert (history.pending_bytes > 0) == bool(history.pending)
