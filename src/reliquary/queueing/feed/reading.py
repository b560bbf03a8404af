"""Read a range of a feed: positions in the order of their arrival numbers, from all tables that hold them.

    table       positions that are read from it
    positions   those whose arrival number is their own sequence, lane by lane, each lane from its floor
    late        those with a later arrival number; their rows are in `positions`, or in `delayed` while they
                wait for a retry
    retained    those that left the queue; only consumers read them

Most queues use one lane and have no late rows: then a page is one range of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple

import msgspec

from reliquary.base.faults import StoreDamage
from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.feed.plain import plain_positions
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.message_store import MANY
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import (
    DELAYED,
    LANE_SHIFT,
    LANES,
    LATE,
    POSITION_ROWS,
    POSITIONS_ALONE,
    RETAINED,
    SEQUENCE_MASK,
    Late,
    UndecodedQueueRow,
    arrival_key,
    position_key,
    undecoded_rows,
)

_NUMBER: Final = slice(4, None)
"""The bytes of the arrival number in a key of `late` or `retained`."""
_VALUE: Final = itemgetter(1)
"""Returns the value of a row, from its key and its value."""


class Page(NamedTuple):
    """Positions of a feed that were read together."""

    positions: Sequence[Position]
    reached: int
    """The page holds every position of the range up to this arrival number."""


def read(
    state: State,
    queue: QueueState,
    after: int,
    until: int,
    limit: int,
    *,
    whole: bool,
    messages: dict[int, msgspec.Raw] | None = None,
) -> Page:
    """Return the first positions with after < arrival <= until, at most `limit`.

    `whole` includes positions that left the queue or wait for a retry, as a consumer reads them.  Messages
    that lie in the rows of positions are added to `messages`, by their numbers.
    """
    until = min(until, SEQUENCE_MASK - 1)
    if after >= until:
        return Page([], until)
    sources: list[Sequence[Position]] = []
    reached = until
    for page, last in _sources(state, queue, after, until, limit, whole=whole, messages=messages):
        sources.append(page)
        reached = min(reached, last)
    if not sources:
        return Page([], reached)
    if len(sources) == 1:
        return Page(sources[0], reached)
    merged = sorted(chain.from_iterable(sources), key=arrival_of)[:limit]
    if len(merged) == limit:
        reached = min(reached, arrival_of(merged[-1]))
    return Page([each for each in merged if arrival_of(each) <= reached], reached)


def _sources(
    state: State,
    queue: QueueState,
    after: int,
    until: int,
    limit: int,
    *,
    whole: bool,
    messages: dict[int, msgspec.Raw] | None,
) -> list[tuple[Sequence[Position], int]]:
    """Return, for each table or lane with rows in the range, its first positions and the last number read."""
    rows, number = state.rows, queue.number
    found: list[tuple[Sequence[Position], int]] = []
    floors = queue.order.floors()
    for lane in range(LANES):
        start = lane << LANE_SHIFT
        first, last = max(start + after + 1, floors[lane]), start + until + 1
        if first >= last:
            continue
        low, high = position_key(number, first), position_key(number, last)
        page = list(map(_VALUE, rows.range(POSITION_ROWS, low, high, limit=limit)))
        if page:
            last_one, positions = _page(number, page, messages)
            found.append((positions, last_one & SEQUENCE_MASK if len(page) == limit else until))
    first_key, last_key = arrival_key(number, after + 1), arrival_key(number, until + 1)
    late = rows.range(LATE, first_key, last_key, limit=limit)
    if late:
        searched = int.from_bytes(late[-1][0][_NUMBER]) if len(late) == limit else until
        found.append((_resolve(state, queue, [row for _, row in late], whole=whole), searched))
    if whole and queue.feed.retained:
        kept = rows.range(RETAINED, first_key, last_key, limit=limit)
        if kept:
            searched = int.from_bytes(kept[-1][0][_NUMBER]) if len(kept) == limit else until
            found.append(([position for _, position in kept], searched))
    return found


def _page(
    number: int, rows: list[Any], messages: dict[int, msgspec.Raw] | None
) -> tuple[int, Sequence[Position]]:
    """Return the last LookupIdentifier in rows of a lane, and the positions whose sequence is their arrival
    number.

    A row is its value on disk, or a record that is not written yet.
    """
    plain = plain_positions(rows)
    if plain is not None:
        return plain.lookup_ids[-1], plain
    places = undecoded_rows(rows)
    if messages is not None:
        messages.update(_inline(number, places))
    page = [place.position for place in places]
    return page[-1].lookup_id, [position for position in page if not position.arrival]


def _inline(number: int, places: list[UndecodedQueueRow]) -> dict[int, msgspec.Raw]:
    """Return the bytes of the messages in these rows; a row that is not written yet has no bytes."""
    return {
        place.position.message: place.message
        for place in places
        if place.position.inline_in == number and isinstance(place.message, msgspec.Raw)
    }


def _resolve(state: State, queue: QueueState, late: list[Late], *, whole: bool) -> list[Position]:
    """Return the positions of late rows; close ones are read as one range.

    Positions that wait for a retry are read only for consumers (`whole`).
    """
    rows, number = state.rows, queue.number
    wanted = [position_key(number, row.lookup_id) for row in late]
    near: dict[bytes, Position] = {}
    lowest, highest = min(row.lookup_id for row in late), max(row.lookup_id for row in late)
    if len(late) >= MANY and highest - lowest < 2 * len(late):
        last = position_key(number, highest + 1)
        page = rows.range(POSITIONS_ALONE, min(wanted), last, limit=highest - lowest + 1)
        near = {key: row.position for key, row in page}
    found: list[Position] = []
    for key in wanted:
        position = near.get(key)
        if position is None and (row := rows.get(POSITIONS_ALONE, key)) is not None:
            position = row.position
        if position is None and whole:
            position = rows.get(DELAYED, key)
            if position is None:
                raise StoreDamage(f"queue {number} has a late row {key.hex()} and no position for it")
        if position is not None:
            found.append(position)
    return found
