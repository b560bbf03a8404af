"""What was handed out and comes back: counted, put off, and put aside when it came back too often.

    handed out --> consumed                                     a commit, a receipt that is done with
        |
        '--> back: aborted + 1 --> over, or purged              it leaves
                    |--> handed out as often as the queue allows --> QUEUE;poison
                    |--> the queue delays retries ------------------> delayed
                    '--> available, at its old place

The count of hand-outs is on disk before anybody sees the message.  So a consumer that dies, or
takes this process along, has used up one of its tries: the next reader passes over a message that
has none left, and it goes to `QUEUE;poison` then.

A message in there keeps its counters and the reason NACK_RECEIVE_REJECTED, and never expires.  No
acknowledgement is sent for it, because it may still be received: a move to another queue returns
it, with counters at zero, as a move does for every message ([MS-MQQP]'s AbortCounter; MoveCounter
goes on).
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
from reliquary.queueing.model.positions import Happening, state_of, step
from reliquary.queueing.model.positions import State as Standing
from reliquary.queueing.model.queue import QueueSettings, QueueType, exceeds
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.rules.creation import create_at
from reliquary.queueing.rules.expiry import expire, is_over, put_off

POISON: Final = "poison"
NO_ROOM_DELAY: Final = 60
"""Seconds until a message that could not be put aside is looked at again."""

_replace = msgspec.structs.replace


def hand_out(state: State, queue: QueueState, positions: Iterable[Position]) -> list[Position]:
    """Somebody gets these on trial or in a transaction; they are told as counted."""
    counted = [_replace(position, handed_out=position.handed_out + 1) for position in positions]
    for position in counted:
        queue.order.lock(position.lookup_id)  # DM-205, DM-206, DM-219, DM-220
    apply(state, facts.PositionsMarked(queue.number, tuple(counted)))
    return counted


def give_back(
    state: State, queue: QueueState, lookup_ids: Iterable[int], now: Instant, *, unseen: bool = False
) -> None:
    """Nobody consumed these; `unseen` when nobody tried either, so that it does not count."""
    kept: list[Position] = []
    later: list[Position] = []
    for lookup_id in lookup_ids:
        position = queue.order.locked[lookup_id]
        if step(state_of(position, locked=True), Happening.ABORTED) is Standing.DELETED:
            expire(state, queue, position)  # DM-113, DM-213
            continue
        position = _returned(position, unseen=unseen)
        pause = 0 if unseen else retry_delay(queue, position)
        if is_over(position, now):  # AN-09
            expire(state, queue, position)
        elif is_poison(queue, position):
            put_aside(state, queue, position, now)
        elif pause:
            later.append(_replace(position, due=now + pause * SECOND))
        else:
            kept.append(position)
    if later:
        put_off(state, queue, later, now)
    if kept:
        apply(state, facts.PositionsMarked(queue.number, tuple(kept)))
        for position in kept:
            state.unlock(queue, position.lookup_id)  # DM-114, DM-214


def _returned(position: Position, *, unseen: bool) -> Position:
    if unseen:
        return _replace(position, handed_out=max(position.handed_out - 1, 0))
    return _replace(position, aborted=position.aborted + 1)


def retry_delay(queue: QueueState, position: Position) -> int:
    """Seconds until it is handed out again: twice as long each time it came back."""
    settings = queue.record.settings
    if not settings.retry_delay or queue.record.deleting:
        return 0
    doublings = min(max(position.aborted - 1, 0), 32)
    return min(settings.retry_delay << doublings, settings.longest_retry_delay)


def is_poison(queue: QueueState, position: Position) -> bool:
    """Whether it was handed out as often as its queue allows."""
    limit = queue.record.settings.poison_limit
    return 0 < limit <= position.handed_out and _puts_aside(queue)


def _puts_aside(queue: QueueState) -> bool:
    """Only what applications send to is watched: not journals, system queues, or the poison itself."""
    record = queue.record
    return not (
        record.deleting
        or record.is_journal
        or record.kind is QueueType.SYSTEM
        or record.outgoing is not None
        or record.pathname.casefold().endswith(f";{POISON}")
    )


def put_aside(state: State, queue: QueueState, position: Position, now: Instant) -> None:
    """Move a message to the poison of its queue; where that is full, it stays and nobody gets it."""
    target = _poison_of(state, queue, now)
    if exceeds(target.record.settings.quota, target.total_bytes + position.size):
        state.poison_overflows += 1
        put_off(state, queue, [_replace(position, due=now + NO_ROOM_DELAY * SECOND)], now)
        return
    reason = MessageClass.NACK_RECEIVE_REJECTED
    whence = {"origin": queue.number, "origin_path": queue.record.pathname}
    kept = _replace(position, reason=reason, expires=0, **whence)
    apply(state, facts.PositionMoved(queue.number, target.number, kept, reason))


def _poison_of(state: State, queue: QueueState, now: Instant) -> QueueState:
    """`QUEUE;poison`, made when it is needed first; transactional and for whom its queue is."""
    name = state.parse(queue.record.pathname)
    path = Pathname(name.kind, name.name, subqueue=POISON)
    found = state.find(path)
    if found is not None:
        return found
    own = queue.record.settings
    settings = QueueSettings(transactional=own.transactional, security=own.security)
    return state.queues[create_at(state, path, settings, now).number]


def moved(position: Position) -> Position:
    """As it comes into the queue it is moved to: it may be tried anew, and is poison no longer."""
    if position.reason is MessageClass.NACK_RECEIVE_REJECTED:
        position = _replace(position, reason=MessageClass.NORMAL, origin=0, origin_path="")
    return _replace(position, handed_out=0, aborted=0, moved=position.moved + 1, purged=0)
