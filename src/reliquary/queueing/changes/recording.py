"""Notes the history events of facts: a table has the function for each type of fact, or None.

    apply(fact) --> its recorder --> notes --> one row a batch (`changes.history`)

It runs before the fact is applied, so that it sees the old state of a position.  Features register the
functions for their own facts.  Events that belong to no fact, because no durable state changes, are noted by
`noting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reliquary.base.turn import Fact
from reliquary.queueing.changes.noting import carrier_of
from reliquary.queueing.model import facts
from reliquary.queueing.model.feature import Recorder
from reliquary.queueing.model.history.notes import NO_INITIATOR, Initiator, Notes
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.names.pathnames import short_path
from reliquary.queueing.model.queue import Queue
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.wire.history import HistoryEvent

_POISON: Final = ";poison"
_NORMAL: Final = MessageClass.NORMAL
_RECEIVED: Final = MessageClass.ACK_RECEIVE
_ACCEPTED: Final = HistoryEvent.ACCEPTED
_ARRIVED: Final = HistoryEvent.ARRIVED
_DEAD_LETTERED: Final = HistoryEvent.DEAD_LETTERED
_HANDED_OUT: Final = HistoryEvent.HANDED_OUT
_REJECTED: Final = HistoryEvent.REJECTED


# -- messages that come


def _stored(state: State, notes: Notes, fact: facts.MessagesStored) -> None:
    queue = state.queues[fact.queue].record
    initiator, other, reason = state.turn.initiator, "", _NORMAL
    event = HistoryEvent.COMMITTED if fact.prepared else _arrival(queue, fact, initiator)
    if event is _DEAD_LETTERED:
        reason, other = fact.positions[0].reason, fact.positions[0].origin_path
    notes.note_messages(event, queue, fact.positions, fact.messages, reason, initiator, other)
    if len(fact.positions) > 1 or fact.positions[0].due:
        note_delays(notes, queue, fact.positions)


def note_delays(notes: Notes, queue: Queue, positions: Sequence[Position]) -> None:
    """Note which of these positions are delayed."""
    for position in positions:
        if position.due:
            notes.note_positions(HistoryEvent.DELAYED, queue, [each for each in positions if each.due])
            return


def _arrival(queue: Queue, fact: facts.MessagesStored, initiator: Initiator) -> HistoryEvent:
    """Return the kind of history event for the arrival of a message in this queue."""
    if queue.outgoing is not None:
        return HistoryEvent.QUEUED
    if fact.positions[0].reason:  # a dead letter that was never in another queue
        return _DEAD_LETTERED
    return _ACCEPTED if initiator.by in ("api", "manager", "spark") else _ARRIVED


def _prepared(state: State, notes: Notes, fact: facts.TransactionPrepared) -> None:
    sent = [operation for operation in fact.record.operations if operation.kind == "enqueue"]
    initiator = Initiator(state.turn.initiator.by, "", str(fact.identifier))
    for operation, message in zip(sent, fact.messages, strict=True):
        queue = state.queues.get(operation.queue)
        record = None if queue is None else queue.record
        notes.note_messages(HistoryEvent.PREPARED, record, (operation.position,), (message,), 0, initiator)


def _dropped(state: State, notes: Notes, fact: facts.PreparedMessageDropped) -> None:
    queue = state.queues.get(fact.queue)
    notes.note_positions(HistoryEvent.ABORTED, None if queue is None else queue.record, (fact.position,))


# -- positions that leave

_LEAVING: Final[dict[MessageClass, HistoryEvent]] = {
    MessageClass.ACK_RECEIVE: HistoryEvent.RECEIVED,
    MessageClass.ACK_REACH_QUEUE: HistoryEvent.DELIVERED,
    MessageClass.NACK_PURGED: HistoryEvent.PURGED,
    MessageClass.NACK_QUEUE_PURGED: HistoryEvent.PURGED,
    MessageClass.NACK_REACH_QUEUE_TIMEOUT: HistoryEvent.EXPIRED,
    MessageClass.NACK_RECEIVE_TIMEOUT: HistoryEvent.EXPIRED,
    MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER: HistoryEvent.EXPIRED,
}
"""Messages that leave for any other reason are REJECTED."""


def _removed(state: State, notes: Notes, fact: facts.PositionsRemoved) -> None:
    _left(state, notes, state.queues[fact.queue], fact.positions, fact.reason)


def _left(
    state: State, notes: Notes, queue: QueueState, positions: Sequence[Position], reason: MessageClass
) -> None:
    if queue.link is None:
        initiator = state.turn.initiator if reason is _RECEIVED else NO_INITIATOR
    else:
        initiator = carrier_of(queue, state.turn.initiator)
    notes.note_positions(_LEAVING.get(reason, _REJECTED), queue.record, positions, reason, initiator)


def _copied(state: State, notes: Notes, fact: facts.PositionCopied) -> None:
    _kept(notes, HistoryEvent.JOURNALED, state.queues[fact.queue].record, fact.position)


def _kept(notes: Notes, event: HistoryEvent, queue: Queue, position: Position) -> None:
    """Note that a journal or dead-letter queue has a position now."""
    came_from = short_path(position.origin_path) if position.origin_path else ""
    notes.note_positions(event, queue, (position,), position.reason, NO_INITIATOR, came_from)


def _moved(state: State, notes: Notes, fact: facts.PositionMoved) -> None:
    source, target = state.queues[fact.source], state.queues[fact.target].record
    if fact.reason is MessageClass.NORMAL:
        other = short_path(target.pathname)
        notes.note_positions(
            HistoryEvent.MOVED, source.record, (fact.position,), 0, state.turn.initiator, other
        )
    elif target.parent == fact.source and target.pathname.casefold().endswith(_POISON):
        other = short_path(target.pathname)
        notes.note_positions(
            HistoryEvent.POISONED, source.record, (fact.position,), fact.reason, NO_INITIATOR, other
        )
    else:
        _left(state, notes, source, (fact.position,), fact.reason)
        journaled = not fact.reason.is_failure
        _kept(
            notes, HistoryEvent.JOURNALED if journaled else HistoryEvent.DEAD_LETTERED, target, fact.position
        )


# -- positions that stay


def _handed_out(state: State, notes: Notes, fact: facts.PositionsHandedOut) -> None:
    queue = state.queues[fact.queue].record
    notes.note_attempts(_HANDED_OUT, queue, fact.positions, state.turn.initiator)


def _marked(state: State, notes: Notes, fact: facts.PositionsMarked) -> None:
    queue = state.queues[fact.queue]
    locked = queue.order.locked
    back = []
    for position in fact.positions:
        before = locked[position.lookup_id]
        if position.handed_out < before.handed_out or position.aborted > before.aborted:
            back.append(position)
    if back:
        notes.note_attempts(HistoryEvent.RETURNED, queue.record, back)


def _delayed(state: State, notes: Notes, fact: facts.PositionsDelayed) -> None:
    queue = state.queues[fact.queue]
    locked = queue.order.locked
    back = [
        each
        for each in fact.positions
        if (before := locked.get(each.lookup_id)) is not None and each.aborted > before.aborted
    ]
    if back:
        notes.note_attempts(HistoryEvent.RETURNED, queue.record, back)
    notes.note_positions(HistoryEvent.DELAYED, queue.record, fact.positions)


def _due(state: State, notes: Notes, fact: facts.PositionsDue) -> None:
    notes.note_positions(HistoryEvent.DUE, state.queues[fact.queue].record, fact.positions)


def _reserved(state: State, notes: Notes, fact: facts.ReservationBegun) -> None:
    channel, batch = fact.key
    initiator = Initiator(fact.holder, "", f"{channel}:{batch}")
    notes.note_positions(HistoryEvent.HELD, state.queues[fact.queue].record, fact.positions, 0, initiator)


RECORDERS: Final[dict[type[Fact], Recorder | None]] = {
    facts.MessagesStored: _stored,
    facts.PositionCopied: _copied,
    facts.PositionMoved: _moved,
    facts.PositionsRemoved: _removed,
    facts.PositionsHandedOut: _handed_out,
    facts.PositionsMarked: _marked,
    facts.PositionsDelayed: _delayed,
    facts.PositionsDue: _due,
    facts.TransactionPrepared: _prepared,
    facts.PreparedMessageDropped: _dropped,
    facts.ReservationBegun: _reserved,
    # facts about queues and the manager, not about messages
    facts.ManagerNamed: None,
    facts.QueueCreated: None,
    facts.QueueChanged: None,
    facts.QueueDeleted: None,
    facts.DirectoryObjectWritten: None,
    facts.DirectoryObjectRemoved: None,
    # other facts of the turn note these events
    facts.TransactionEnded: None,
    facts.OutcomesForgotten: None,
    facts.ReservationsOver: None,
    # pieces without a message, and copies that are lost
    facts.PieceKept: None,
    facts.SpoolsDropped: None,
    facts.CopyLost: None,
}
"""The function that notes the events of each type of fact; None for a fact without events."""
