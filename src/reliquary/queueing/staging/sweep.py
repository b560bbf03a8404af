"""Parts that nobody will publish go, some messages at a time.

    at the start    those that are not complete: whoever wrote them has lost the connection
                    those of batches that were published
    at a publish    all that is left of the batches up to this one
    with age        those that nobody wrote to or published for `Sizes.stage_age`
    on demand       DropStages, and an attempt that begins anew

A part that is dropped can be used no more from that moment on; its rows go in later turns.
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
"""The timer of the look for old parts; it runs while there are any."""
LOOKS_APART: Final = Duration(HOUR)


def drop_stages(state: State, request: DropStages, now: Instant) -> None:
    """Somebody gives his parts up; those that are gone or were published are left alone."""
    del now
    drop(state, request.stages)
    state.reply(request.to, Answer(HResult.OK))


def drop(state: State, numbers: Iterable[int]) -> None:
    """These parts will never be published."""
    for number in dict.fromkeys(numbers):
        stage = state.staging.find(number)
        if stage is not None:
            apply(state, StageChanged(number, msgspec.structs.replace(stage, dropped=True)))
    go_on(state)


def go_on(state: State) -> None:
    """Let a later turn take out what was dropped."""
    if state.staging.going and not state.staging.sweeping:
        state.staging.sweeping = True
        state.draft.ask(Continue(SweepStages()))


def sweep(state: State, event: SweepStages, now: Instant) -> None:
    """One turn's worth."""
    del event, now
    staging, room = state.staging, state.sizes.at_once
    staging.sweeping = False
    for number in list(staging.going):
        if room <= 0:
            break
        room -= _take_out(state, number, room)
    go_on(state)


def _take_out(state: State, number: int, room: int) -> int:
    """Chunks of one part, until about so many messages are gone; how many were."""
    stage, index = state.staging.stages[number], state.staging.going[number]
    indexes, messages = list[int](), list[int]()
    while index < stage.chunks and len(messages) < room:
        chunk = state.rows.get(STAGED, staged_key(number, index))
        if chunk is not None:  # else an earlier process took it
            messages += numbers_of(chunk)
        indexes.append(index)
        index += 1
    apply(state, ChunksDropped(number, tuple(indexes), tuple(messages), last=index == stage.chunks))
    return max(len(messages), 1)


def chunks_of(state: State, number: int) -> list[StagedChunk]:
    """All chunks of a part, in their order."""
    count = state.staging.stages[number].chunks
    rows = state.rows.range(STAGED, staged_key(number, 0), staged_key(number, count), limit=count)
    if len(rows) != count:
        raise StoreDamage(f"stage {number} has {len(rows)} chunks, its row says {count}")
    return [chunk for _, chunk in rows]


# -- at the start, and with age


def at_start(state: State, now: Instant) -> None:
    """What an earlier process left: only what is complete, and not published, may still be wanted."""
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
    """Look for old parts when it is time, as long as there are any to look at."""
    staging = state.staging
    if staging.batches and not staging.watched:
        staging.watched = True
        state.draft.ask(SetTimer(LOOK, min(state.sizes.stage_age, LOOKS_APART)))


def on_timer(state: State, now: Instant) -> None:
    """Parts that nobody wrote to or published for too long go."""
    staging, oldest = state.staging, now - state.sizes.stage_age
    staging.watched = False
    old = [number for number, stage in staging.stages.items() if stage.written <= oldest]
    drop(state, old)
    watch(state)
