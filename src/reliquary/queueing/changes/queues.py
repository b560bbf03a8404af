"""Apply facts about the manager and its queues, in memory and in the rows."""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.turn import Fact
from reliquary.queueing.changes.counters import add_losses
from reliquary.queueing.changes.hand_outs import settle
from reliquary.queueing.model import facts
from reliquary.queueing.model.feature import Applier
from reliquary.queueing.model.names.formats import key_of, parse_format, parse_single
from reliquary.queueing.model.names.multicast import normalized
from reliquary.queueing.model.order import Order
from reliquary.queueing.model.queue import Queue
from reliquary.queueing.model.queue_state import Counts, FeedState, QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import (
    COUNTERS,
    MANAGER,
    ONLY,
    POSITIONS,
    QUEUES,
    Counters,
    position_key,
    queue_key,
)
from reliquary.queueing.model.travel.link import Link


def adopt(state: State, record: Queue, counters: Counters, *, locked: int = 0) -> None:
    """Load a queue into memory; `locked` rows belong to prepared transactions or are reserved by carriers."""
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
        Counts(counters.count, counters.size, delayed=counters.delayed, lost=counters.lost),
        feed=FeedState(retained=counters.retained, retained_size=counters.retained_size),
    )
    _listen(state, record)
    state.forget_names()
    if record.outgoing is not None:
        carrier = state.travel.carriers.of(parse_single(record.outgoing.destination))
        queue.link = Link.of(record.outgoing, carrier)
    state.queues[record.number] = queue  # DM-145
    state.names.in_order.add(record)
    if not record.deleting:
        state.names.by_identifier[record.identifier] = queue
    state.totals.bytes += counters.size
    state.numbers.last_queue = max(state.numbers.last_queue, record.number)
    if record.outgoing is not None and not record.deleting:
        state.names.outgoing[key_of(parse_format(record.outgoing.destination))] = queue
    elif not record.is_journal and not record.deleting:
        state.names.by_path[state.parse(record.pathname).key] = record.number
        if record.parent is not None:
            state.queues[record.parent].subqueues.add(record.number)


def _manager_named(state: State, fact: facts.ManagerNamed) -> None:
    state.manager.know(fact.record)
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
    state.names.in_order.remove(queue.record)
    state.forget_names()
    there = max(
        queue.counts.stored, len(queue.order)
    )  # each of the two counts positions that the other lacks
    left = there + queue.counts.delayed + len(queue.delayed_express) + queue.feed.retained
    assert not left, f"queue {fact.number} still holds {left} messages"
    assert not queue.feed.consumers, f"queue {fact.number} still has consumers"
    for lookup_id in queue.order.locked:  # prepared transactions keep these messages
        state.rows.delete(POSITIONS, position_key(fact.number, lookup_id))
    settle(state, queue, list(queue.order.locked))
    _forget_name(state, queue.record)
    _forget_listener(state, queue.record)
    state.rows.delete(QUEUES, queue_key(fact.number))
    state.rows.delete(COUNTERS, queue_key(fact.number))
    if queue.counts.dirty:
        state.totals.dirty.remove(queue)
    if queue.counts.lost:
        state.totals.lost = add_losses(state.totals.lost, queue.counts.lost)
        state.numbers.dirty = True


def _forget_name(state: State, record: Queue) -> None:
    state.names.by_identifier.pop(record.identifier, None)
    if record.outgoing is not None:
        state.names.outgoing.pop(key_of(parse_format(record.outgoing.destination)), None)
        return
    key = state.parse(record.pathname).key
    if state.names.by_path.get(key) == record.number:
        del state.names.by_path[key]
    if record.parent is not None and record.parent in state.queues:
        state.queues[record.parent].subqueues.discard(record.number)


def _listen(state: State, record: Queue) -> None:
    address = _listened(record)
    if address:
        state.travel.listeners_changed = (
            state.travel.listeners_changed or address not in state.travel.listeners
        )
        state.travel.listeners.setdefault(address, set()).add(record.number)


def _forget_listener(state: State, record: Queue) -> None:
    address = _listened(record)
    if address:
        state.travel.listeners[address].discard(record.number)
        if not state.travel.listeners[address]:
            del state.travel.listeners[address]
            state.travel.listeners_changed = True


def _listened(record: Queue) -> str:
    """Return the multicast address that a queue gets messages from; empty if there is none."""
    settings = record.settings
    if settings.multicast_address is None or settings.transactional or record.deleting or record.outgoing:
        return ""
    try:
        return normalized(settings.multicast_address)
    except UsageError:  # it was stored by a release that did not check addresses
        return ""


APPLIERS: Final[dict[type[Fact], Applier]] = {
    facts.ManagerNamed: _manager_named,
    facts.QueueCreated: _queue_created,
    facts.QueueChanged: _queue_changed,
    facts.QueueDeleted: _queue_deleted,
}
