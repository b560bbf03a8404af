"""Tests writers of batches: they fail, retry and come too late, and record which messages may be visible."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import DAY, HOUR
from reliquary.queueing.staging.events import PublishAnswer
from reliquary.queueing.staging.facts import BatchPublished, StagePublished
from reliquary.sim.applications import Script
from reliquary.sim.history import SenderKnowledge, Violation
from reliquary.sim.network import Outcome
from reliquary.sim.readers import PlainReceiver
from reliquary.sim.site_faults import SiteFaults
from reliquary.sim.transactors import AROUND
from reliquary.sim.writers import Attempt, Writer
from tests.sim.simulated_server import SimulatedServer


def test_a_writer_does_a_little_of_everything() -> None:
    server = SimulatedServer(faults=SiteFaults(answer_lost=0.05))
    writer = Writer("writer", server.context)
    server.rounds(writer, PlainReceiver("receiver", server.context), turns=900)
    assert {"BeginStage", "StageMessages", "CompleteStage", "PublishBatch", "DropStages", "SweepStages"} <= (
        server.events()
    )
    sent = server.history.sendings.values()
    assert {SenderKnowledge.CONFIRMED, SenderKnowledge.REFUSED} <= {each.standing for each in sent}
    assert AROUND in {each.queue for each in sent}
    facts = [fact for turned in server.history.turns for fact in turned.facts]
    batches = [fact.record.batch for fact in facts if isinstance(fact, BatchPublished)]
    assert batches == list(range(len(batches)))
    assert len(batches) > 10
    assert any(len(fact.positions) > 1 for fact in facts if isinstance(fact, StagePublished))
    staging = server.process.manager.state.staging
    # The writer drops its parts at the end, but not one whose number was lost with an answer.
    assert staging.stages.keys().isdisjoint(writer._known)
    assert not any(stage.complete for stage in staging.stages.values())
    server.passes(DAY + 2 * HOUR)
    assert not staging.stages


def test_what_was_never_published_counts_as_refused_and_what_was_as_confirmed() -> None:
    server = SimulatedServer()
    writer = Writer("writer", server.context)
    (_, sending), *_ = writer._some("orders", 0)
    standings = [sending.standing]
    script = writer._publish([Attempt(7, [sending])])
    next(script)
    standings.append(sending.standing)
    with pytest.raises(StopIteration):
        drain(script, HResult.OK)
    assert [*standings, sending.standing] == [
        SenderKnowledge.REFUSED,
        SenderKnowledge.UNKNOWN,
        SenderKnowledge.CONFIRMED,
    ]


def drain(script: Script, status: HResult) -> None:
    """Answer every request of a script with this status."""
    while True:
        script.send(Outcome(PublishAnswer(status, already=True), 1))


def test_a_batch_that_is_published_twice_is_a_finding() -> None:
    server = SimulatedServer()
    writer = Writer("writer", server.context)
    script = writer._expect_already(0, ())
    next(script)
    with pytest.raises(Violation, match="batch: writer published 0"):
        script.send(Outcome(PublishAnswer(HResult.OK), 1))
