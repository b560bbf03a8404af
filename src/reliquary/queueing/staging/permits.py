"""Check who may write and publish parts: only the user who began them, and may send to their queues."""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import UsageError
from reliquary.queueing.model.events import Access, Request
from reliquary.queueing.model.feature import Permit
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.destinations import read_name
from reliquary.queueing.rules.permission import (
    Act,
    is_own,
    lacks,
    lacks_on,
    lacks_to_acknowledge,
    lacks_to_administer,
)
from reliquary.queueing.staging import events


def _foreign_stages(state: State, request: Request, *numbers: int | None) -> str:
    for number in numbers:
        stage = state.staging.stages.get(number or 0)
        if stage is not None and not is_own(state, request.by, stage.user):
            return f"stage {number} is another user's, and {request.by} may not use it"
    return ""


def _foreign_query(state: State, request: Request, query: str) -> str:
    """Return a sentence when a query belongs to another user: its later batches would count as published."""
    known = state.staging.ledger.get(query)
    if known is None or is_own(state, request.by, known.user):
        return ""
    return f"the query {query} is another user's, and {request.by} may not publish for it"


def _begin_stage(state: State, request: events.BeginStage) -> str:
    place = (request.query, request.batch, request.part, request.attempt)
    earlier = state.staging.places.get(place)
    return _foreign_query(state, request, request.query) or _foreign_stages(state, request, earlier)


def _stage(state: State, request: events.StageMessages | events.CompleteStage) -> str:
    return _foreign_stages(state, request, request.stage)


def _lacks_to_send(state: State, request: events.StageMessages) -> str:
    try:
        read_name(state, request.queue, Access.SEND)
    except UsageError:
        return ""  # the rule refuses the name, and its answer says so
    return lacks_on(state, request, request.queue, Act.SEND)


def _stage_messages(state: State, request: events.StageMessages) -> str:
    return (
        _stage(state, request)
        or _lacks_to_send(state, request)
        or lacks_to_acknowledge(state, request.by, request.messages)
    )


def _drop_stages(state: State, request: events.DropStages) -> str:
    return _foreign_stages(state, request, *request.stages)


def _publish(state: State, request: events.PublishBatch) -> str:
    """Check that the parts belong to the user, and that the user may still send to their queues."""
    owner = state.staging.writers.get(request.writer, "") if request.take_over else ""
    foreign = (
        _foreign_query(state, request, request.query)
        or _foreign_query(state, request, owner)
        or _foreign_stages(state, request, *request.stages)
    )
    if foreign:
        return foreign
    stages = filter(None, map(state.staging.find, request.stages))
    numbers = dict.fromkeys(number for stage in stages for number in stage.queues if number in state.queues)
    lacking = (lacks(state, request.by, state.queues[number], Act.SEND) for number in numbers)
    return next(filter(None, lacking), "")


PERMITS: Final[dict[type[Request], Permit]] = {
    events.BeginStage: _begin_stage,
    events.StageMessages: _stage_messages,
    events.CompleteStage: _stage,
    events.PublishBatch: _publish,
    events.DropStages: _drop_stages,
    events.ForgetWriter: lacks_to_administer,
}
