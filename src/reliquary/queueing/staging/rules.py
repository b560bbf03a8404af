"""From an event to its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reliquary.base.turn import Event
from reliquary.queueing.staging import events, ledger, publish, stage, sweep

if TYPE_CHECKING:
    from reliquary.queueing.manager import Rule

RULES: Final[dict[type[Event], Rule]] = {
    events.BeginStage: stage.begin,
    events.StageMessages: stage.stage_messages,
    events.CompleteStage: stage.complete,
    events.PublishBatch: publish.publish,
    events.DropStages: sweep.drop_stages,
    events.ForgetWriter: ledger.forget,
    events.SweepStages: sweep.sweep,
}
