"""Publish a large batch in several turns, so that other clients are served between them.

    BatchBegun       a range of sequence numbers is reserved, and hidden in the queues of the batch
    StagePlaced ...  positions are written in this range, `Sizes.placed` messages in each turn
    BatchPublished   one last turn: the range is shown, the ledger knows the batch, its parts are gone

    queue      | 1  2  3 | 4  5  6  7  8 | 9 10        4 to 8 are the batch; 9 and 10 came meanwhile
    receivers    see 1 2 3, 9 10                       until the last turn, then all
    feeds        show 1 to 3 only                      so that 4 to 8 are not numbers that a reader has passed

From BatchBegun on the batch will be published, and nothing can refuse it any more: quotas are checked and
their bytes are reserved before.  After a crash the next process goes on behind the last turn that was stored.
A turn begins when the one before it is on disk: so few changes wait to be written, and other requests are
served between the two.
One large batch is placed at a time; other large batches, and other batches of its query, wait for its end.

Messages that can expire get their deadlines with their positions.  A timer that fires meanwhile leaves them
out, and the last turn sets it again.  A chunk with a message that is delayed, or requests a copy or an
acknowledgement is placed in the last turn, because each of these acts must come with the moment when the
message is visible.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby

from msgspec.structs import replace

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.base.turn import Continue, ContinueAfterSync, Event
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model.staging import Batch, Ends
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Publishing
from reliquary.queueing.staging import parts as grouping
from reliquary.queueing.staging.apply import begin_batch
from reliquary.queueing.staging.events import PlaceBatch, PublishAnswer, PublishBatch
from reliquary.queueing.staging.facts import BatchAdvanced, BatchBegun, BatchPublished
from reliquary.queueing.staging.ledger import forget_oldest, note, user_of
from reliquary.queueing.staging.parts import Part, numbered_chunks
from reliquary.queueing.staging.places import place_chunk, publish_chunks
from reliquary.queueing.staging.sweep import drop


def must_wait(state: State, request: PublishBatch) -> bool:
    """Return whether a request concerns the query or the writer's name of the batch that is being placed."""
    current = state.staging.current
    if current is None:
        return False
    same_writer = bool(request.writer) and request.writer == current.record.writer
    return request.query == current.record.query or same_writer


def begin(state: State, request: PublishBatch, parts: list[Part], ends: Ends, now: Instant) -> None:
    """Begin to place a batch that was checked; its answer comes with the last turn."""
    total = sum(part.count for part in parts)
    first = state.numbers.next_sequences(total)[0]
    record = Publishing(
        request.query,
        request.batch,
        request.writer,
        request.stages,
        first,
        total,
        now,
        user_of(state),
        request.spread,
    )
    apply(state, BatchBegun(record, numbered_chunks(parts, first), ends))
    state.staging.publisher = request.to
    state.draft.ask(ContinueAfterSync(PlaceBatch()))


def place_some(state: State, event: PlaceBatch, now: Instant) -> None:
    """Place as many messages of the batch as one turn may, and publish it with the last ones."""
    del event
    current = state.staging.current
    if current is None:  # the batch was published because one of its queues is deleted
        return
    _place(state, current, state.sizes.placed)
    if current.record.placed < len(current.chunks):
        state.draft.ask(ContinueAfterSync(PlaceBatch()))
    else:
        _finish(state, current, now)


def finish_for(state: State, queues: Collection[int], now: Instant) -> None:
    """Publish the batch in this turn if some of its messages go to these queues, which will be deleted."""
    current = state.staging.current
    if current is not None and any(numbered.chunk.queue in queues for numbered in current.chunks):
        _place(state, current, current.record.messages)
        _finish(state, current, now)


def _place(state: State, current: Batch, room: int) -> None:
    """Place chunks until about `room` messages have their places, at least one chunk."""
    record = current.record
    batch, placed = (record.query, record.batch), record.placed
    while placed < len(current.chunks) and room > 0:
        numbered = current.chunks[placed]
        if not numbered.asks:
            room -= len(numbered.chunk.sizes)
            queue = state.queues[numbered.chunk.queue]
            place_chunk(state, batch, queue, numbered, current.ends, Instant(record.moment))
        placed += 1
    if placed > record.placed:
        apply(state, BatchAdvanced(replace(record, placed=placed)))


def _finish(state: State, current: Batch, now: Instant) -> None:
    """Show all messages of the batch, place those that request something, and answer."""
    record, staging = current.record, state.staging
    batch = (record.query, record.batch)
    entry = note(state, record, record.user, record.messages, now)
    apply(state, BatchPublished(record.query, entry, record.stages))
    if any(hidden.expires for hidden in current.hidden.values()):
        state.watch_clock(record.moment, now)
    asking = [numbered for numbered in current.chunks if numbered.asks]
    for number, chunks in groupby(asking, lambda numbered: numbered.chunk.queue):
        queue = state.queues[number]
        publish_chunks(state, batch, queue, list(chunks), current.ends, now)
        queue.readers.woken.sort()  # readers that wait get the first message of the queue first
    drop(state, staging.settled(record.query, record.batch))  # other attempts at the parts
    forget_oldest(state)
    if staging.publisher is not None:
        state.reply(staging.publisher, PublishAnswer(HResult.OK, messages=record.messages))
    waiting: list[Event] = staging.waiting
    staging.publisher, staging.waiting = None, []
    for request in waiting:
        state.draft.ask(Continue(request))


# -- a batch of an earlier process


def recover(state: State, record: Publishing) -> None:
    """Load the batch that an earlier process has begun."""
    parts, ends = grouping.by_queue(state, record.stages)
    begin_batch(state, record, numbered_chunks(parts, record.first), ends)


def at_start(state: State) -> None:
    """Continue with the batch that an earlier process has begun."""
    state.staging.publisher, state.staging.waiting = None, []  # a start may follow a stop in one process
    if state.staging.current is not None:
        state.draft.ask(ContinueAfterSync(PlaceBatch()))
