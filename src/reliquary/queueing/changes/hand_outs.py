"""Keeps hand-outs on disk: one row with all positions that one receive has locked.

    receive --hand_out--> row: queue, LookupIdentifiers, tries     on disk before a consumer sees a message
       |
       |-- the last position is removed -------> the row is deleted
       |-- a position is written again --------> its own row has the tries; the hand-out names it no more
       '-- a crash ----------------------------> recovery writes the tries into the rows of the positions

So a message that is received and acknowledged changes no row of its own until it is deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from reliquary.base.rows import Rows, every
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import (
    HAND_OUTS,
    POSITIONS,
    HandOut,
    QueueRow,
    hand_out_key,
    position_key,
)


def hand_out(state: State, queue: QueueState, positions: Sequence[Position]) -> None:
    """Write the hand-out of these positions, whose attempts are counted; express positions have no rows."""
    lookup_ids, tries = [], []
    for position in positions:
        if not position.express:
            lookup_ids.append(position.lookup_id)
            tries.append(position.handed_out)
    if not lookup_ids:
        return
    state.hand_outs.last += 1
    number = state.hand_outs.last
    queue.readers.handed_out.update(dict.fromkeys(lookup_ids, number))
    state.hand_outs.open[number] = len(lookup_ids)
    record = HandOut(queue.number, tuple(lookup_ids), tuple(tries if len(set(tries)) > 1 else tries[:1]))
    state.rows.put(HAND_OUTS, hand_out_key(number), record, fresh=True)


def settle(
    state: State, queue: QueueState, lookup_ids: Sequence[int], *, written: Sequence[Position] = ()
) -> None:
    """Remove positions from their hand-outs: their rows are deleted, or `written` with their attempts."""
    handed_out = queue.readers.handed_out
    if not handed_out or not lookup_ids:
        return
    numbers = [handed_out.pop(lookup_id, 0) for lookup_id in lookup_ids]
    counts = {numbers[0]: len(numbers)}
    if numbers.count(numbers[0]) < len(numbers):
        counts = Counter(numbers)
    for number, count in counts.items():
        if not number:
            continue
        left = state.hand_outs.open[number] - count
        if not left:
            del state.hand_outs.open[number]
            state.rows.delete(HAND_OUTS, hand_out_key(number))
            continue
        state.hand_outs.open[number] = left
        if written:
            _shorten(state, queue, number)


def _shorten(state: State, queue: QueueState, number: int) -> None:
    """Write a hand-out without the positions that have left it; its counts of attempts may be out of date."""
    handed_out, locked = queue.readers.handed_out, queue.order.locked
    lookup_ids = tuple([lookup_id for lookup_id, each in handed_out.items() if each == number])
    tries = tuple([locked[lookup_id].handed_out for lookup_id in lookup_ids])
    state.rows.put(HAND_OUTS, hand_out_key(number), HandOut(queue.number, lookup_ids, tries))


def recover(rows: Rows) -> None:
    """Write the attempts of all hand-outs into the rows of their positions, whose locks a crash has ended."""
    for key, record in every(rows, HAND_OUTS):
        tries = record.tries * len(record.lookup_ids) if len(record.tries) == 1 else record.tries
        for lookup_id, count in zip(record.lookup_ids, tries, strict=True):
            place = position_key(record.queue, lookup_id)
            row = rows.get(POSITIONS, place)  # None if it was acknowledged, or its queue was deleted
            if row is not None and row.position.handed_out < count:
                position = msgspec.structs.replace(row.position, handed_out=count)
                rows.put(POSITIONS, place, QueueRow(position, row.message))
        rows.delete(HAND_OUTS, key)
