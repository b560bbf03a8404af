"""The rules, timers, permits, appliers and recorders that batches add to the queue manager."""

from __future__ import annotations

from typing import Final

from reliquary.queueing.model.feature import Feature
from reliquary.queueing.staging import events, ledger, publish, stage, sweep, turns
from reliquary.queueing.staging.apply import APPLIERS
from reliquary.queueing.staging.permits import PERMITS
from reliquary.queueing.staging.recording import RECORDERS

STAGING: Final = Feature(
    name="staging",
    rules={
        events.BeginStage: stage.begin,
        events.StageMessages: stage.stage_messages,
        events.CompleteStage: stage.complete,
        events.PublishBatch: publish.publish,
        events.DropStages: sweep.drop_stages,
        events.ForgetWriter: ledger.forget,
        events.SweepStages: sweep.sweep,
        events.PlaceBatch: turns.place_some,
    },
    timers={"stages": lambda state, _, now: sweep.on_timer(state, now)},
    permits=PERMITS,
    appliers=APPLIERS,
    recorders=RECORDERS,
    at_any_time=frozenset({events.SweepStages, events.PlaceBatch}),
)
