"""Remove the parts of batches that will never be published, some messages in each turn.

    when            which parts are dropped
    at the start    parts that are not complete: their writers have lost the connection;
                    parts of batches that were published
    at a publish    all other parts of the query's batches up to the published one
    with age        parts that were neither written nor published for `Sizes.stage_age`
    on request      parts named by DropStages, and those of an attempt that begins again

A dropped part cannot be written or published any more; its rows are deleted in later turns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from reliquary.base.faults import StoreDamage
from reliquary.base.hresult import HResult
from reliquary.base.time import HOUR, Duration, Instant
from reliquary.base.turn import Continue, SetTimer
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.staging import numbers_of
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import STAGED, StagedChunk, staged_key
from reliquary.queueing.staging.events import DropStages, SweepStages
from reliquary.queueing.staging.facts import ChunksDropped, StageChanged

LOOK: Final = ("stages", 0)
"""The timer of the search for old parts; it runs while there are parts."""
LOOK_INTERVAL: Final = Duration(HOUR)


def drop_stages(state: State, request: DropStages, now: Instant) -> None:
    """Drop the parts that a writer gives up; ignore parts that are gone or were published."""
    del now
    drop(state, request.stages)
    state.reply(request.to, Answer(HResult.OK))


def drop(state: State, numbers: Iterable[int]) -> None:
    """Mark these parts as dropped, and let later turns delete their rows."""
    for number in dict.fromkeys(numbers):
        stage = state.staging.find(number)
        if stage is not None:
            apply(state, StageChanged(number, msgspec.structs.replace(stage, dropped=True)))
    go_on(state)


def go_on(state: State) -> None:
    """Ask for a later turn that deletes rows of dropped parts, if there are any."""
    if state.staging.going and not state.staging.sweeping:
        state.staging.sweeping = True
        state.draft.ask(Continue(SweepStages()))


def sweep(state: State, event: SweepStages, now: Instant) -> None:
    """Delete rows of dropped parts, as many as one turn may."""
    del event, now
    staging, room = state.staging, state.sizes.at_once
    staging.sweeping = False
    for number in list(staging.going):
        if room <= 0:
            break
        room -= _delete_chunks(state, number, room)
    go_on(state)


def _delete_chunks(state: State, number: int, room: int) -> int:
    """Delete chunks of one part until about `room` messages are deleted; return their number, at least 1."""
    stage, index = state.staging.stages[number], state.staging.going[number]
    indexes, messages = list[int](), list[int]()
    while index < stage.chunks and len(messages) < room:
        chunk = state.rows.get(STAGED, staged_key(number, index))
        if chunk is not None:  # None: an earlier process deleted it
            messages += numbers_of(chunk)
        indexes.append(index)
        index += 1
    apply(state, ChunksDropped(number, tuple(indexes), tuple(messages), last=index == stage.chunks))
    return max(len(messages), 1)


def chunks_of(state: State, number: int) -> list[StagedChunk]:
    """Return all chunks of a part, in the order in which they were written."""
    count = state.staging.stages[number].chunks
    rows = state.rows.range(STAGED, staged_key(number, 0), staged_key(number, count), limit=count)
    if len(rows) != count:
        raise StoreDamage(f"stage {number} has {len(rows)} chunks, its row says {count}")
    return [chunk for _, chunk in rows]


# -- parts left by an earlier process, and old parts


def at_start(state: State, now: Instant) -> None:
    """Drop the parts of an earlier process that are incomplete or belong to published batches."""
    del now
    staging = state.staging
    published = {query: record.batch for query, record in staging.ledger.items()}
    unwanted = [
        number
        for number, stage in staging.stages.items()
        if not stage.complete or stage.batch <= published.get(stage.query, -1)
    ]
    staging.sweeping = staging.watched = False  # a start may follow a stop in one process
    drop(state, unwanted)
    watch(state)


def watch(state: State) -> None:
    """Set the timer of the search for old parts, if there are parts and it is not set yet."""
    staging = state.staging
    if staging.batches and not staging.watched:
        staging.watched = True
        state.draft.ask(SetTimer(LOOK, min(state.sizes.stage_age, LOOK_INTERVAL)))


def on_timer(state: State, now: Instant) -> None:
    """Drop the parts that were not written to for `Sizes.stage_age`, and set the timer again."""
    staging, oldest = state.staging, now - state.sizes.stage_age
    staging.watched = False
    old = [number for number, stage in staging.stages.items() if stage.written <= oldest]
    drop(state, old)
    watch(state)
