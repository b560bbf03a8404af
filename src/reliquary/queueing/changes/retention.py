"""Retain messages that left a queue with consumers, on disk, until every consumer has passed them.

    positions --received, expired, purged--> retained         the message's row stays unchanged
              --moved, journaled-----------> retained, and the other queue: both share the message's row
    retained  --every cursor has passed----> deleted; with its last position, the message's row too
              --beyond all limits----------> the consumers lose it (`feed.limits`), and it is deleted

A retained message counts in no quota and not in the queue's number of messages, and cannot be received.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import RETAINED, arrival_key

SLACK: Final = 4
"""A limit may be exceeded by its 2 to the power of SLACK-th part before messages are deleted."""


def retain(state: State, queue: QueueState, positions: Sequence[Position]) -> Sequence[Position]:
    """Retain the positions that a consumer has not read yet, and return the other ones."""
    pinned = queue.feed.pinned
    kept = [each for each in positions if arrival_of(each) > pinned and not each.express]
    if not kept:
        return positions
    _keep(state, queue, [state.messages.set_apart(each) for each in kept])
    if len(kept) == len(positions):
        return ()
    return [each for each in positions if arrival_of(each) <= pinned or each.express]


def retain_moved(state: State, queue: QueueState, position: Position) -> bool:
    """Retain a position whose message moves to another queue, if a consumer has not read it yet.

    Return whether it is retained, so that two positions now share the message's row.
    """
    if position.express or arrival_of(position) <= queue.feed.pinned:
        return False
    state.messages.share(position)
    _keep(state, queue, [msgspec.structs.replace(position, inline_in=0, shared=True)])
    return True


def _keep(state: State, queue: QueueState, positions: list[Position]) -> None:
    """Write rows of retained positions, and count them."""
    numbers = list(map(arrival_of, positions))
    rows = {
        arrival_key(queue.number, arrival): each for arrival, each in zip(numbers, positions, strict=True)
    }
    state.rows.put_all(RETAINED, rows)
    queue.feed.trimmed = min(queue.feed.trimmed, min(numbers) - 1)
    count_retained(state, queue, positions, +1)
    state.messages.uncache(positions)
    check_limits(state, queue)


def check_limits(state: State, queue: QueueState) -> None:
    """Mark the queue for a check at the end of the turn if it keeps more for consumers than the
    limits allow."""
    if queue.feed.limits and is_overfull(queue):
        state.turn.overfull[queue.number] = queue


def is_overfull(queue: QueueState) -> bool:
    """Return whether bytes or count of the kept messages exceed the limits of all consumers furthest behind.

    A limit may be exceeded by a sixteenth, so that several messages are deleted at a time.
    """
    kept, size = queue.feed.retained, queue.feed.retained_size
    return all(
        (0 < each.count < kept - (each.count >> SLACK)) or (0 < each.bytes < size - (each.bytes >> SLACK))
        for each in queue.feed.limits
    )


def count_retained(state: State, queue: QueueState, positions: Sequence[Position], sign: int) -> None:
    """Add retained positions to the counters of their queue, or take them out with the sign -1."""
    queue.feed.retained += sign * len(positions)
    queue.feed.retained_size += sign * sum([position.size for position in positions])
    state.touch(queue)
