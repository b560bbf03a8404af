"""Tests that the checkers find batches that are published in half, twice, out of order, or by a lost
attempt."""

from __future__ import annotations

from itertools import count
from typing import Any

import msgspec
import pytest

from reliquary.queueing import features
from reliquary.queueing.changes import numbering
from reliquary.queueing.feed import rules
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import LEDGER, ONLY, PUBLISHING, Published, Publishing
from reliquary.queueing.staging import apply, facts, parts, turns
from tests.sim.test_mutants import first_failure

APPLY: dict[Any, Any] = features.APPLIERS


def test_a_ledger_that_comes_after_its_batch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger is written with the next batch of the query, so that a crash between the two forgets the
    first."""
    real, late = APPLY[facts.BatchPublished], dict[str, Published]()

    def published(state: State, fact: facts.BatchPublished) -> None:
        before = state.rows.get(LEDGER, fact.query.encode())
        real(state, fact)
        if before is not None:
            state.rows.put(LEDGER, fact.query.encode(), late.get(fact.query, before))
        late[fact.query] = fact.record

    monkeypatch.setitem(APPLY, facts.BatchPublished, published)
    failure = first_failure()
    assert failure.startswith(("published batches", "batch", "duplication")), failure


def test_a_drop_that_takes_published_messages_along_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The publish leaves the part unchanged, so that dropping the part deletes its messages."""
    real = APPLY[facts.BatchPublished]

    def published(state: State, fact: facts.BatchPublished) -> None:
        real(state, facts.BatchPublished(fact.query, fact.record, ()))

    monkeypatch.setitem(APPLY, facts.BatchPublished, published)
    failure = first_failure()
    assert "staged and shown" in failure or "has a position and no row" in failure, failure


def test_an_attempt_that_lost_and_is_published_nevertheless_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = parts.by_queue

    def by_queue(state: State, numbers: Any) -> Any:
        chosen = list(numbers)
        for number in numbers:
            stage = state.staging.stages[number]
            together = state.staging.batches[stage.query, stage.batch]
            chosen += [
                each for each in together if state.staging.stages[each].complete and each not in chosen
            ]
        return real(state, chosen)

    monkeypatch.setattr(parts, "by_queue", by_queue)
    first_failure()


def test_parts_that_are_published_in_another_order_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = parts.by_queue
    monkeypatch.setattr(parts, "by_queue", lambda state, numbers: real(state, list(numbers)[::-1]))
    failure = first_failure(seeds=range(1, 200))
    assert failure.startswith("order"), failure


def test_a_batch_that_is_published_in_half_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = parts.by_queue, count()

    def by_queue(state: State, numbers: Any) -> Any:
        some = list(numbers)
        return real(state, some[:-1] if len(some) > 1 and next(calls) % 3 == 0 else some)

    monkeypatch.setattr(parts, "by_queue", by_queue)
    first_failure()


def test_a_large_batch_that_readers_see_too_early_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each turn of the batch puts messages into the queues where receivers find them."""
    monkeypatch.setitem(APPLY, facts.StagePlaced, APPLY[facts.StagePublished])
    monkeypatch.setattr(apply, "_count_hidden", lambda batch, start, end: None)
    first_failure()


def test_a_large_batch_whose_messages_get_no_deadline_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The messages that can expire are placed in the turns of the batch, and would stay for ever."""
    monkeypatch.setattr(apply, "watch_deadlines", lambda state, queue, positions: None)
    failure = first_failure()
    assert "expiry rows" in failure, failure


def test_a_feed_that_is_notified_of_numbers_in_a_hidden_batch_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The consumer of the feed continues after the batch, and never reads it."""
    monkeypatch.setattr(numbering, "known_until", lambda queue, number: number)
    monkeypatch.setattr(rules, "known_until", lambda queue, number: number)
    failure = first_failure(seeds=range(66, 140))
    assert failure.startswith("feed"), failure


def test_a_crash_in_the_middle_of_a_large_batch_that_loses_chunks_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next process counts one chunk more as placed than the last one has placed."""
    real = turns.recover

    def recover(state: State, record: Publishing) -> None:
        real(state, record)
        batch = state.staging.current
        assert batch is not None
        batch.record = msgspec.structs.replace(record, placed=min(record.placed + 1, len(batch.chunks)))

    monkeypatch.setattr(turns, "recover", recover)
    first_failure(seeds=range(1, 400))


def test_a_crash_in_the_middle_of_a_large_batch_that_publishes_it_twice_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next process forgets that the batch was begun, shows the placed messages, and takes the batch once
    more."""
    monkeypatch.setattr(turns, "recover", lambda state, record: state.rows.delete(PUBLISHING, ONLY))
    first_failure(seeds=range(1, 400))
