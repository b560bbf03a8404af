"""TimeToBeReceived, [MS-MQDMPR] 3.1.2.4 and 3.1.7.2.7.

Deadlines are rows in the order of time, so a million pending ones cost their rows and one timer.
A reader never sees a message whose time is over, whether the timer has fired yet or not.
"""

from __future__ import annotations

from heapq import heappop
from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import Continue, TimerFired
from reliquary.queueing.leave import leave
from reliquary.queueing.message import MessageClass, Position
from reliquary.queueing.state import QueueState, State
from reliquary.queueing.tables import EXPIRY, PAST_THE_END, expiry_key, expiry_of

AT_ONCE: Final = 1000
"""Messages that one turn lets expire."""


def is_over(position: Position, now: Instant) -> bool:
    """Whether its time to be received has run out."""
    return 0 < position.expires <= now


def expire(state: State, queue: QueueState, position: Position) -> None:
    """Time To Be Received Timer Expired (DM-297)."""
    leave(state, queue, position, MessageClass.NACK_RECEIVE_TIMEOUT)


def release(state: State, queue: QueueState, lookup_id: int, now: Instant) -> None:
    """A locked position comes back, unless the queue was purged or its time ran out meanwhile."""
    position = queue.order.locked[lookup_id]
    if lookup_id in queue.purge_pending:
        # DEPARTS from 3.1.4.5 (AN-10): the reason is the purge, not AckReceive, because nobody
        # received it.
        leave(state, queue, position, MessageClass.NACK_QUEUE_PURGED)  # DM-113, DM-213
    elif is_over(position, now):  # AN-09
        expire(state, queue, position)
    else:
        state.unlock(queue, lookup_id)  # DM-114, DM-214


def on_timer(state: State, fired: TimerFired, now: Instant) -> None:
    """Let everything expire whose time is over, a turn's worth at a time."""
    state.next_expiry = 0
    due = _due_rows(state, now) + _due_express(state, now)
    for number, lookup_id in due:
        queue = state.queues[number]
        if lookup_id not in queue.order.locked:  # a reader has it; `release` looks again
            position = queue.order.get(lookup_id)
            assert position is not None, f"{lookup_id:#x} of queue {number} expires and is not there"
            expire(state, queue, position)
    if len(due) >= AT_ONCE:
        state.draft.ask(Continue(fired))
    else:
        watch_next(state, now)


def watch_next(state: State, now: Instant) -> None:
    """Set the timer for the next deadline there is."""
    rows = state.rows.range(EXPIRY, expiry_key(state.expiry_floor, 0, 0), PAST_THE_END, limit=1)
    deadlines = [expiry_of(key)[0] for key, _ in rows] + [entry[0] for entry in state.express_expiry[:1]]
    if deadlines:
        state.watch_clock(min(deadlines), now)


def _due_rows(state: State, now: Instant) -> list[tuple[int, int]]:
    first, last = expiry_key(state.expiry_floor, 0, 0), expiry_key(now + 1, 0, 0)
    rows = state.rows.range(EXPIRY, first, last, limit=AT_ONCE)
    for key, _ in rows:
        state.rows.delete(EXPIRY, key)
    state.expiry_floor = expiry_of(rows[-1][0])[0] if len(rows) == AT_ONCE else now
    return [expiry_of(key)[1:] for key, _ in rows]


def _due_express(state: State, now: Instant) -> list[tuple[int, int]]:
    """Express deadlines; the heap forgets late, so messages that are gone are passed over."""
    due: list[tuple[int, int]] = []
    while state.express_expiry and state.express_expiry[0][0] <= now and len(due) < AT_ONCE:
        _, number, lookup_id = heappop(state.express_expiry)
        if number in state.queues and state.queues[number].order.get(lookup_id) is not None:
            due.append((number, lookup_id))
    return due
