"""Tests that a manager which stops takes no batch, and still removes parts that no writer publishes."""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.queueing import features
from reliquary.queueing.staging import events
from reliquary.queueing.staging.feature import STAGING
from tests.queueing.manager_harness import Bench, message
from tests.queueing.staging.writing import begin
from tests.queueing.state_checks import durable


def test_sweeps_and_places_go_on_while_the_manager_stops_and_nothing_else_does() -> None:
    assert STAGING.rules.keys() & features.AT_ANY_TIME == {events.SweepStages, events.PlaceBatch}


def test_a_manager_that_is_stopped_takes_no_batch() -> None:
    bench = Bench()
    number = begin(bench)
    bench.stop()
    before = durable(bench.state)
    for request in (
        events.BeginStage(0, "q", 0, 0, "a"),
        events.StageMessages(0, number, "orders", (message(),)),
        events.CompleteStage(0, number),
        events.PublishBatch(0, "q", 0, ()),
        events.DropStages(0, (number,)),
        events.ForgetWriter(0, query="q"),
    ):
        assert bench.ask(request).status is HResult.SERVICE_NOT_AVAILABLE
    assert durable(bench.state) == before
