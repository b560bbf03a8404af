"""Tests facts of staging, each alone: they change memory and the rows in equal ways."""

from __future__ import annotations

from reliquary.base.turn import Fact
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.features import APPLIERS
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import (
    LEDGER,
    MESSAGES,
    STAGED,
    STAGES,
    WRITERS,
    Published,
    Stage,
    StagedChunk,
    Writer,
    message_key,
    stage_key,
    staged_key,
)
from reliquary.queueing.staging import facts
from reliquary.queueing.staging.apply import APPLIERS as OF_STAGING
from tests.queueing.manager_harness import Bench, message
from tests.queueing.state_checks import check, durable, every, walk

STAGE = Stage("q", 0, 0, "a", 1)
CHUNK = StagedChunk(1, 101, (230, 231))
MESSAGES_OF_IT = (message(b"a"), message(b"b"))


def made() -> Bench:
    """Return a manager with one part that has two messages for the queue "orders"."""
    bench = Bench()
    number = bench.queue().number
    chunk = StagedChunk(number, 101, (230, 231))
    stage = Stage("q", 0, 0, "a", 1, messages=2, size=461, chunks=1, queues={number: "orders"})
    apply(bench.state, facts.StageChanged(7, STAGE))
    apply(bench.state, facts.MessagesStaged(7, stage, chunk, MESSAGES_OF_IT))
    bench.state.numbers.next_sequences(200)
    return bench


def rebuilt(bench: Bench) -> None:
    """Check that a new process has an equal state."""
    before = durable(bench.state)
    check(bench.state)
    bench.restart(start=False)
    assert durable(bench.state) == before
    check(bench.state)


def test_a_part_and_its_messages_are_rows() -> None:
    bench = made()
    assert every(bench.state, STAGES) == {stage_key(7): bench.state.staging.stages[7]}
    assert list(every(bench.state, STAGED)) == [staged_key(7, 0)]
    assert every(bench.state, MESSAGES) == {
        message_key(101): MESSAGES_OF_IT[0],
        message_key(102): MESSAGES_OF_IT[1],
    }
    rebuilt(bench)


def test_what_is_published_has_places_and_its_part_is_gone() -> None:
    bench, record = made(), Published(0, "w", 2, 5, 2)
    positions = (Position(301, 101, 230, 9), Position(302, 102, 231, 9))
    again = message(b"a", sent_time=3)
    apply(bench.state, facts.StagePublished("q", 0, bench.queue().number, positions, ((101, again),)))
    apply(bench.state, facts.BatchPublished("q", record, (7,)))
    assert walk(bench.queue()) == list(positions)
    assert [bench.state.messages.get(each) for each in positions] == [again, MESSAGES_OF_IT[1]]
    assert not every(bench.state, STAGES)
    assert not every(bench.state, STAGED)
    assert every(bench.state, LEDGER) == {b"q": record}
    assert every(bench.state, WRITERS) == {b"w": Writer("q")}
    rebuilt(bench)


def test_what_is_dropped_leaves_nothing() -> None:
    bench = made()
    stage = Stage("q", 0, 0, "a", 1, dropped=True, messages=2, size=461, chunks=1, queues={1: "orders"})
    apply(bench.state, facts.StageChanged(7, stage))
    rebuilt(bench)
    apply(bench.state, facts.ChunksDropped(7, (0,), (101, 102), last=True))
    assert not every(bench.state, STAGES)
    assert not every(bench.state, STAGED)
    assert not every(bench.state, MESSAGES)
    rebuilt(bench)


def test_a_query_or_a_name_is_forgotten() -> None:
    bench = Bench()
    apply(bench.state, facts.BatchPublished("q", Published(0, "w", 0, 5), ()))
    apply(bench.state, facts.BatchPublished("q", Published(1, "v", 0, 6), ()))
    rebuilt(bench)
    apply(bench.state, facts.WriterForgotten(writer="w"))
    assert every(bench.state, WRITERS) == {b"v": Writer("q")}
    rebuilt(bench)
    apply(bench.state, facts.WriterForgotten(query="q"))
    assert not every(bench.state, WRITERS)
    assert not every(bench.state, LEDGER)
    rebuilt(bench)


def test_every_fact_can_be_applied_and_only_staged_messages_may_be_forgotten() -> None:
    declared = {
        value
        for value in vars(facts).values()
        if isinstance(value, type) and issubclass(value, Fact) and value is not Fact
    }
    assert set(APPLIERS) >= declared
    assert set(OF_STAGING) == declared
    assert facts.MessagesStaged(7, STAGE, CHUNK, MESSAGES_OF_IT).volatile
    assert not facts.StageChanged(7, STAGE).volatile
    assert not facts.StagePublished("q", 0, 1, ()).volatile
    assert not facts.BatchPublished("q", Published(0, "", 0, 0), ()).volatile
