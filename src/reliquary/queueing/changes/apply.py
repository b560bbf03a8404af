"""Facts made true: in memory and, unless they concern an express message, in the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappush
from itertools import zip_longest
from typing import Any, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.turn import Fact
from reliquary.queueing.changes.numbering import PENDING, forget_number, keep_numbers, number
from reliquary.queueing.changes.retention import retain, retain_moved, retained_dropped
from reliquary.queueing.changes.telling import tell
from reliquary.queueing.feed import facts as feed_facts
from reliquary.queueing.feed.consumers import consumer_dropped, consumer_placed
from reliquary.queueing.history.keeping import keep
from reliquary.queueing.model import facts, tables
from reliquary.queueing.model.directory.objects import kind_of
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.names.formats import key_of, parse_format, parse_single
from reliquary.queueing.model.names.multicast import normalized
from reliquary.queueing.model.order import Order
from reliquary.queueing.model.queue import Queue
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.model.tables import (
    COUNTERS,
    DELAYED,
    DIRECTORY,
    EXPIRY,
    HOLDS,
    MANAGER,
    ONLY,
    OUTCOMES,
    POSITIONS,
    QUEUES,
    SEQUENCE,
    TRANSACTIONS,
    Copy,
    Counters,
    DirectoryRow,
    Expiry,
    Hold,
    directory_key,
    expiry_key,
    hold_key,
    position_key,
    queue_key,
    transaction_key,
)
from reliquary.queueing.model.travel.link import Link
from reliquary.queueing.staging.apply import APPLY as APPLY_STAGING
from reliquary.queueing.staging.facts import StagePublished


def apply(state: State, fact: Fact) -> None:
    """Make a fact true and say it in this turn."""
    if state.history is not None:
        tell(state, state.history.notes, fact)
    _APPLY[type(fact)](state, fact)
    state.draft.state(fact)


def settle(state: State) -> None:
    """Stage what is kept once a batch: counters, and the numbers that are spoken for."""
    for queue in state.dirty:
        queue.dirty = False
        floors = queue.order.floors()
        kept = queue.retained, queue.retained_size
        counters = Counters(queue.stored, queue.stored_size, floors, queue.lost, queue.delayed, *kept)
        state.rows.put(COUNTERS, queue_key(queue.number), counters)
    state.dirty.clear()
    if state.sequence_dirty:
        state.sequence_dirty = False
        sequence = tables.Sequence(state.ceiling, state.expiry_floor, state.last_number, state.lost)
        state.rows.put(SEQUENCE, ONLY, sequence)
    if state.history is not None:
        keep(state, state.history)


def adopt(state: State, record: Queue, counters: Counters, *, locked: int = 0) -> None:
    """Take a queue into memory; `locked` of its rows belong to prepared transactions or are held."""
    order = Order(
        state.rows,
        record.number,
        stored=counters.count - locked,
        floors=counters.floors,
        window=state.sizes.window,
    )
    queue = QueueState(
        record,
        order,
        counters.count,
        counters.size,
        delayed=counters.delayed,
        lost=counters.lost,
        retained=counters.retained,
        retained_size=counters.retained_size,
    )
    _listen(state, record)
    state.forget_names()
    if record.outgoing is not None:
        carrier = state.carriers.of(parse_single(record.outgoing.destination))
        queue.link = Link.of(record.outgoing, carrier)
    state.queues[record.number] = queue
    state.queue_order.add(record)
    if not record.deleting:
        state.by_identifier[record.identifier] = queue
    state.total_bytes += counters.size
    state.last_number = max(state.last_number, record.number)
    if record.outgoing is not None and not record.deleting:
        state.outgoing[key_of(parse_format(record.outgoing.destination))] = queue
    elif not record.is_journal and not record.deleting:
        state.names[state.parse(record.pathname).key] = record.number
        if record.parent is not None:
            state.queues[record.parent].subqueues.add(record.number)


# -- queues


def _manager_named(state: State, fact: facts.ManagerNamed) -> None:
    state.know(fact.record)
    if state.history is not None:
        state.history.notes.lineage = fact.record.lineage
    state.forget_names()
    state.rows.put(MANAGER, ONLY, fact.record)


def _queue_created(state: State, fact: facts.QueueCreated) -> None:
    state.rows.put(QUEUES, queue_key(fact.queue.number), fact.queue)
    adopt(state, fact.queue, Counters())


def _queue_changed(state: State, fact: facts.QueueChanged) -> None:
    state.rows.put(QUEUES, queue_key(fact.queue.number), fact.queue)
    queue = state.queues[fact.queue.number]
    if _listened(queue.record) != _listened(fact.queue):
        _forget_listener(state, queue.record)
        _listen(state, fact.queue)
    queue.record = fact.queue
    state.forget_names()
    if fact.queue.deleting:
        _forget_name(state, fact.queue)


def _queue_deleted(state: State, fact: facts.QueueDeleted) -> None:
    queue = state.queues.pop(fact.number)
    state.queue_order.remove(queue.record)
    state.forget_names()
    there = max(queue.stored, len(queue.order))  # some of either are not in the other
    left = there + queue.delayed + len(queue.delayed_express) + queue.retained
    assert not left, f"queue {fact.number} still holds {left} messages"
    assert not queue.consumers, f"queue {fact.number} still has consumers"
    for lookup_id in queue.order.locked:  # of prepared transactions, which keep the messages
        state.rows.delete(POSITIONS, position_key(fact.number, lookup_id))
    _forget_name(state, queue.record)
    _forget_listener(state, queue.record)
    state.rows.delete(QUEUES, queue_key(fact.number))
    state.rows.delete(COUNTERS, queue_key(fact.number))
    if queue.dirty:
        state.dirty.remove(queue)
    if queue.lost:
        state.lost = _sum(state.lost, queue.lost)
        state.sequence_dirty = True


def _forget_name(state: State, record: Queue) -> None:
    state.by_identifier.pop(record.identifier, None)
    if record.outgoing is not None:
        state.outgoing.pop(key_of(parse_format(record.outgoing.destination)), None)
        return
    key = state.parse(record.pathname).key
    if state.names.get(key) == record.number:
        del state.names[key]
    if record.parent is not None and record.parent in state.queues:
        state.queues[record.parent].subqueues.discard(record.number)


def _listen(state: State, record: Queue) -> None:
    address = _listened(record)
    if address:
        state.listeners_changed = state.listeners_changed or address not in state.listeners
        state.listeners.setdefault(address, set()).add(record.number)


def _forget_listener(state: State, record: Queue) -> None:
    address = _listened(record)
    if address:
        state.listeners[address].discard(record.number)
        if not state.listeners[address]:
            del state.listeners[address]
            state.listeners_changed = True


def _listened(record: Queue) -> str:
    """The multicast address that a queue gets messages from, if any."""
    settings = record.settings
    if settings.multicast_address is None or settings.transactional or record.deleting or record.outgoing:
        return ""
    try:
        return normalized(settings.multicast_address)
    except UsageError:  # it was stored before addresses were looked at
        return ""


# -- messages and positions


def _messages_stored(state: State, fact: facts.MessagesStored) -> None:
    queue = state.queues[fact.queue]
    if fact.prepared:
        for position in fact.positions:
            queue.order.remove(position.lookup_id)
    state.shelf.put(fact.positions, fact.messages, fresh=not fact.prepared)
    _place(state, queue, fact.positions, fresh=not fact.prepared)


def _stage_published(state: State, fact: StagePublished) -> None:
    state.shelf.put_again(fact.stamped)
    _place(state, state.queues[fact.queue], fact.positions, fresh=True)


def _position_copied(state: State, fact: facts.PositionCopied) -> None:
    state.shelf.share(fact.position)
    _place(state, state.queues[fact.queue], (fact.position,), fresh=True)


def _position_moved(state: State, fact: facts.PositionMoved) -> None:
    source, position = state.queues[fact.source], fact.position
    [before] = _displace(state, source, (position,))
    if before.arrival:
        forget_number(state, source, before)
    if position.arrival:  # the number is of the feed that it leaves
        position = msgspec.structs.replace(position, arrival=0)
    if source.consumers and retain_moved(state, source, before):
        position = msgspec.structs.replace(position, shared=True)
    _place(state, state.queues[fact.target], (position,), fresh=False, moved=True)


def _positions_removed(state: State, fact: facts.PositionsRemoved) -> None:
    queue = state.queues[fact.queue]
    gone: Sequence[Position] = _displace(state, queue, fact.positions)
    for position in gone:
        if position.arrival:
            forget_number(state, queue, position)
    if queue.consumers:
        gone = retain(state, queue, gone)
    state.shelf.drop(gone)


def _positions_marked(state: State, fact: facts.PositionsMarked) -> None:
    queue = state.queues[fact.queue]
    for position in fact.positions:
        before = queue.order.mark(position)
        if before.expires and not position.expires:
            _forget_deadline(state, fact.queue, before)
        if position.purged and not before.purged:
            _watch(state, fact.queue, position, position.purged)
        if not position.express:
            state.rows.put(POSITIONS, position_key(fact.queue, position.lookup_id), position)


def _positions_delayed(state: State, fact: facts.PositionsDelayed) -> None:
    queue, positions = state.queues[fact.queue], fact.positions
    _displace(state, queue, positions)
    _put_off(state, queue, keep_numbers(state, queue, positions) if queue.mark else positions)


def _positions_due(state: State, fact: facts.PositionsDue) -> None:
    queue = state.queues[fact.queue]
    stored = [position for position in fact.positions if not position.express]
    for position in fact.positions:
        if position.express:
            del queue.delayed_express[position.lookup_id]
        else:
            state.rows.delete(DELAYED, position_key(fact.queue, position.lookup_id))
            state.rows.delete(EXPIRY, expiry_key(position.due, fact.queue, position.lookup_id))
    _weigh(state, queue, fact.positions, stored, -1)
    queue.delayed -= len(stored)
    seen = tuple(msgspec.structs.replace(position, due=0) for position in fact.positions)
    _place(state, queue, seen, fresh=True)


def _put_off(
    state: State, queue: QueueState, positions: Sequence[Position], *, prepared: bool = False
) -> None:
    """Keep positions out of sight until they are due; `prepared` when they have rows among the others."""
    stored = [position for position in positions if not position.express]
    for position in positions:
        key = position_key(queue.number, position.lookup_id)
        if position.express:
            queue.delayed_express[position.lookup_id] = position
        else:
            state.rows.put(DELAYED, key, position, fresh=True)
        if prepared:
            state.rows.delete(POSITIONS, key)
        _watch(state, queue.number, position, position.due)
        if position.expires:
            _watch(state, queue.number, position, position.expires)
    _weigh(state, queue, positions, stored, +1)
    queue.delayed += len(stored)


def _place(
    state: State, queue: QueueState, positions: tuple[Position, ...], *, fresh: bool, moved: bool = False
) -> None:
    """Put positions into a queue, for all to see unless they are delayed; `fresh`: without rows yet."""
    unlike = [position for position in positions if position.due or position.express or position.expires]
    later = [position for position in unlike if position.due]
    if later:
        _put_off(state, queue, later, prepared=not fresh)
        positions = tuple(position for position in positions if not position.due)
        if not positions:
            return
    if queue.mark:
        positions = number(state, queue, positions, moved=moved)
    here = queue.number
    stored = [position for position in positions if not position.express] if unlike else positions
    rows = {position_key(here, position.lookup_id): position for position in stored}
    if fresh:
        state.rows.put_all(POSITIONS, rows)
    else:
        for key, position in rows.items():
            state.rows.put(POSITIONS, key, position)
    _count(state, queue, positions, stored, +1)
    for position in unlike:
        if position.expires and not position.due:
            _watch(state, here, position, position.expires)
    queue.order.extend(positions)
    state.wake(queue, positions)


def _displace(state: State, queue: QueueState, positions: tuple[Position, ...]) -> list[Position]:
    """Take positions out of a queue, available or locked; as they were there."""
    here = queue.number
    gone = queue.order.remove_all([position.lookup_id for position in positions])
    for position in gone:
        if position.expires or position.purged:
            _forget_moments(state, here, position)
    stored = [position for position in positions if not position.express]
    state.rows.delete_all(POSITIONS, [position_key(here, position.lookup_id) for position in stored])
    _count(state, queue, positions, stored, -1)
    return gone


def _count(
    state: State, queue: QueueState, positions: Sequence[Position], stored: Sequence[Position], sign: int
) -> None:
    """Keep the counters; all positions of a queue add up to what its counters say."""
    _weigh(state, queue, positions, stored, sign)
    queue.stored += sign * len(stored)


def _weigh(
    state: State, queue: QueueState, positions: Sequence[Position], stored: Sequence[Position], sign: int
) -> None:
    """Keep the bytes that count against quotas."""
    size = sign * sum([position.size for position in positions])
    stored_size = size if len(stored) == len(positions) else sign * sum(each.size for each in stored)
    state.total_bytes += size
    queue.stored_size += stored_size
    queue.express_size += size - stored_size
    if state.rooms.watched:
        state.note_room(queue)
    if stored:
        state.touch(queue)


def _watch(state: State, number: int, position: Position, moment: int) -> None:
    """Note when a position expires or is due."""
    if position.express:
        heappush(state.express_expiry, (moment, number, position.lookup_id))
        return
    key = expiry_key(moment, number, position.lookup_id)
    state.rows.put(EXPIRY, key, Expiry())
    if key < state.expiry_scan:
        state.expiry_scan = key
        state.sequence_dirty = True


def _forget_moments(state: State, number: int, position: Position) -> None:
    if not position.express:
        for moment in filter(None, (position.expires, position.purged)):
            state.rows.delete(EXPIRY, expiry_key(moment, number, position.lookup_id))
        state.overdue.pop((number, position.lookup_id), None)


def _forget_deadline(state: State, number: int, position: Position) -> None:
    """It no longer expires; a purge that waits for it is another matter."""
    if not position.express:
        state.rows.delete(EXPIRY, expiry_key(position.expires, number, position.lookup_id))
        if not position.purged:
            state.overdue.pop((number, position.lookup_id), None)


# -- large bodies


def _piece_kept(state: State, fact: facts.PieceKept) -> None:
    state.shelf.bodies.add(fact.spool, fact.data)


def _spools_dropped(state: State, fact: facts.SpoolsDropped) -> None:
    for spool in fact.spools:
        state.shelf.bodies.drop(spool)


# -- copies


def _copy_lost(state: State, fact: facts.CopyLost) -> None:
    queue = state.queues.get(fact.queue)
    one = tuple(int(each is fact.copy) for each in Copy)
    if queue is not None:
        queue.lost = _sum(queue.lost, one)
        state.touch(queue)
    else:
        state.lost = _sum(state.lost, one)
        state.sequence_dirty = True


def _sum(some: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(sum, zip_longest(some, more, fillvalue=0)))


# -- transactions


def _transaction_prepared(state: State, fact: facts.TransactionPrepared) -> None:
    sent = [operation for operation in fact.record.operations if operation.kind == "enqueue"]
    for operation, message in zip(sent, fact.messages, strict=True):
        position, queue = operation.position, state.queues.get(operation.queue)
        state.shelf.put((position,), (message,))
        if queue is not None:
            waits = msgspec.structs.replace(position, arrival=PENDING)
            state.rows.put(POSITIONS, position_key(queue.number, position.lookup_id), waits, fresh=True)
            queue.order.hold(waits)
            state.note_room(queue)
    state.rows.put(TRANSACTIONS, transaction_key(fact.identifier), fact.record)


def _transaction_ended(state: State, fact: facts.TransactionEnded) -> None:
    key = transaction_key(fact.identifier)
    state.rows.delete(TRANSACTIONS, key)
    state.rows.put(OUTCOMES, key, fact.outcome)
    state.outcomes[fact.identifier] = fact.outcome


def _outcomes_forgotten(state: State, fact: facts.OutcomesForgotten) -> None:
    for identifier in fact.identifiers:
        del state.outcomes[identifier]
        state.rows.delete(OUTCOMES, transaction_key(identifier))


def _prepared_dropped(state: State, fact: facts.PreparedMessageDropped) -> None:
    queue, position = state.queues.get(fact.queue), fact.position
    if queue is not None:
        queue.order.remove(position.lookup_id)
        state.rows.delete(POSITIONS, position_key(queue.number, position.lookup_id))
    state.shelf.drop((position,))


# -- holds


def _hold_begun(state: State, fact: facts.HoldBegun) -> None:
    key = hold_key(fact.holder, fact.key)
    state.queues[fact.queue].order.lock_all(fact.positions)
    before = state.holds.get(key)
    assert before is None or before.queue == fact.queue, f"{fact.key} is held in another queue"
    held = tuple([position.lookup_id for position in fact.positions])
    stored = tuple([position.lookup_id for position in fact.positions if not position.express])
    if before is None:
        state.holds[key] = Hold(fact.queue, held)
        if stored:
            state.rows.put(HOLDS, key, Hold(fact.queue, stored), fresh=True)
    else:
        state.holds[key] = Hold(fact.queue, before.lookup_ids + held)
        if stored:
            kept = state.rows.get(HOLDS, key)
            on_disk = () if kept is None else kept.lookup_ids
            state.rows.put(HOLDS, key, Hold(fact.queue, on_disk + stored))


def _holds_over(state: State, fact: facts.HoldsOver) -> None:
    for each in fact.keys:
        key = hold_key(fact.holder, each)
        del state.holds[key]
        state.rows.delete(HOLDS, key)


# -- the directory


def _object_written(state: State, fact: facts.DirectoryObjectWritten) -> None:
    state.directory.put(fact.subject)
    key = directory_key(kind_of(fact.subject), fact.subject.identifier)
    state.rows.put(DIRECTORY, key, DirectoryRow(fact.subject))


def _object_removed(state: State, fact: facts.DirectoryObjectRemoved) -> None:
    state.directory.remove(fact.kind, fact.identifier)
    state.rows.delete(DIRECTORY, directory_key(fact.kind, fact.identifier))


_APPLY: Final[dict[type[Fact], Callable[[State, Any], None]]] = {
    facts.ManagerNamed: _manager_named,
    facts.QueueCreated: _queue_created,
    facts.QueueChanged: _queue_changed,
    facts.QueueDeleted: _queue_deleted,
    facts.MessagesStored: _messages_stored,
    facts.PositionCopied: _position_copied,
    facts.PositionMoved: _position_moved,
    facts.PositionsRemoved: _positions_removed,
    facts.PositionsMarked: _positions_marked,
    facts.PositionsDelayed: _positions_delayed,
    facts.PositionsDue: _positions_due,
    facts.PieceKept: _piece_kept,
    facts.SpoolsDropped: _spools_dropped,
    facts.TransactionPrepared: _transaction_prepared,
    facts.TransactionEnded: _transaction_ended,
    facts.OutcomesForgotten: _outcomes_forgotten,
    facts.PreparedMessageDropped: _prepared_dropped,
    facts.HoldBegun: _hold_begun,
    facts.HoldsOver: _holds_over,
    facts.DirectoryObjectWritten: _object_written,
    facts.DirectoryObjectRemoved: _object_removed,
    facts.CopyLost: _copy_lost,
    feed_facts.ConsumerPlaced: consumer_placed,
    feed_facts.ConsumerDropped: consumer_dropped,
    feed_facts.RetainedDropped: retained_dropped,
    StagePublished: _stage_published,
    **APPLY_STAGING,
}
