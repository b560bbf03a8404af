"""Facts about parts of batches and published batches: what they change in memory and in the rows."""

from __future__ import annotations

from typing import Final

from reliquary.base.turn import Fact
from reliquary.queueing.changes.positions import place
from reliquary.queueing.model.feature import Applier
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import LEDGER, STAGED, STAGES, WRITERS, Writer, stage_key, staged_key
from reliquary.queueing.staging import facts


def _stage_changed(state: State, fact: facts.StageChanged) -> None:
    state.staging.put(fact.number, fact.stage)
    state.rows.put(STAGES, stage_key(fact.number), fact.stage)


def _messages_staged(state: State, fact: facts.MessagesStaged) -> None:
    state.staging.put(fact.number, fact.stage)
    state.rows.put(STAGES, stage_key(fact.number), fact.stage)
    state.rows.put(STAGED, staged_key(fact.number, fact.stage.chunks - 1), fact.chunk, fresh=True)
    state.messages.put_aside(fact.chunk.first, fact.messages)


def _batch_published(state: State, fact: facts.BatchPublished) -> None:
    for number in fact.stages:
        stage = state.staging.stages[number]
        keys = [staged_key(number, index) for index in range(stage.chunks)]
        state.rows.delete_all(STAGED, keys)
        state.rows.delete(STAGES, stage_key(number))
        state.staging.remove(number)
    state.staging.publish(fact.query, fact.record)
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
    place(state, state.queues[fact.queue], fact.positions, fresh=True)


APPLIERS: Final[dict[type[Fact], Applier]] = {
    facts.StagePublished: _stage_published,
    facts.StageChanged: _stage_changed,
    facts.MessagesStaged: _messages_staged,
    facts.BatchPublished: _batch_published,
    facts.ChunksDropped: _chunks_dropped,
    facts.WriterForgotten: _writer_forgotten,
}
