"""Assigns arrival numbers: the index of each message in the feed of its queue.

A LookupIdentifier cannot be this number: its high bits are the priority (a lane), a message that is moved or
journaled keeps it, and a message can become visible long after it was numbered, by a commit or at the end of
a delay.

    sequence    ...  41   42   43   44   45   46   47          a message of transaction T has 42
    a reader                        '-- the mark: 44           "no later message gets a number up to 44"
    T commits                                 '-- its arrival  46, with a row in `late`: 46 -> 42

The arrival number of a message is its own sequence if that is above the queue's mark when the message becomes
visible.  Else the message gets the next free number and a row in `late`.  A message that is moved into the
queue always gets a new number, because it may have been in this queue before.  A new number raises the mark,
so that the later messages of a transaction, whose sequences are above the mark, get numbers after the first.
So every number up to a mark that a reader was given is final: it belongs to a message that is visible and on
disk, or it will never belong to a message.

    Position.arrival    0          the number is its own sequence, the low bits of its LookupIdentifier
                        above 0    the number, with a row in `late`
                        PENDING    a prepared transaction sent it: it has no number until the commit

A large batch gets its places in several turns (`staging.turns`).  Until the last one its numbers are hidden:
readers get no number from the first of them on, so its messages keep their own sequences.

A queue without consumers has the mark 0 and assigns no numbers.  A message that waits for a retry has arrived
and keeps its number; a message that was never visible has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from reliquary.queueing.model.message import Position
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import LATE, SEQUENCE_MASK, Late, arrival_key

PENDING: Final = -1
"""The arrival of a message that a prepared transaction sent: its row is not visible to readers."""

_replace = msgspec.structs.replace


def arrival_of(position: Position) -> int:
    """Return the arrival number of a position."""
    return position.arrival or position.lookup_id & SEQUENCE_MASK


def raise_mark(state: State, queue: QueueState) -> int:
    """Return the last number that readers may know; in a queue with consumers, the mark is raised.

    It is the last sequence that was assigned, or the last one before a batch that is hidden in the queue.
    """
    if queue.feed.consumers:
        queue.feed.mark = state.numbers.sequence
    return known_until(queue, state.numbers.sequence)


def known_until(queue: QueueState, number: int) -> int:
    """Return the number, or the last number before a batch that is hidden in the queue."""
    hidden = queue.order.hidden
    return number if hidden is None else min(number, hidden.start - 1)


def number(
    state: State, queue: QueueState, positions: tuple[Position, ...], *, moved: bool
) -> tuple[Position, ...]:
    """Return positions, with arrival numbers, that become visible in a queue with consumers.

    `moved` says that they come from another queue.
    """
    if not moved and min([position.lookup_id & SEQUENCE_MASK for position in positions]) > queue.feed.mark:
        return positions
    return tuple(
        [
            position
            if position.express or position.arrival or not (moved or arrival_of(position) <= queue.feed.mark)
            else _renumber(state, queue, position)
            for position in positions
        ]
    )


def _renumber(state: State, queue: QueueState, position: Position) -> Position:
    """Give a position the next number, and raise the mark so that later arrivals get higher numbers."""
    queue.feed.mark = state.numbers.next_sequence()
    return _put_late(state, queue, position, queue.feed.mark)


def keep_numbers(state: State, queue: QueueState, positions: Sequence[Position]) -> tuple[Position, ...]:
    """Return positions that begin to wait for a retry, with rows in `late` that keep their numbers."""
    return tuple(
        position
        if position.express or position.arrival
        else _put_late(state, queue, position, arrival_of(position))
        for position in positions
    )


def forget_number(state: State, queue: QueueState, position: Position) -> None:
    """Delete the `late` row of a position that has left the queue."""
    if position.arrival > 0:
        state.rows.delete(LATE, arrival_key(queue.number, position.arrival))


def _put_late(state: State, queue: QueueState, position: Position, arrival: int) -> Position:
    """Write a row in `late` and return the position with this arrival number."""
    state.rows.put(LATE, arrival_key(queue.number, arrival), Late(position.lookup_id))
    return _replace(position, arrival=arrival)
