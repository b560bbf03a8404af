"""Apply facts about parts of batches and published batches, in memory and in the rows."""

from __future__ import annotations

from typing import Final

from reliquary.base.turn import Fact
from reliquary.queueing.changes.positions import hide, place, show, watch_again, watch_deadlines
from reliquary.queueing.model.feature import Applier
from reliquary.queueing.model.staging import Batch, Ends, Hidden, NumberedChunk
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import (
    LEDGER,
    ONLY,
    POSITIONS,
    PUBLISHING,
    RELEASED,
    STAGED,
    STAGES,
    WRITERS,
    Publishing,
    QueueRow,
    Released,
    Writer,
    position_key,
    stage_key,
    staged_key,
)
from reliquary.queueing.staging import facts


def _stage_changed(state: State, fact: facts.StageChanged) -> None:
    state.staging.put(fact.number, fact.stage)
    state.rows.put(STAGES, stage_key(fact.number), fact.stage)


def _messages_staged(state: State, fact: facts.MessagesStaged) -> None:
    state.staging.put(fact.number, fact.stage)
    state.rows.put(STAGES, stage_key(fact.number), fact.stage)
    state.rows.put(STAGED, staged_key(fact.number, fact.stage.chunks - 1), fact.chunk, fresh=True)
    state.messages.put_aside(fact.chunk.first, fact.messages)


def _batch_begun(state: State, fact: facts.BatchBegun) -> None:
    state.rows.put(PUBLISHING, ONLY, fact.record)
    begin_batch(state, fact.record, fact.chunks, fact.ends)


def begin_batch(state: State, record: Publishing, chunks: tuple[NumberedChunk, ...], ends: Ends) -> None:
    """Hide the numbers of a batch in its queues and reserve its bytes; after a restart, count its places."""
    batch = Batch(record, chunks, ends)
    state.staging.current = batch
    for number, size in batch.size_by_queue.items():
        state.staging.reserved += size
        hide(state.queues[number], range(record.first, record.first + record.messages), size)
    _count_hidden(batch, 0, record.placed)


def _count_hidden(batch: Batch, start: int, end: int) -> None:
    for numbered in batch.chunks[start:end]:
        if not numbered.asks:
            batch.hidden.setdefault(numbered.chunk.queue, Hidden()).add(numbered)


def _stage_placed(state: State, fact: facts.StagePlaced) -> None:
    state.messages.put_again(fact.stamped)
    rows = {position_key(fact.queue, each.lookup_id): QueueRow(each) for each in fact.positions}
    state.rows.put_all(POSITIONS, rows)
    watch_deadlines(state, fact.queue, fact.positions)


def _batch_advanced(state: State, fact: facts.BatchAdvanced) -> None:
    batch = state.staging.current
    assert batch is not None, "a batch goes on, and none was begun"
    _count_hidden(batch, batch.record.placed, fact.record.placed)
    batch.record = fact.record
    state.rows.put(PUBLISHING, ONLY, fact.record)


def _show(state: State, batch: Batch) -> None:
    """Show the messages of a batch in its queues."""
    for number, size in batch.size_by_queue.items():
        state.staging.reserved -= size
        hidden = batch.hidden.get(number, Hidden())
        show(state, state.queues[number], hidden, size)
        if hidden.expires:
            watch_again(state, batch.record.moment)
    state.rows.delete(PUBLISHING, ONLY)
    state.staging.current = None


def _batch_published(state: State, fact: facts.BatchPublished) -> None:
    current = state.staging.current
    if current is not None and current.record.query == fact.query:
        _show(state, current)
    for number in fact.stages:
        stage = state.staging.stages[number]
        keys = [staged_key(number, index) for index in range(stage.chunks)]
        state.rows.delete_all(STAGED, keys)
        state.rows.delete(STAGES, stage_key(number))
        state.staging.remove(number)
    state.staging.publish(fact.query, fact.record)
    if state.staging.released.pop(fact.query, None) is not None:
        state.rows.delete(RELEASED, fact.query.encode())
    state.rows.put(LEDGER, fact.query.encode(), fact.record)
    if fact.record.writer:
        state.rows.put(WRITERS, fact.record.writer.encode(), Writer(fact.query))


def _chunks_dropped(state: State, fact: facts.ChunksDropped) -> None:
    state.rows.delete_all(STAGED, [staged_key(fact.number, index) for index in fact.indexes])
    state.messages.drop_aside(fact.messages)
    if fact.last:
        state.staging.remove(fact.number)
        state.rows.delete(STAGES, stage_key(fact.number))
    elif fact.indexes:
        state.staging.going[fact.number] = fact.indexes[-1] + 1


def _query_released(state: State, fact: facts.QueryReleased) -> None:
    state.staging.released[fact.query] = fact.era
    state.rows.put(RELEASED, fact.query.encode(), Released(fact.era))


def _writer_forgotten(state: State, fact: facts.WriterForgotten) -> None:
    names = state.staging.names_of(fact.query) if fact.query else [fact.writer]
    for name in names:
        del state.staging.writers[name]
        state.rows.delete(WRITERS, name.encode())
    if fact.query:
        del state.staging.ledger[fact.query]
        state.rows.delete(LEDGER, fact.query.encode())


def _stage_published(state: State, fact: facts.StagePublished) -> None:
    state.messages.put_again(fact.stamped)
    place(state, state.queues[fact.queue], fact.positions, fresh=True, keeps_number=True)


APPLIERS: Final[dict[type[Fact], Applier]] = {
    facts.StagePublished: _stage_published,
    facts.StageChanged: _stage_changed,
    facts.BatchBegun: _batch_begun,
    facts.StagePlaced: _stage_placed,
    facts.BatchAdvanced: _batch_advanced,
    facts.MessagesStaged: _messages_staged,
    facts.BatchPublished: _batch_published,
    facts.ChunksDropped: _chunks_dropped,
    facts.WriterForgotten: _writer_forgotten,
    facts.QueryReleased: _query_released,
}
