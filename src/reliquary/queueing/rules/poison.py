"""Count how often a message was delivered and not consumed; delay it, or move it to the poison queue.

    delivered --> consumed                                        by a commit or an acknowledged receipt
        |
        '--> returned: aborted + 1 --> expired or purged ------------> it leaves the queue
                    |--> delivered as often as the queue allows ----> QUEUE;poison
                    |--> the queue delays retries ------------------> delayed
                    '--> otherwise ---------------------------------> available, at its old place

The count of deliveries is on disk before a consumer sees the message.  So a consumer that fails has used
one attempt, even if this process fails with it.  The next read moves a message without a try left to
`QUEUE;poison`.

A message in the poison queue keeps its counters, has the reason NACK_RECEIVE_REJECTED and never expires.  No
acknowledgement is sent for it, because it may still be received: an operator can move it to another queue.
A move sets the counters of any message to zero (AbortCounter of [MS-MQQP]; MoveCounter goes on).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from reliquary.base.time import SECOND, Instant
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.message import MessageClass, Position
from reliquary.queueing.model.names.pathnames import Pathname
from reliquary.queueing.model.positions import PositionEvent, state_of, step
from reliquary.queueing.model.positions import State as Standing
from reliquary.queueing.model.queue import QueueSettings, QueueType, exceeds
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.creation import create_at
from reliquary.queueing.rules.expiry import delay_positions, expire, is_over

POISON: Final = "poison"
"""The name of the subqueue for poison messages."""
NO_ROOM_DELAY: Final = 60
"""Seconds before a message that did not fit into the poison queue is handed out again."""

_replace = msgspec.structs.replace


def hand_out(state: State, queue: QueueState, positions: Iterable[Position]) -> tuple[Position, ...]:
    """Lock positions for a receipt or a transaction, count the delivery, and return the counted positions."""
    counted = tuple([_replace(position, handed_out=position.handed_out + 1) for position in positions])
    apply(state, facts.PositionsHandedOut(queue.number, counted))  # DM-205, DM-206, DM-219, DM-220
    return counted


def give_back(
    state: State, queue: QueueState, lookup_ids: Iterable[int], now: Instant, *, unseen: bool = False
) -> None:
    """Unlock positions that were not consumed: each becomes available, delayed or poison, or expires.

    `unseen`: no consumer has seen the messages, so this delivery does not count.
    """
    kept: list[Position] = []
    delayed: list[Position] = []
    for lookup_id in lookup_ids:
        position = queue.order.locked[lookup_id]
        if step(state_of(position, locked=True), PositionEvent.ABORTED) is Standing.DELETED:
            expire(state, queue, position)  # DM-113, DM-213
            continue
        position = _returned(position, unseen=unseen)
        delay = 0 if unseen else retry_delay(queue, position)
        if is_over(position, now):  # AN-09
            expire(state, queue, position)
        elif is_poison(queue, position):
            put_aside(state, queue, position, now)
        elif delay:
            delayed.append(_replace(position, due=now + delay * SECOND))
        else:
            kept.append(position)
    if delayed:
        delay_positions(state, queue, delayed, now)
    if kept:
        apply(state, facts.PositionsMarked(queue.number, tuple(kept)))
        for position in kept:
            state.unlock(queue, position.lookup_id)  # DM-114, DM-214


def _returned(position: Position, *, unseen: bool) -> Position:
    """Return the position with its counters after a delivery that was not consumed."""
    if unseen:
        return _replace(position, handed_out=max(position.handed_out - 1, 0))
    return _replace(position, aborted=position.aborted + 1)


def retry_delay(queue: QueueState, position: Position) -> int:
    """Return the seconds until a message is delivered again; they double with each return."""
    settings = queue.record.settings
    if not settings.retry_delay or queue.record.deleting:
        return 0
    doublings = min(max(position.aborted - 1, 0), 32)
    return min(settings.retry_delay << doublings, settings.longest_retry_delay)


def is_poison(queue: QueueState, position: Position) -> bool:
    """Return whether a message was delivered as often as its queue allows."""
    limit = queue.record.settings.poison_limit
    return 0 < limit <= position.handed_out and _can_have_poison(queue)


def _can_have_poison(queue: QueueState) -> bool:
    """Return whether a queue can have poison messages: not journals, system, outgoing or poison queues."""
    record = queue.record
    return not (
        record.deleting
        or record.is_journal
        or record.kind is QueueType.SYSTEM
        or record.outgoing is not None
        or record.pathname.casefold().endswith(f";{POISON}")
    )


def put_aside(state: State, queue: QueueState, position: Position, now: Instant) -> None:
    """Move a message to the poison queue of its queue; if that is full, the message is delayed instead."""
    target = _poison_of(state, queue, now)
    if exceeds(target.record.settings.quota, target.total_bytes + position.size):
        state.totals.poison_overflows += 1
        delay_positions(state, queue, [_replace(position, due=now + NO_ROOM_DELAY * SECOND)], now)
        return
    reason = MessageClass.NACK_RECEIVE_REJECTED
    source = {"origin": queue.number, "origin_path": queue.record.pathname}
    kept = _replace(position, reason=reason, expires=0, **source)
    apply(state, facts.PositionMoved(queue.number, target.number, kept, reason))


def _poison_of(state: State, queue: QueueState, now: Instant) -> QueueState:
    """Return `QUEUE;poison`; create it if needed, transactional and with access rights like its queue."""
    name = state.parse(queue.record.pathname)
    path = Pathname(name.kind, name.name, subqueue=POISON)
    found = state.find(path)
    if found is not None:
        return found
    own = queue.record.settings
    settings = QueueSettings(transactional=own.transactional, security=own.security)
    return state.queues[create_at(state, path, settings, now).number]


def moved(position: Position) -> Position:
    """Return the position of a message that is moved to another queue: its counters begin again at zero."""
    if position.reason is MessageClass.NACK_RECEIVE_REJECTED:
        position = _replace(position, reason=MessageClass.NORMAL, origin=0, origin_path="")
    return _replace(position, handed_out=0, aborted=0, moved=position.moved + 1, purged=0)
