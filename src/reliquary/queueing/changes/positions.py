"""Apply facts about messages and their positions, in memory and in the rows."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush
from typing import Final

import msgspec

from reliquary.base.turn import Fact
from reliquary.queueing.changes.hand_outs import hand_out, settle
from reliquary.queueing.changes.numbering import forget_number, keep_numbers, number
from reliquary.queueing.changes.retention import check_limits, retain, retain_moved
from reliquary.queueing.model import facts
from reliquary.queueing.model.feature import Applier
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.staging import Hidden
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import (
    DELAYED,
    EXPIRY,
    LAST_ID,
    POSITIONS,
    Expiry,
    QueueRow,
    expiry_key,
    position_key,
)


def _messages_stored(state: State, fact: facts.MessagesStored) -> None:
    queue = state.queues[fact.queue]
    if fact.prepared:
        for position in fact.positions:
            queue.order.remove(position.lookup_id)
    state.messages.put(fact.positions, fact.messages, fresh=not fact.prepared)
    place(state, queue, fact.positions, fact.messages, fresh=not fact.prepared)


def _position_copied(state: State, fact: facts.PositionCopied) -> None:
    state.messages.share(fact.position)
    place(state, state.queues[fact.queue], (fact.position,), fresh=True)


def _position_moved(state: State, fact: facts.PositionMoved) -> None:
    source = state.queues[fact.source]
    position = state.messages.set_apart(fact.position)
    [before] = _displace(state, source, (fact.position,))
    _delete_rows(state, source, (fact.position,))
    if before.arrival:
        forget_number(state, source, before)
    if position.arrival:  # the number belongs to the feed that the position leaves
        position = msgspec.structs.replace(position, arrival=0)
    if source.feed.consumers and retain_moved(state, source, before):
        position = msgspec.structs.replace(position, shared=True)
    place(state, state.queues[fact.target], (position,), fresh=False, moved=True)


def _positions_removed(state: State, fact: facts.PositionsRemoved) -> None:
    queue = state.queues[fact.queue]
    gone: Sequence[Position] = _displace(state, queue, fact.positions)
    for position in gone:
        if position.arrival:
            forget_number(state, queue, position)
    if queue.feed.consumers:
        gone = retain(state, queue, gone)
    _delete_rows(state, queue, fact.positions)
    state.messages.drop(gone)


def _positions_marked(state: State, fact: facts.PositionsMarked) -> None:
    queue = state.queues[fact.queue]
    for position in fact.positions:
        before = queue.order.mark(position)
        if before.expires and not position.expires:
            _forget_deadline(state, fact.queue, before)
        if position.purged and not before.purged:
            _watch(state, fact.queue, position, position.purged)
        if not position.express:
            message = state.messages.get(position, whole=False) if position.inline_in else None
            key = position_key(fact.queue, position.lookup_id)
            state.rows.put(POSITIONS, key, QueueRow(position, message), size=position.size if message else 0)
    settle(state, queue, [position.lookup_id for position in fact.positions], written=fact.positions)


def _positions_handed_out(state: State, fact: facts.PositionsHandedOut) -> None:
    queue = state.queues[fact.queue]
    queue.order.lock_all(fact.positions)
    hand_out(state, queue, fact.positions)


def _positions_delayed(state: State, fact: facts.PositionsDelayed) -> None:
    queue = state.queues[fact.queue]
    positions = tuple([state.messages.set_apart(position) for position in fact.positions])
    _displace(state, queue, positions)
    _delete_rows(state, queue, positions)
    _put_off(state, queue, keep_numbers(state, queue, positions) if queue.feed.mark else positions)


def _positions_due(state: State, fact: facts.PositionsDue) -> None:
    queue = state.queues[fact.queue]
    for position in fact.positions:
        if position.express:
            del queue.delayed_express[position.lookup_id]
        else:
            state.rows.delete(DELAYED, position_key(fact.queue, position.lookup_id))
            state.rows.delete(EXPIRY, expiry_key(position.due, fact.queue, position.lookup_id))
    queue.counts.delayed -= _weigh(state, queue, fact.positions, -1)
    seen = tuple(msgspec.structs.replace(position, due=0) for position in fact.positions)
    place(state, queue, seen, fresh=True)


def _put_off(
    state: State, queue: QueueState, positions: Sequence[Position], *, prepared: bool = False
) -> None:
    """Hide positions until they are due; `prepared` means that they have rows in `positions`."""
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
    queue.counts.delayed += _weigh(state, queue, positions, +1)


def place(
    state: State,
    queue: QueueState,
    positions: tuple[Position, ...],
    messages: Sequence[Message] = (),
    *,
    fresh: bool,
    moved: bool = False,
    keeps_number: bool = False,
) -> None:
    """Put positions into a queue, visible unless they are delayed; `fresh` ones have no rows yet.

    `messages` has the messages that are stored in the rows of their positions.  `keeps_number` says that
    no reader of the feed has got a number from their sequences on.
    """
    unlike = []
    for position in positions:
        if position.due or position.express or position.expires:
            unlike.append(position)  # noqa: PERF401 - for the one message of most calls a loop is quicker
    if unlike and (later := [position for position in unlike if position.due]):
        _put_off(state, queue, later, prepared=not fresh)
        here = [place for place, position in enumerate(positions) if not position.due]
        positions = tuple([positions[place] for place in here])
        messages = [messages[place] for place in here] if messages else ()
        if not positions:
            return
    if queue.feed.mark and not keeps_number:
        positions = number(state, queue, positions, moved=moved)
    _put_rows(state, queue.number, positions, messages, fresh=fresh)
    queue.counts.stored += _weigh(state, queue, positions, +1)
    for position in unlike:
        if position.expires and not position.due:
            _watch(state, queue.number, position, position.expires)
    if len(positions) == 1:
        queue.order.add(positions[0])
    else:
        queue.order.extend(positions)
    state.wake(queue, positions)


def hide(queue: QueueState, numbers: range, size: int) -> None:
    """Hide the sequence numbers of a large batch, and reserve the bytes of its messages."""
    queue.order.hide(numbers)
    queue.counts.reserved += size


def show(state: State, queue: QueueState, hidden: Hidden, size: int) -> None:
    """Show the hidden positions of a large batch; `size` bytes were reserved for it."""
    queue.counts.reserved -= size
    queue.order.show(hidden.lanes)
    queue.counts.stored += hidden.count
    queue.counts.stored_size += hidden.size
    state.totals.bytes += hidden.size
    state.note_room(queue)
    state.touch(queue)
    check_limits(state, queue)  # messages that come after a hidden batch are kept for consumers
    first = min([lowest for lowest, _ in hidden.lanes.values()], default=LAST_ID)
    state.wake(queue, queue.order.some(first - 1, len(queue.readers.waiting) + 1))


def _put_rows(
    state: State, number: int, positions: Sequence[Position], messages: Sequence[Message], *, fresh: bool
) -> None:
    """Write the rows of positions, with the messages that are stored in them."""
    rows, size = {}, 0
    for place, position in enumerate(positions):
        if position.inline_in:
            size += position.size
            message = messages[place] if messages else None
            rows[position_key(number, position.lookup_id)] = QueueRow(position, message)
        elif not position.express:
            rows[position_key(number, position.lookup_id)] = QueueRow(position)
    if fresh:
        state.rows.put_all(POSITIONS, rows, size=size)
    else:
        for key, row in rows.items():
            state.rows.put(POSITIONS, key, row)


def _delete_rows(state: State, queue: QueueState, positions: Sequence[Position]) -> None:
    """Delete the rows of positions that were taken out of their queue."""
    number = queue.number
    keys = [position_key(number, position.lookup_id) for position in positions if not position.express]
    state.rows.delete_all(POSITIONS, keys)


def _displace(state: State, queue: QueueState, positions: Sequence[Position]) -> list[Position]:
    """Take available or locked positions out of a queue; return them as the queue had them.

    Their rows are still there, so that an inline message can be set apart.
    """
    lookup_ids = [position.lookup_id for position in positions]
    gone = queue.order.remove_all(lookup_ids)
    settle(state, queue, lookup_ids)
    timed = []
    for position in gone:
        if position.expires or position.purged:
            timed.append(position)  # noqa: PERF401 - for the one message of most calls a loop is quicker
    if timed:
        _forget_moments(state, queue.number, timed)
    queue.counts.stored -= _weigh(state, queue, positions, -1)
    return gone


def _weigh(state: State, queue: QueueState, positions: Sequence[Position], sign: int) -> int:
    """Add the bytes of positions to the counters of the quotas, or subtract them with the sign -1.

    The result is the number of positions that have rows.
    """
    counts, size, express_size, stored = queue.counts, 0, 0, len(positions)
    for position in positions:
        size += position.size
        if position.express:
            express_size += position.size
            stored -= 1
    state.totals.bytes += sign * size
    counts.stored_size += sign * (size - express_size)  # DM-288
    counts.express_size += sign * express_size
    if state.travel.rooms.watched:
        state.note_room(queue)
    if stored and not counts.dirty:
        state.touch(queue)
    return stored


def _watch(state: State, number: int, position: Position, moment: int) -> None:
    """Write a row, or an entry of the heap, for the moment when a position expires or is due."""
    if position.express:
        heappush(state.deadlines.express, (moment, number, position.lookup_id))
        return
    key = expiry_key(moment, number, position.lookup_id)
    state.rows.put(EXPIRY, key, Expiry())
    if key < state.deadlines.scan:
        state.deadlines.scan = key
        state.numbers.dirty = True


def watch_deadlines(state: State, number: int, positions: Sequence[Position]) -> None:
    """Write rows for the moments when hidden positions expire."""
    for position in positions:
        if position.expires:
            _watch(state, number, position, position.expires)


def watch_again(state: State, moment: int) -> None:
    """Let the next scan begin at this moment: the scans since then have left out hidden positions."""
    key = expiry_key(moment, 0, 0)
    if key < state.deadlines.scan:
        state.deadlines.scan = key
        state.numbers.dirty = True


def _forget_moments(state: State, number: int, positions: Sequence[Position]) -> None:
    """Delete the rows of the moments when positions expire or are purged; express ones have none."""
    keys, overdue = [], state.deadlines.overdue
    for position in positions:
        if position.express:
            continue
        lookup_id = position.lookup_id
        if position.expires:
            keys.append(expiry_key(position.expires, number, lookup_id))
        if position.purged:
            keys.append(expiry_key(position.purged, number, lookup_id))
        if overdue:
            overdue.pop((number, lookup_id), None)
    state.rows.delete_all(EXPIRY, keys)


def _forget_deadline(state: State, number: int, position: Position) -> None:
    """Delete the deadline of a position; the moment of a pending purge stays."""
    if not position.express:
        state.rows.delete(EXPIRY, expiry_key(position.expires, number, position.lookup_id))
        if not position.purged:
            state.deadlines.overdue.pop((number, position.lookup_id), None)


# -- large bodies


def _piece_kept(state: State, fact: facts.PieceKept) -> None:
    state.messages.bodies.add(fact.spool, fact.data)


def _spools_dropped(state: State, fact: facts.SpoolsDropped) -> None:
    for spool in fact.spools:
        state.messages.bodies.drop(spool)


APPLIERS: Final[dict[type[Fact], Applier]] = {
    facts.MessagesStored: _messages_stored,
    facts.PositionCopied: _position_copied,
    facts.PositionMoved: _position_moved,
    facts.PositionsRemoved: _positions_removed,
    facts.PositionsHandedOut: _positions_handed_out,
    facts.PositionsMarked: _positions_marked,
    facts.PositionsDelayed: _positions_delayed,
    facts.PositionsDue: _positions_due,
    facts.PieceKept: _piece_kept,
    facts.SpoolsDropped: _spools_dropped,
}
