"""TimeToBeReceived, [MS-MQDMPR] 3.1.2.4 and 3.1.7.2.7; in outgoing queues TimeToReachQueue too.

Deadlines are rows in the order of time, so a million pending ones cost their rows and one timer.
A reader never sees a message whose time is over, whether the timer has fired yet or not.
"""

from __future__ import annotations

from heapq import heappop

from reliquary.base.time import Instant
from reliquary.base.turn import Continue, TimerFired
from reliquary.queueing.leave import leave
from reliquary.queueing.message import MessageClass, Position
from reliquary.queueing.state import QueueState, State
from reliquary.queueing.tables import EXPIRY, PAST_THE_END, expiry_key, expiry_of


def is_over(position: Position, now: Instant) -> bool:
    """Whether its time to be received has run out."""
    return 0 < position.expires <= now


def expire(state: State, queue: QueueState, position: Position) -> None:
    """Time To Be Received Timer Expired (DM-297), or the time to reach the destination is over."""
    reason = MessageClass.NACK_RECEIVE_TIMEOUT
    if queue.link is not None:
        message = state.shelf.get(position)
        on_the_way = message.time_to_reach_queue <= message.time_to_be_received
        reason = (
            MessageClass.NACK_REACH_QUEUE_TIMEOUT
            if on_the_way
            else MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER
        )
    leave(state, queue, (position,), reason)


def release(state: State, queue: QueueState, lookup_id: int, now: Instant) -> None:
    """A locked position comes back, unless the queue was purged or its time ran out meanwhile."""
    position = queue.order.locked[lookup_id]
    if lookup_id in queue.purge_pending:
        # DEPARTS from 3.1.4.5 (AN-10): the reason is the purge, not AckReceive, because nobody
        # received it.
        leave(state, queue, (position,), MessageClass.NACK_QUEUE_PURGED)  # DM-113, DM-213
    elif is_over(position, now):  # AN-09
        expire(state, queue, position)
    else:
        state.unlock(queue, lookup_id)  # DM-114, DM-214


def on_timer(state: State, fired: TimerFired, now: Instant) -> None:
    """Let everything expire whose time is over, a turn's worth at a time."""
    state.next_expiry = 0
    due = _due_rows(state, now) + _due_express(state, now)
    for deadline, number, lookup_id in due:
        queue = state.queues[number]
        position = queue.order.get(lookup_id)
        assert position is not None, f"{lookup_id:#x} of queue {number} expires and is not there"
        if lookup_id not in queue.order.locked:
            expire(state, queue, position)
        elif not position.express:  # `release` looks again, and after a restart so do we
            state.overdue[number, lookup_id] = deadline
    if len(due) >= state.sizes.at_once:
        state.draft.ask(Continue(fired))
    else:
        watch_next(state, now)


def watch_next(state: State, now: Instant) -> None:
    """Set the timer for the next deadline there is."""
    rows = state.rows.range(EXPIRY, state.expiry_scan, PAST_THE_END, limit=1)
    deadlines = [expiry_of(key)[0] for key, _ in rows] + [entry[0] for entry in state.express_expiry[:1]]
    if deadlines:
        state.watch_clock(min(deadlines), now)


def _due_rows(state: State, now: Instant) -> list[tuple[int, int, int]]:
    """Deadlines that have passed since the last look."""
    last = expiry_key(now + 1, 0, 0)
    rows = state.rows.range(EXPIRY, state.expiry_scan, last, limit=state.sizes.at_once)
    full = len(rows) == state.sizes.at_once
    state.expiry_scan = rows[-1][0] + b"\0" if full else max(last, state.expiry_scan)
    return [expiry_of(key) for key, _ in rows]


def _due_express(state: State, now: Instant) -> list[tuple[int, int, int]]:
    """Express deadlines; the heap forgets late, so messages that are gone are passed over."""
    due: dict[tuple[int, int, int], None] = {}  # one that was moved away and back is there twice
    while state.express_expiry and state.express_expiry[0][0] <= now and len(due) < state.sizes.at_once:
        deadline, number, lookup_id = heappop(state.express_expiry)
        queue = state.queues.get(number)
        position = queue.order.get(lookup_id) if queue else None
        if position is not None and position.expires == deadline:  # not a dead letter in its own queue
            due[deadline, number, lookup_id] = None
    return list(due)
