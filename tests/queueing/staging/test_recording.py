"""Tests that the history records the messages of published batches."""

from __future__ import annotations

from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.staging import batch_identifier
from reliquary.queueing.staging.events import CompleteStage
from tests.queueing.exchange import ELSEWHERE
from tests.queueing.history.batches import reported
from tests.queueing.history.chronicle import words
from tests.queueing.manager_harness import Bench
from tests.queueing.staging.writing import begin, publish, stage


def test_a_published_batch_is_reported_with_its_query_and_number() -> None:
    bench = Bench(history=True)
    number = begin(bench, 4, query="q")
    stage(bench, number, b"a", priority=5)
    stage(bench, number, b"b", time_to_be_received=90)
    bench.ask(CompleteStage(0, number))
    publish(bench, number, batch=4, query="q")
    found = reported(bench)
    assert words(found, "queue", "protocol", "batch", "priority") == [
        ("accepted", "orders", "spark", "q:4", 5),
        ("accepted", "orders", "spark", "q:4", 3),
    ]
    own = bench.state.identity().identifier
    assert [event["message_id"] for event in found] == [f"{own}\\{event['message']}" for event in found]
    assert {event["transaction"] for event in found} == {str(batch_identifier("q", 4))}
    assert "deadline" in found[1]


def test_a_published_batch_for_elsewhere_has_no_priorities_of_its_own() -> None:
    bench = Bench(history=True)
    number = begin(bench, 4, query="q")
    stage(bench, number, b"a", b"b", b"c", queue=ELSEWHERE, time_to_reach_queue=FOREVER)
    bench.ask(CompleteStage(0, number))
    publish(bench, number, batch=4, query="q")
    assert words(reported(bench), "priority") == [("queued", 3)] * 3
