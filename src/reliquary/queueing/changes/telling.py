"""From facts to the history: a table that says of each fact what it tells, and which tell nothing.

    apply(fact) --> tell(state, fact) --> notes --> one row a batch (`keeping`)

It runs before the fact is made true, so a position can be seen as it was.  What is no fact, because nothing
that is kept changes, is told where it happens: `noted` and `heard`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Final

from reliquary.base.turn import Fact
from reliquary.queueing.feed import facts as feed
from reliquary.queueing.model import facts
from reliquary.queueing.model.history.notes import API, NOBODY, Bringer, Notes
from reliquary.queueing.model.message import MessageClass, ObjectId, Position
from reliquary.queueing.model.names.formats import parse_single
from reliquary.queueing.model.names.pathnames import spoken
from reliquary.queueing.model.queue import Queue
from reliquary.queueing.model.staging import batch_identifier
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.staging import facts as staging
from reliquary.wire.history import Happening

_POISON: Final = ";poison"


def tell(state: State, notes: Notes, fact: Fact) -> None:
    """Note what a fact tells, before it is made true."""
    teller = TELLERS[type(fact)]
    if teller is not None:
        teller(state, notes, fact)


def noted(
    state: State,
    happening: Happening,
    queue: QueueState,
    positions: Sequence[Position],
    reason: MessageClass = MessageClass.NORMAL,
) -> None:
    """Tell what happened to positions without any fact: their carrier says so."""
    if state.history is not None and positions:
        state.history.notes.told(happening, queue.record, positions, reason, carrier_of(queue, state.bringer))


def heard(
    state: State,
    happening: Happening,
    destination: str,
    identifiers: Sequence[ObjectId],
    reason: MessageClass = MessageClass.NORMAL,
) -> None:
    """Tell of messages that did not get into a queue; `destination` as they name it."""
    if state.history is not None:
        state.history.notes.heard(happening, None, identifiers, reason, state.bringer, destination)


# -- who does it


def carrier_of(queue: QueueState, bringer: Bringer = NOBODY) -> Bringer:
    """Who takes messages from this queue: a protocol from an outgoing one, else whoever does it now."""
    link = queue.link
    if link is None or bringer.by not in ("", API.by):
        return bringer
    assert queue.record.outgoing is not None
    label = ""
    if link.carrier is not None:
        label = link.carrier.label(parse_single(queue.record.outgoing.destination))
    peer = link.next_hops[0] if link.next_hops else ""
    return Bringer(label, peer if peer != label else "")


# -- messages that come


def _stored(state: State, notes: Notes, fact: facts.MessagesStored) -> None:
    queue = state.queues[fact.queue].record
    bringer, other, reason = state.bringer, "", MessageClass.NORMAL
    happening = Happening.COMMITTED if fact.prepared else _arrival(queue, fact, bringer)
    if happening is Happening.DEAD_LETTERED:
        reason, other = fact.positions[0].reason, fact.positions[0].origin_path
    notes.came(happening, queue, fact.positions, fact.messages, reason, bringer, other)
    _put_off(notes, queue, fact.positions)


def _put_off(notes: Notes, queue: Queue, positions: Sequence[Position]) -> None:
    later = [position for position in positions if position.due]
    if later:
        notes.told(Happening.DELAYED, queue, later)


def _arrival(queue: Queue, fact: facts.MessagesStored, bringer: Bringer) -> Happening:
    """As what a message comes into a queue."""
    if queue.outgoing is not None:
        return Happening.QUEUED
    if fact.positions[0].reason:  # buried: it never was in another queue
        return Happening.DEAD_LETTERED
    return Happening.ACCEPTED if bringer.by in ("api", "manager", "spark") else Happening.ARRIVED


def _published(state: State, notes: Notes, fact: staging.StagePublished) -> None:
    """The messages are on disk since they were staged; only those that ask for something are at hand."""
    queue, stamped = state.queues[fact.queue].record, dict(fact.stamped)
    happening = Happening.ACCEPTED if queue.outgoing is None else Happening.QUEUED
    bringer = Bringer("spark", "", f"{fact.query}:{fact.batch}")
    transaction = batch_identifier(fact.query, fact.batch)
    for at_hand, group in groupby(fact.positions, lambda position: position.message in stamped):
        positions = list(group)
        if at_hand:
            messages = [stamped[position.message] for position in positions]
            notes.came(happening, queue, positions, messages, 0, bringer)
        else:
            notes.placed(happening, queue, positions, bringer, transaction)
    _put_off(notes, queue, fact.positions)


def _prepared(state: State, notes: Notes, fact: facts.TransactionPrepared) -> None:
    sent = [operation for operation in fact.record.operations if operation.kind == "enqueue"]
    bringer = Bringer(state.bringer.by, "", str(fact.identifier))
    for operation, message in zip(sent, fact.messages, strict=True):
        queue = state.queues.get(operation.queue)
        record = None if queue is None else queue.record
        notes.came(Happening.PREPARED, record, (operation.position,), (message,), 0, bringer)


def _dropped(state: State, notes: Notes, fact: facts.PreparedMessageDropped) -> None:
    queue = state.queues.get(fact.queue)
    notes.told(Happening.ABORTED, None if queue is None else queue.record, (fact.position,))


# -- positions that leave

_LEAVING: Final[dict[MessageClass, Happening]] = {
    MessageClass.ACK_RECEIVE: Happening.RECEIVED,
    MessageClass.ACK_REACH_QUEUE: Happening.DELIVERED,
    MessageClass.NACK_PURGED: Happening.PURGED,
    MessageClass.NACK_QUEUE_PURGED: Happening.PURGED,
    MessageClass.NACK_REACH_QUEUE_TIMEOUT: Happening.EXPIRED,
    MessageClass.NACK_RECEIVE_TIMEOUT: Happening.EXPIRED,
    MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER: Happening.EXPIRED,
}
"""All others are REJECTED."""


def _removed(state: State, notes: Notes, fact: facts.PositionsRemoved) -> None:
    _left(state, notes, state.queues[fact.queue], fact.positions, fact.reason)


def _left(
    state: State, notes: Notes, queue: QueueState, positions: Sequence[Position], reason: MessageClass
) -> None:
    if queue.link is None:
        bringer = state.bringer if reason is MessageClass.ACK_RECEIVE else NOBODY
    else:
        bringer = carrier_of(queue, state.bringer)
    notes.told(_LEAVING.get(reason, Happening.REJECTED), queue.record, positions, reason, bringer)


def _copied(state: State, notes: Notes, fact: facts.PositionCopied) -> None:
    _kept(notes, Happening.JOURNALED, state.queues[fact.queue].record, fact.position)


def _kept(notes: Notes, happening: Happening, queue: Queue, position: Position) -> None:
    """A journal or dead-letter queue has it now."""
    came_from = spoken(position.origin_path) if position.origin_path else ""
    notes.told(happening, queue, (position,), position.reason, NOBODY, came_from)


def _moved(state: State, notes: Notes, fact: facts.PositionMoved) -> None:
    source, target = state.queues[fact.source], state.queues[fact.target].record
    if fact.reason is MessageClass.NORMAL:
        other = spoken(target.pathname)
        notes.told(Happening.MOVED, source.record, (fact.position,), 0, state.bringer, other)
    elif target.parent == fact.source and target.pathname.casefold().endswith(_POISON):
        other = spoken(target.pathname)
        notes.told(Happening.POISONED, source.record, (fact.position,), fact.reason, NOBODY, other)
    else:
        _left(state, notes, source, (fact.position,), fact.reason)
        journaled = not fact.reason.is_failure
        _kept(notes, Happening.JOURNALED if journaled else Happening.DEAD_LETTERED, target, fact.position)


# -- positions that stay


def _marked(state: State, notes: Notes, fact: facts.PositionsMarked) -> None:
    queue = state.queues[fact.queue]
    locked = queue.order.locked
    tries, back = [], []
    for position in fact.positions:
        before = locked.get(position.lookup_id)
        if before is None or position.handed_out > before.handed_out:
            tries.append(position)
        elif position.handed_out < before.handed_out or position.aborted > before.aborted:
            back.append(position)
    if tries:
        notes.tried(Happening.HANDED_OUT, queue.record, tries, state.bringer)
    if back:
        notes.tried(Happening.RETURNED, queue.record, back)


def _delayed(state: State, notes: Notes, fact: facts.PositionsDelayed) -> None:
    queue = state.queues[fact.queue]
    locked = queue.order.locked
    back = [
        each
        for each in fact.positions
        if (before := locked.get(each.lookup_id)) is not None and each.aborted > before.aborted
    ]
    if back:
        notes.tried(Happening.RETURNED, queue.record, back)
    notes.told(Happening.DELAYED, queue.record, fact.positions)


def _due(state: State, notes: Notes, fact: facts.PositionsDue) -> None:
    notes.told(Happening.DUE, state.queues[fact.queue].record, fact.positions)


def _held(state: State, notes: Notes, fact: facts.HoldBegun) -> None:
    channel, batch = fact.key
    bringer = Bringer(fact.holder, "", f"{channel}:{batch}")
    notes.told(Happening.HELD, state.queues[fact.queue].record, fact.positions, 0, bringer)


Teller = Callable[[State, Notes, Any], None]

TELLERS: Final[dict[type[Fact], Teller | None]] = {
    facts.MessagesStored: _stored,
    facts.PositionCopied: _copied,
    facts.PositionMoved: _moved,
    facts.PositionsRemoved: _removed,
    facts.PositionsMarked: _marked,
    facts.PositionsDelayed: _delayed,
    facts.PositionsDue: _due,
    facts.TransactionPrepared: _prepared,
    facts.PreparedMessageDropped: _dropped,
    facts.HoldBegun: _held,
    staging.StagePublished: _published,
    # of queues and of the manager, not of messages
    facts.ManagerNamed: None,
    facts.QueueCreated: None,
    facts.QueueChanged: None,
    facts.QueueDeleted: None,
    facts.DirectoryObjectWritten: None,
    facts.DirectoryObjectRemoved: None,
    # told by the facts beside them
    facts.TransactionEnded: None,
    facts.OutcomesForgotten: None,
    facts.HoldsOver: None,
    staging.BatchPublished: None,
    # nobody's message yet, or no longer
    facts.PieceKept: None,
    facts.SpoolsDropped: None,
    facts.CopyLost: None,
    staging.StageChanged: None,
    staging.MessagesStaged: None,
    staging.ChunksDropped: None,
    staging.WriterForgotten: None,
    # of readers, who take nothing away
    feed.ConsumerPlaced: None,
    feed.ConsumerDropped: None,
    feed.RetainedDropped: None,
}
"""None: it tells nothing."""
