"""TimeToBeReceived, [MS-MQDMPR] 3.1.2.4 and 3.1.7.2.7; in outgoing queues TimeToReachQueue too;
and delays, which are ours.

Deadlines and the ends of delays are rows in the order of time, so a million pending ones cost
their rows and one timer.  A reader never sees a message whose time is over, whether the timer has
fired yet or not.  What is delayed lies in rows of its own, which no read of the queue goes over.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop

import msgspec

from reliquary.base.time import Instant
from reliquary.base.turn import Continue, TimerFired
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.positions import Happening, state_of, step
from reliquary.queueing.model.positions import State as Standing
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.model.tables import (
    DELAYED,
    EXPIRY,
    LAST_ID,
    PAST_THE_END,
    expiry_key,
    expiry_of,
    position_key,
)
from reliquary.queueing.rules.leave import leave

Place = tuple[int, int]
"""A queue's number and a LookupIdentifier."""


def is_over(position: Position, now: Instant) -> bool:
    """Whether its time to be received has run out, or its queue was purged meanwhile."""
    return 0 < position.expires <= now or position.purged > 0


def expire(state: State, queue: QueueState, position: Position) -> None:
    """Time To Be Received Timer Expired (DM-297); a purge that waited for the message ends it too."""
    if position.due:
        [position] = let_in(state, queue, (position,))
    leave(state, queue, (position,), _why(state, queue, position))  # DM-113, DM-213, DM-297


def _why(state: State, queue: QueueState, position: Position) -> MessageClass:
    # DEPARTS from 3.1.4.5 (AN-10): after an abort the reason is the purge, not AckReceive, because
    # nobody received it.
    if position.purged:
        return MessageClass.NACK_QUEUE_PURGED
    if queue.link is None:
        return MessageClass.NACK_RECEIVE_TIMEOUT
    message = state.shelf.get(position, whole=False)
    on_the_way = message.time_to_reach_queue <= message.time_to_be_received
    return (
        MessageClass.NACK_REACH_QUEUE_TIMEOUT if on_the_way else MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER
    )


def release(state: State, queue: QueueState, lookup_id: int, now: Instant) -> None:
    """A locked position comes back that nobody saw, unless its time ran out meanwhile."""
    position = queue.order.locked[lookup_id]
    if is_over(position, now):  # AN-09
        expire(state, queue, position)
    else:
        state.unlock(queue, lookup_id)


def release_all(state: State, queue: QueueState, lookup_ids: Sequence[int], now: Instant) -> None:
    """The same for many; it is quickest in the order of the queue."""
    locked = queue.order.locked
    over = [lookup_id for lookup_id in lookup_ids if is_over(locked[lookup_id], now)]
    for lookup_id in over:
        expire(state, queue, locked[lookup_id])
    state.unlock_all(queue, [each for each in lookup_ids if each in locked] if over else lookup_ids)


# -- delays


def delayed(state: State, queue: QueueState, lookup_id: int) -> Position | None:
    """A position that nobody sees yet."""
    if not queue.delayed:
        return queue.delayed_express.get(lookup_id)
    key = position_key(queue.number, lookup_id)
    return queue.delayed_express.get(lookup_id) or state.rows.get(DELAYED, key)


def some_delayed(state: State, queue: QueueState, after: int, limit: int) -> list[Position]:
    """Up to so many delayed positions behind this place, in the order of the queue."""
    found = [each for lookup_id, each in queue.delayed_express.items() if lookup_id > after]
    if queue.delayed:
        first, last = position_key(queue.number, after + 1), position_key(queue.number, LAST_ID)
        found += [row for _, row in state.rows.range(DELAYED, first, last, limit=limit)]
    return sorted(found, key=lambda each: each.lookup_id)[:limit]


def put_off(state: State, queue: QueueState, positions: Sequence[Position], now: Instant) -> None:
    """Hide positions until the moment each of them says."""
    apply(state, facts.PositionsDelayed(queue.number, tuple(positions)))
    state.watch_clock(min(position.due for position in positions), now)


def let_in(state: State, queue: QueueState, positions: Sequence[Position]) -> list[Position]:
    """The delay of these is over; as they are then."""
    if positions:
        apply(state, facts.PositionsDue(queue.number, tuple(positions)))
    return [msgspec.structs.replace(position, due=0) for position in positions]


# -- the clock


def on_timer(state: State, number: int, now: Instant) -> None:
    """Let everything expire or be seen whose moment has come, a turn's worth at a time."""
    del number
    state.next_expiry = 0
    due = _due_rows(state, now) + _due_express(state, now)
    moments: dict[Place, int] = {}  # one whose delay and whose time ends together is there twice
    for moment, number, lookup_id in due:
        moments.setdefault((number, lookup_id), moment)
    seen: dict[int, list[Position]] = {}
    for (number, lookup_id), moment in moments.items():
        queue = state.queues[number]
        position = queue.order.get(lookup_id) or delayed(state, queue, lookup_id)
        assert position is not None, f"{lookup_id:#x} of queue {number} has a moment and is not there"
        happening = Happening.EXPIRED if is_over(position, now) else Happening.DUE
        match step(state_of(position, locked=lookup_id in queue.order.locked), happening):
            case Standing.DELETED:
                expire(state, queue, position)
            case Standing.AVAILABLE:
                seen.setdefault(number, []).append(position)
            case _:  # whoever has it looks again when it comes back, and after a restart so do we
                if not position.express:
                    state.overdue.setdefault((number, lookup_id), moment)
    for number, positions in seen.items():
        let_in(state, state.queues[number], positions)
    if len(due) >= state.sizes.at_once:
        state.draft.ask(Continue(TimerFired(("expiry", 0))))
    else:
        watch_next(state, now)


def watch_next(state: State, now: Instant) -> None:
    """Set the timer for the next moment there is."""
    rows = state.rows.range(EXPIRY, state.expiry_scan, PAST_THE_END, limit=1)
    moments = [expiry_of(key)[0] for key, _ in rows] + [entry[0] for entry in state.express_expiry[:1]]
    if moments:
        state.watch_clock(min(moments), now)


def _due_rows(state: State, now: Instant) -> list[tuple[int, int, int]]:
    """Moments that have passed since the last look."""
    last = expiry_key(now + 1, 0, 0)
    rows = state.rows.range(EXPIRY, state.expiry_scan, last, limit=state.sizes.at_once)
    full = len(rows) == state.sizes.at_once
    state.expiry_scan = rows[-1][0] + b"\0" if full else max(last, state.expiry_scan)
    return [expiry_of(key) for key, _ in rows]


def _due_express(state: State, now: Instant) -> list[tuple[int, int, int]]:
    """Moments of express messages; the heap forgets late, so those that are gone are passed over."""
    due: dict[tuple[int, int, int], None] = {}  # one that was moved away and back is there twice
    while state.express_expiry and state.express_expiry[0][0] <= now and len(due) < state.sizes.at_once:
        moment, number, lookup_id = heappop(state.express_expiry)
        queue = state.queues.get(number)
        position = (queue.order.get(lookup_id) or delayed(state, queue, lookup_id)) if queue else None
        # not a dead letter in its own queue, nor one whose delay ended before
        if position is not None and moment in (position.expires, position.due, position.purged):
            due[moment, number, lookup_id] = None
    return list(due)
