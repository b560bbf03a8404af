"""Expire messages and end delays at their moment: TimeToBeReceived, [MS-MQDMPR] 3.1.2.4 and 3.1.7.2.7.

In outgoing queues TimeToReachQueue applies too.  Delays are an extension of this project.

Deadlines and the ends of delays are rows in the order of time, so a million of them need one timer only.
A reader never sees an expired message, whether the timer has fired yet or not.  Delayed messages are in a
table of their own, so that reads of the queue do not pass over them.
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
from reliquary.queueing.model.positions import PositionEvent, state_of, step
from reliquary.queueing.model.positions import State as Standing
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
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

QueuePosition = tuple[int, int]
"""A queue's number and a LookupIdentifier."""


def is_over(position: Position, now: Instant) -> bool:
    """Return whether a message has expired, or was purged while it was locked."""
    return 0 < position.expires <= now or position.purged > 0


def expire(state: State, queue: QueueState, position: Position) -> None:
    """Remove an expired or purged message from its queue (Time To Be Received Timer Expired, DM-297).

    In an outgoing queue this is the check before sending: messages that are left may be sent (QB-014,
    QB-278).
    """
    if position.due:
        [position] = end_delay(state, queue, (position,))
    leave(state, queue, (position,), _reason_of(state, queue, position))  # DM-113, DM-213, DM-297


def _reason_of(state: State, queue: QueueState, position: Position) -> MessageClass:
    """Return the message class with the reason why the message leaves: purged, or the time that ended."""
    # DEPARTS from 3.1.4.5 (AN-10): after an abort the reason is the purge, not AckReceive, because
    # no reader received the message.
    if position.purged:
        return MessageClass.NACK_QUEUE_PURGED
    if queue.link is None:
        return MessageClass.NACK_RECEIVE_TIMEOUT
    message = state.messages.get(position, whole=False)
    on_the_way = message.time_to_reach_queue <= message.time_to_be_received
    return (
        MessageClass.NACK_REACH_QUEUE_TIMEOUT if on_the_way else MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER
    )  # QB-280


def release(state: State, queue: QueueState, lookup_id: int, now: Instant) -> None:
    """Unlock a position that no reader has seen, or expire it if its time has run out meanwhile."""
    position = queue.order.locked[lookup_id]
    if is_over(position, now):  # AN-09
        expire(state, queue, position)
    else:
        state.unlock(queue, lookup_id)


def release_all(state: State, queue: QueueState, lookup_ids: Sequence[int], now: Instant) -> None:
    """Unlock or expire many positions, like `release`; it is fastest in the order of the queue."""
    locked = queue.order.locked
    over = [lookup_id for lookup_id in lookup_ids if is_over(locked[lookup_id], now)]
    for lookup_id in over:
        expire(state, queue, locked[lookup_id])
    state.unlock_all(queue, [each for each in lookup_ids if each in locked] if over else lookup_ids)


# -- delays


def delayed(state: State, queue: QueueState, lookup_id: int) -> Position | None:
    """Return the delayed position with this identifier, or None."""
    if not queue.counts.delayed:
        return queue.delayed_express.get(lookup_id)
    key = position_key(queue.number, lookup_id)
    return queue.delayed_express.get(lookup_id) or state.rows.get(DELAYED, key)


def some_delayed(state: State, queue: QueueState, after: int, limit: int) -> list[Position]:
    """Return up to `limit` delayed positions after an identifier, in the order of the queue."""
    found = [each for lookup_id, each in queue.delayed_express.items() if lookup_id > after]
    if queue.counts.delayed:
        first, last = position_key(queue.number, after + 1), position_key(queue.number, LAST_ID)
        found += [row for _, row in state.rows.range(DELAYED, first, last, limit=limit)]
    return sorted(found, key=lambda each: each.lookup_id)[:limit]


def delay_positions(state: State, queue: QueueState, positions: Sequence[Position], now: Instant) -> None:
    """Delay positions: readers do not see them before the moment in their `due`."""
    apply(state, facts.PositionsDelayed(queue.number, tuple(positions)))
    state.watch_clock(min(position.due for position in positions), now)


def end_delay(state: State, queue: QueueState, positions: Sequence[Position]) -> list[Position]:
    """End the delay of positions, so that readers see them; return the positions without their delay."""
    if positions:
        apply(state, facts.PositionsDue(queue.number, tuple(positions)))
    return [msgspec.structs.replace(position, due=0) for position in positions]


# -- the timer


def on_timer(state: State, number: int, now: Instant) -> None:
    """Expire messages and end delays whose moment has come; a turn handles a limited number of them."""
    del number
    state.deadlines.timer = 0
    due = _due_rows(state, now) + _due_express(state, now)
    moments: dict[QueuePosition, int] = {}  # a message whose delay and deadline end together is found twice
    for moment, number, lookup_id in due:
        moments.setdefault((number, lookup_id), moment)
    visible: dict[int, list[Position]] = {}
    for (number, lookup_id), moment in moments.items():
        queue = state.queues[number]
        position = queue.order.get(lookup_id) or delayed(state, queue, lookup_id)
        if position is None and queue.order.hides(lookup_id):  # the scan comes back when it is shown
            state.deadlines.overdue.setdefault((number, lookup_id), moment)
            continue
        assert position is not None, f"{lookup_id:#x} of queue {number} has a moment and is not there"
        event = PositionEvent.EXPIRED if is_over(position, now) else PositionEvent.DUE
        match step(state_of(position, locked=lookup_id in queue.order.locked), event):
            case Standing.DELETED:
                expire(state, queue, position)
            case Standing.AVAILABLE:
                visible.setdefault(number, []).append(position)
            case _:  # locked: its unlock checks the time again, and so does a restart
                if not position.express:
                    state.deadlines.overdue.setdefault((number, lookup_id), moment)
    for number, positions in visible.items():
        end_delay(state, state.queues[number], positions)
    if len(due) >= state.sizes.at_once:
        state.draft.ask(Continue(TimerFired(("expiry", 0))))
    else:
        watch_next(state, now)


def watch_next(state: State, now: Instant) -> None:
    """Set the timer to the next deadline or end of a delay, if there is one."""
    rows = state.rows.range(EXPIRY, state.deadlines.scan, PAST_THE_END, limit=1)
    moments = [expiry_of(key)[0] for key, _ in rows] + [entry[0] for entry in state.deadlines.express[:1]]
    if moments:
        state.watch_clock(min(moments), now)


def _due_rows(state: State, now: Instant) -> list[tuple[int, int, int]]:
    """Return moment, queue and identifier of stored messages whose moment has come since the last call."""
    last = expiry_key(now + 1, 0, 0)
    rows = state.rows.range(EXPIRY, state.deadlines.scan, last, limit=state.sizes.at_once)
    full = len(rows) == state.sizes.at_once
    state.deadlines.scan = rows[-1][0] + b"\0" if full else max(last, state.deadlines.scan)
    return [expiry_of(key) for key, _ in rows]


def _due_express(state: State, now: Instant) -> list[tuple[int, int, int]]:
    """Return moment, queue and identifier of express messages whose moment has come.

    The heap also has entries of messages that have left their queue; these are skipped.
    """
    due: dict[tuple[int, int, int], None] = {}  # a message that was moved away and back has two entries
    while state.deadlines.express and state.deadlines.express[0][0] <= now and len(due) < state.sizes.at_once:
        moment, number, lookup_id = heappop(state.deadlines.express)
        queue = state.queues.get(number)
        position = (queue.order.get(lookup_id) or delayed(state, queue, lookup_id)) if queue else None
        # an entry is old if the message became a dead letter in this queue, or if its delay has ended before
        if position is not None and moment in (position.expires, position.due, position.purged):
            due[moment, number, lookup_id] = None
    return list(due)
