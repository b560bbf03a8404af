"""Publish a batch (PublishBatch): put the messages of all its parts into their queues in one turn.

    parts, in the order given --> chunks --> positions, by queue --> StagePublished for each queue
                                                                 --> BatchPublished: ledger, parts gone

All of it is one write to the store.  A writer that repeats its request after a crash, its own or the
manager's, finds either the parts or the ledger's entry, never half of a batch.

    checks, in this order                 answer
    batch <= the ledger's last batch      OK, `already`; the parts are dropped
    a writer's name of another query      WRITER_TAKEN, unless the request takes the name over
    a part is gone or incomplete          STAGE_GONE
    the batch has too many messages       BATCH_TOO_LARGE
    a queue was deleted after staging     QUEUE_NOT_FOUND, with the queue's name
    a quota has no room                   INSUFFICIENT_RESOURCES
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.staging import numbers_of
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import LANE_SHIFT, Stage, StagedChunk
from reliquary.queueing.rules.enqueue import (
    STATUS,
    Enqueued,
    announce,
    deadline_in,
    judge,
    manager_is_full,
    position_in,
    share_with_journal,
    why_full,
)
from reliquary.queueing.rules.expiry import expire, is_over
from reliquary.queueing.rules.sending import why_not
from reliquary.queueing.staging.events import PublishAnswer, PublishBatch, StageAnswer
from reliquary.queueing.staging.facts import BatchPublished, StagePublished
from reliquary.queueing.staging.ledger import check_era, check_spread, forget_oldest, note, taken
from reliquary.queueing.staging.stage import (
    ASKS,
    DEAD_LETTER,
    PEEKABLE,
    check_name,
    check_number,
    gone,
    too_many,
)
from reliquary.queueing.staging.sweep import chunks_of, drop


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
    check_era(state, request)
    refused = taken(state, request) or _missing(state, request)
    if refused is not None:
        state.reply(request.to, refused)
        return
    parts, ends = _by_queue(state, request.stages)
    refused = _without_room(state, parts)
    if refused is not None:
        state.reply(request.to, refused)
        return
    total = sum(part.count for part in parts)
    _place(state, request, parts, ends, now)
    record = note(state, request, total, now)
    apply(state, BatchPublished(request.query, record, request.stages))
    drop(state, state.staging.settled(request.query, request.batch))  # other attempts at the parts
    forget_oldest(state)
    state.reply(request.to, PublishAnswer(HResult.OK, messages=total))


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


def _without_room(state: State, parts: list[_Part]) -> PublishAnswer | None:
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


# -- places in the queues


@dataclass(slots=True)
class _Part:
    """The chunks of a batch that go into one queue, with their messages counted."""

    queue: QueueState
    chunks: list[StagedChunk] = field(default_factory=list)
    count: int = 0
    size: int = 0


class _Ends(NamedTuple):
    """The numbers of the first and the last message of a batch.

    A batch is a transaction, so these two messages are marked as its ends (DM-103, DM-104).
    """

    first: int
    last: int


def _by_queue(state: State, numbers: Iterable[int]) -> tuple[list[_Part], _Ends]:
    """Return the chunks of all parts grouped by queue, in the order of the parts, and the batch's ends."""
    parts, first, last = dict[int, _Part](), 0, 0
    for number in numbers:
        for chunk in chunks_of(state, number):
            first, last = first or chunk.first, numbers_of(chunk)[-1]
            part = parts.get(chunk.queue) or parts.setdefault(chunk.queue, _Part(state.queues[chunk.queue]))
            part.chunks.append(chunk)
            part.count += len(chunk.sizes)
            part.size += sum(chunk.sizes)
    return list(parts.values()), _Ends(first, last)


def _place(state: State, request: PublishBatch, parts: list[_Part], ends: _Ends, now: Instant) -> None:
    """Give the messages of each queue their positions, and do what the messages request on arrival."""
    for part in parts:
        positions, loaded = list[Position](), dict[int, Message]()
        for chunk in part.chunks:
            positions += _positions(state, part.queue, chunk, ends, loaded, now)
        stamped = tuple(loaded.items())
        fact = StagePublished(request.query, request.batch, part.queue.number, tuple(positions), stamped)
        apply(state, fact)
        if loaded:
            with_message = [position for position in positions if position.message in loaded]
            messages = [loaded[position.message] for position in with_message]
            announce(state, part.queue, with_message, messages, now)
            for position in with_message:
                stored = part.queue.order.get(position.lookup_id)
                if stored is not None and is_over(stored, now):  # AN-46: as in a commit
                    expire(state, part.queue, stored)


def _positions(
    state: State,
    queue: QueueState,
    chunk: StagedChunk,
    ends: _Ends,
    loaded: dict[int, Message],
    now: Instant,
) -> list[Position]:
    """Return the positions of one chunk; add the messages that the publish has to load to `loaded`."""
    count = len(chunk.sizes)
    first, numbers = state.numbers.next_sequences(count)[0], range(chunk.first, chunk.first + count)
    if len(chunk.lanes) == 1:
        start = (chunk.lanes[0] << LANE_SHIFT) + first
        lookup_ids: Iterable[int] = range(start, start + count)
    else:
        lookup_ids = [(lane << LANE_SHIFT) + first + place for place, lane in enumerate(chunk.lanes)]
    positions = list(map(Position, lookup_ids, numbers, chunk.sizes, repeat(now)))
    to_load = {number - chunk.first for number in ends if number in numbers}
    for place, mark in enumerate(chunk.marks):
        if mark & ASKS:
            to_load.add(place)
        elif mark:
            positions[place] = msgspec.structs.replace(
                positions[place], peekable=bool(mark & PEEKABLE), dead_letter=bool(mark & DEAD_LETTER)
            )
    places = sorted(to_load)
    stored = state.messages.get_all([positions[place] for place in places])
    for place, staged in zip(places, stored, strict=True):
        position = positions[place]
        message = _sent(staged, position.message, ends)
        positions[place] = _timed(state, queue, position, message, first + place, now)
        loaded[position.message] = _dated(message, now)
    return positions


def _sent(message: Message, number: int, ends: _Ends) -> Message:
    """Return the message, marked if it is the first or the last of the batch's transaction."""
    if number not in ends:
        return message
    return message.changed(first_in_transaction=number == ends.first, last_in_transaction=number == ends.last)


def _dated(message: Message, now: Instant) -> Message:
    return message if message.sent_time else msgspec.structs.replace(message, sent_time=in_whole_seconds(now))


def _timed(
    state: State, queue: QueueState, position: Position, message: Message, sequence: int, now: Instant
) -> Position:
    """Return the position of a loaded message with its deadlines and its journal, as in `enqueue.insert`."""
    expires, due = deadline_in(queue, message, now), message.due(now)
    made = position_in(queue, message, sequence, position.size, now, expires, due)
    made = msgspec.structs.replace(made, message=position.message, home=0)  # it has its row already
    return share_with_journal(state, queue, made, message)
