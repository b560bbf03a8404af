"""Arrival numbers: the place of each message in the feed of its queue.

A LookupIdentifier alone will not do: priorities are lanes above the sequence, what is moved or
journaled keeps its own, and a commit or the end of a delay shows a message long after it was numbered.

    sequence   ...  41   42   43   44   45   46   47          a message of transaction T has 42
    told                       '-- the mark: 44               "nothing new up to 44"
    T commits                                '-- its arrival  46, noted in `late`: 46 -> 42

The number of a message is its own sequence, unless that is not above the mark of the queue when it becomes
visible; then it gets the next one there is, and a row in `late`.  What is moved into the queue always
gets a new one: it may have been here before.  A new number moves the mark along, so that the rest of a
transaction, sent after the mark was told, stays behind its beginning.  So every number up to a mark that was
told is final: it is some message's, visible and on disk, or nobody's for ever.

    Position.arrival    0          its own sequence, the low bits of its LookupIdentifier
                        more       its number, with a row in `late`
                        PENDING    of a prepared transaction: it has not arrived, and may never

A queue that nobody reads has the mark 0, and nothing of this is paid for there.  What is put off for a
retry has arrived and keeps its number; what was never visible has not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from reliquary.queueing.model.message import Position
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.model.tables import LATE, SEQUENCE_MASK, Late, arrival_key

PENDING: Final = -1
"""The arrival of what a prepared transaction sent: a row that nobody sees."""

_replace = msgspec.structs.replace


def arrival_of(position: Position) -> int:
    """Its number in the feed."""
    return position.arrival or position.lookup_id & SEQUENCE_MASK


def arrivals_of(positions: Sequence[Position]) -> list[int]:
    """The numbers of many."""
    return [each.arrival or each.lookup_id & SEQUENCE_MASK for each in positions]


def tell_mark(state: State, queue: QueueState) -> int:
    """The number above all that ever arrived; from now on nothing in a feed gets one up to it."""
    if queue.consumers:
        queue.mark = state.sequence
    return state.sequence


def number(
    state: State, queue: QueueState, positions: tuple[Position, ...], *, moved: bool
) -> tuple[Position, ...]:
    """Positions as they become visible in a queue that is read; `moved` when they were elsewhere before."""
    if not moved and min([position.lookup_id & SEQUENCE_MASK for position in positions]) > queue.mark:
        return positions
    return tuple(
        [
            position
            if position.express or position.arrival or not (moved or arrival_of(position) <= queue.mark)
            else _renumber(state, queue, position)
            for position in positions
        ]
    )


def _renumber(state: State, queue: QueueState, position: Position) -> Position:
    """Give it the next number; whatever becomes visible after it comes behind it, so the mark goes along."""
    queue.mark = state.next_sequence()
    return _note(state, queue, position, queue.mark)


def keep_numbers(state: State, queue: QueueState, positions: Sequence[Position]) -> tuple[Position, ...]:
    """Positions that are put off for a retry: they have arrived, and are found by their numbers."""
    return tuple(
        position
        if position.express or position.arrival
        else _note(state, queue, position, arrival_of(position))
        for position in positions
    )


def forget_number(state: State, queue: QueueState, position: Position) -> None:
    """It is not in the queue any more."""
    if position.arrival > 0:
        state.rows.delete(LATE, arrival_key(queue.number, position.arrival))


def _note(state: State, queue: QueueState, position: Position, arrival: int) -> Position:
    state.rows.put(LATE, arrival_key(queue.number, arrival), Late(position.lookup_id))
    return _replace(position, arrival=arrival)
