"""Note the history events of the facts of staging."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from reliquary.base.turn import Fact
from reliquary.queueing.changes.recording import note_delays
from reliquary.queueing.model.feature import Recorder
from reliquary.queueing.model.history.notes import Initiator, Notes
from reliquary.queueing.model.staging import batch_identifier
from reliquary.queueing.model.state import State
from reliquary.queueing.staging import facts
from reliquary.wire.history import HistoryEvent


def _published(state: State, notes: Notes, fact: facts.StagePublished | facts.StagePlaced) -> None:
    """Note messages that were published; only those that ask for something are loaded with the fact."""
    queue, stamped = state.queues[fact.queue].record, dict(fact.stamped)
    event = HistoryEvent.ACCEPTED if queue.outgoing is None else HistoryEvent.QUEUED
    initiator = Initiator("spark", "", f"{fact.query}:{fact.batch}")
    transaction = batch_identifier(fact.query, fact.batch)
    for already_read, group in groupby(fact.positions, lambda position: position.message in stamped):
        positions = list(group)
        if already_read:
            messages = [stamped[position.message] for position in positions]
            notes.note_messages(event, queue, positions, messages, 0, initiator)
        else:
            notes.note_published(event, queue, positions, initiator, transaction)
    note_delays(notes, queue, fact.positions)


RECORDERS: Final[dict[type[Fact], Recorder | None]] = {
    facts.StagePublished: _published,
    # these messages will be published, also after a crash
    facts.StagePlaced: _published,
    # StagePublished and StagePlaced note the messages
    facts.BatchBegun: None,
    facts.BatchAdvanced: None,
    facts.BatchPublished: None,
    # staged messages are in no queue yet
    facts.StageChanged: None,
    facts.MessagesStaged: None,
    facts.ChunksDropped: None,
    facts.WriterForgotten: None,
    facts.QueryReleased: None,
}
"""The function that notes the events of each type of fact; None for a fact without events."""
