"""Publish a batch (PublishBatch): put the messages of all its parts into their queues.

    parts, in the order given --> chunks --> positions, by queue --> StagePublished for each queue
                                                                 --> BatchPublished: ledger, parts gone

All of it is one write to the store; a batch with more messages than one turn may place goes to `turns`.
A writer that repeats its request after a crash, its own or the manager's, finds either the parts or the
ledger's entry, never half of a batch.

    checks, in this order                 answer
    batch <= the ledger's last batch      OK, `already`; the parts are dropped
    a writer's name of another query      WRITER_TAKEN, unless the request takes the name over
    a part is gone or incomplete          STAGE_GONE
    the batch has too many messages       BATCH_TOO_LARGE
    a queue was deleted after staging     QUEUE_NOT_FOUND, with the queue's name
    a quota has no room                   INSUFFICIENT_RESOURCES
"""

from __future__ import annotations

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Stage
from reliquary.queueing.rules.enqueue import STATUS, Enqueued, judge, manager_is_full, why_full
from reliquary.queueing.rules.sending import why_not
from reliquary.queueing.staging import parts as grouping
from reliquary.queueing.staging import turns
from reliquary.queueing.staging.events import PublishAnswer, PublishBatch, StageAnswer
from reliquary.queueing.staging.facts import BatchPublished
from reliquary.queueing.staging.ledger import (
    check_era,
    check_spread,
    forget_oldest,
    note,
    taken,
    user_of,
)
from reliquary.queueing.staging.parts import Part, numbered_chunks
from reliquary.queueing.staging.places import publish_chunks
from reliquary.queueing.staging.stage import check_name, check_number, gone, too_many
from reliquary.queueing.staging.sweep import drop


def publish(state: State, request: PublishBatch, now: Instant) -> None:
    """Publish a batch, or answer that it was published before."""
    check_name("a query", request.query)
    check_number("a batch", request.batch)
    if request.writer:
        check_name("a writer", request.writer)
    known = state.staging.ledger.get(request.query)
    if known is not None and request.batch <= known.batch:
        check_spread(request, known)
        drop(state, _own(state, request))
        state.reply(request.to, PublishAnswer(HResult.OK, already=True))
        return
    if turns.must_wait(state, request):
        state.staging.waiting.append(request)
        return
    check_era(state, request)
    refused = taken(state, request) or _missing(state, request)
    if refused is not None:
        state.reply(request.to, refused)
        return
    if _count(state, request) > state.sizes.placed and state.staging.current is not None:
        state.staging.waiting.append(request)
        return
    parts, ends = grouping.by_queue(state, request.stages)
    refused = _without_room(state, parts)
    if refused is not None:
        state.reply(request.to, refused)
        return
    total = sum(part.count for part in parts)
    if total > state.sizes.placed:
        turns.begin(state, request, parts, ends, now)
        return
    for part in parts:
        chunks = numbered_chunks([part], state.numbers.next_sequences(part.count)[0])
        publish_chunks(state, (request.query, request.batch), part.queue, chunks, ends, now)
    record = note(state, request, user_of(state), total, now)
    apply(state, BatchPublished(request.query, record, request.stages))
    drop(state, state.staging.settled(request.query, request.batch))  # other attempts at the parts
    forget_oldest(state)
    state.reply(request.to, PublishAnswer(HResult.OK, messages=total))


def _count(state: State, request: PublishBatch) -> int:
    return sum(state.staging.stages[number].messages for number in request.stages)


def _own(state: State, request: PublishBatch) -> list[int]:
    """Return the parts of the request that belong to its batch: a late request may name other parts."""
    return [
        number
        for number in request.stages
        if (stage := state.staging.find(number)) and _belongs(stage, request)
    ]


def _belongs(stage: Stage, request: PublishBatch) -> bool:
    return (stage.query, stage.batch) == (request.query, request.batch)


# -- checks and refusals


def _missing(state: State, request: PublishBatch) -> PublishAnswer | None:
    """Return a refusal if a part is gone or a queue was deleted, else None.  Changes nothing."""
    seen = dict[int, int]()
    stages = list[Stage]()
    for number in request.stages:
        stage = state.staging.find(number)
        if stage is None:
            return _as_answer(gone(number))
        if not _belongs(stage, request):
            raise UsageError(
                f"stage {number} is of batch {stage.batch} of query {stage.query},"
                f" not of batch {request.batch} of {request.query}"
            )
        if stage.part in seen:
            raise UsageError(
                f"stages {seen[stage.part]} and {number} are both part {stage.part} of the batch"
            )
        if not stage.complete:
            return PublishAnswer(HResult.STAGE_GONE, f"stage {number} is not complete; write it again")
        seen[stage.part] = number
        stages.append(stage)
    total = sum(stage.messages for stage in stages)
    if total > state.sizes.batch:
        return _as_answer(too_many(state, 0, total))
    for stage in stages:
        for number, name in stage.queues.items():
            queue = state.queues.get(number)
            if queue is None or queue.record.deleting:
                why = (
                    f"the queue {name} was deleted after part {stage.part} was written: write the batch again"
                )
                return PublishAnswer(HResult.QUEUE_NOT_FOUND, why)
    return None


def _as_answer(refused: StageAnswer) -> PublishAnswer:
    return PublishAnswer(refused.status, refused.why)


def _without_room(state: State, parts: list[Part]) -> PublishAnswer | None:
    """Return a refusal if a quota has no room for all parts together, else None."""
    total = sum(part.size for part in parts)
    if state.manager.throttled or manager_is_full(state, total):
        return PublishAnswer(HResult.INSUFFICIENT_RESOURCES, why_full(state))
    for part in parts:
        verdict = judge(state, part.queue, part.size)
        if verdict is not Enqueued.DONE:
            why = f"{part.queue.record.pathname}: {why_not(state, part.queue, verdict)}"
            return PublishAnswer(STATUS[verdict], why)
    return None
