"""Keeps the order of one queue, [MS-MQDMPR] 3.1.1.2: the first position, the next one, the locked ones.

    LookupIdentifier  |<------- window, in memory ------->|<--- beyond, on disk --->|
                      first                              edge
    locked            in memory wherever they are in the order; searches skip them

The window has every available position up to `edge`, so its first one is the first of the queue.  When the
window is empty, the next rows are read from behind the edge.  Received rows were before the edge, so reads
never walk over deleted rows.  Memory is limited by the window and the locks.

A queue has eight lanes, one for each priority.  `floors` says for each lane where its oldest row can be; it
is stored, so that the first read after a restart begins there too.

Express positions have no row.  Those behind the edge are in `_late_express`.

While a batch gets its places in several turns, its sequence numbers are hidden: rows with these numbers may
be on disk, in any lane, and no search finds them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from typing import Final

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import Rows
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import (
    LANE_SHIFT,
    LANES,
    LAST_ID,
    POSITIONS_ALONE,
    SEQUENCE_MASK,
    lane_start,
    position_key,
)

WINDOW: Final = 1024
"""The number of positions that are read at once; the window has at most twice this number."""
LANE_ENDS: Final = [lane_start(lane + 1) for lane in range(LANES)]


class Order:
    """The MessagePositionList of a queue, 3.1.1.2, with the states Available and Locked (DM-028, DM-029)."""

    __slots__ = (
        "_available", "_beyond", "_edge", "_entries", "_floors", "_late_express",
        "_number", "_peekable", "_rows", "_window", "hidden", "locked",
    )  # fmt: skip

    def __init__(
        self, rows: Rows, number: int, *, stored: int = 0, floors: tuple[int, ...] = (), window: int = WINDOW
    ) -> None:
        """Make the order of a queue that has `stored` rows on disk, none of them locked."""
        self._rows = rows
        self._number = number
        self._window = window
        self._available: list[int] = []
        self._entries: dict[int, Position] = {}
        self._late_express: list[int] = []
        self._beyond = stored
        self._edge = -1 if stored else LAST_ID
        self._floors = list(floors) or [lane_start(lane) for lane in range(LANES)]
        self._peekable: set[int] = set()
        self.locked: dict[int, Position] = {}
        self.hidden: range | None = None
        """The sequence numbers whose rows readers do not see yet."""

    def __len__(self) -> int:
        """Return the number of available positions."""
        return len(self._available) + self._beyond + len(self._late_express)

    def size_at(self, lookup_id: int = -1) -> int:
        """Return the size of this position, or of the first one; 0 when it is not in memory."""
        if lookup_id < 0:
            lookup_id = self._available[0] if self._available else -1
        position = self._entries.get(lookup_id) or self.locked.get(lookup_id)
        return 0 if position is None else position.size

    # -- changes

    def add(self, position: Position) -> None:
        """Make a position available: a new one, or one that was locked before."""
        lookup_id = position.lookup_id
        if lookup_id > self._edge:
            self._add_beyond(position)
            return
        available = self._available
        if not available or lookup_id > available[-1]:
            available.append(lookup_id)
        else:
            insort(available, lookup_id)  # DM-193
        self._entries[lookup_id] = position
        if len(available) > 2 * self._window:
            self._trim()

    def extend(self, positions: Sequence[Position]) -> None:
        """Make positions available; fast when all of them come after the last one or before the first one."""
        lookup_ids = [position.lookup_id for position in positions]
        available = self._available
        behind = lookup_ids[-1] <= self._edge and (not available or available[-1] < lookup_ids[0])
        before = bool(available) and lookup_ids[-1] < available[0]
        if lookup_ids[0] > self._edge and self._add_all_beyond(lookup_ids, positions):
            return
        if not (behind or before) or sorted(lookup_ids) != lookup_ids:
            for position in positions:
                self.add(position)
            return
        place = len(available) if behind else 0
        available[place:place] = lookup_ids
        self._entries.update(zip(lookup_ids, positions, strict=True))
        if len(available) > 2 * self._window:
            self._trim()

    def _add_beyond(self, position: Position) -> None:
        lookup_id = position.lookup_id
        if position.express:
            insort(self._late_express, lookup_id)
            self._entries[lookup_id] = position
            return
        self._beyond += 1
        lane = lookup_id >> LANE_SHIFT
        if lookup_id < self._floors[lane]:
            self._floors[lane] = lookup_id

    def _add_all_beyond(self, lookup_ids: Sequence[int], positions: Sequence[Position]) -> bool:
        """Count stored positions of one lane after the edge; return False, without a change, for other
        positions."""
        lane = lookup_ids[0] >> LANE_SHIFT
        if lookup_ids[0] < self._floors[lane] or max(lookup_ids) >> LANE_SHIFT != lane:
            return False
        if min(lookup_ids) < lookup_ids[0] or any(position.express for position in positions):
            return False
        self._beyond += len(lookup_ids)
        return True

    def remove(self, lookup_id: int) -> Position:
        """Remove a position, available or locked, and return it; it must exist."""
        position = self.locked.pop(lookup_id, None)
        if position is None:
            return self._withdraw(lookup_id)
        if position.peekable:
            self._peekable.discard(lookup_id)
        return position

    def remove_all(self, lookup_ids: Sequence[int]) -> list[Position]:
        """Remove positions and return them; fast for the first ones of the queue, and for locked ones."""
        if self._available[: len(lookup_ids)] == lookup_ids:
            del self._available[: len(lookup_ids)]
            return list(map(self._entries.pop, lookup_ids))
        if not self._peekable and self.locked.keys() >= set(lookup_ids):
            return list(map(self.locked.pop, lookup_ids))
        return [self.remove(lookup_id) for lookup_id in lookup_ids]

    def lock(self, lookup_id: int) -> Position:
        """Lock an available position and return it; searches skip it until it is unlocked or removed."""
        position = self._withdraw(lookup_id)
        self.locked[lookup_id] = position
        if position.peekable:
            self._peekable.add(lookup_id)
        return position

    def lock_all(self, positions: Sequence[Position]) -> None:
        """Replace available positions by these locked ones; fast for the first ones of the queue."""
        lookup_ids = [position.lookup_id for position in positions]
        if self._available[: len(lookup_ids)] != lookup_ids:
            for position in positions:
                self.lock(position.lookup_id)
                self.locked[position.lookup_id] = position
            return
        del self._available[: len(lookup_ids)]
        entries, locked = self._entries, self.locked
        for position in positions:
            lookup_id = position.lookup_id
            del entries[lookup_id]
            locked[lookup_id] = position
            if position.peekable:
                self._peekable.add(lookup_id)

    def add_locked(self, position: Position, *, peekable: bool = False) -> None:
        """Add a locked position that was never available: of a prepared transaction or a reservation."""
        # DEPARTS from 3.1.7.3.2 (DM-305): AllowPeekWhenLocked does not show a message that was
        # only sent in a transaction, because it may never come to be.
        self.locked[position.lookup_id] = position
        if peekable:
            self._peekable.add(position.lookup_id)

    def mark(self, position: Position) -> Position:
        """Replace a locked position by one with new counters, and return the old one."""
        before = self.locked[position.lookup_id]
        self.locked[position.lookup_id] = position
        return before

    def unlock(self, lookup_id: int) -> Position:
        """Make a locked position available again, in its old order, and return it."""
        self._peekable.discard(lookup_id)
        position = self.locked.pop(lookup_id)
        self.add(position)
        return position

    def unlock_all(self, lookup_ids: Sequence[int]) -> list[Position]:
        """Make locked positions available again, in their old order, and return them."""
        self._peekable.difference_update(lookup_ids)
        positions = [self.locked.pop(lookup_id) for lookup_id in lookup_ids]
        if positions:
            self.extend(positions)
        return positions

    def hide(self, numbers: range) -> None:
        """Hide the rows with these sequence numbers."""
        assert self.hidden is None, f"queue {self._number} hides {self.hidden}"
        self.hidden = numbers

    def hides(self, lookup_id: int) -> bool:
        """Return whether a batch that is being placed has this identifier."""
        return self.hidden is not None and lookup_id & SEQUENCE_MASK in self.hidden

    def show(self, lanes: Mapping[int, tuple[int, int]]) -> None:
        """Make hidden rows available: for each lane, the lowest LookupIdentifier and the number of rows."""
        self.hidden = None
        if not lanes:
            return
        lowest = min(first for first, _ in lanes.values())
        if lowest <= self._edge:
            self.floors()  # before the edge moves: it says where the later lanes begin
            self._edge = lowest - 1
            self._leave_from(bisect_left(self._available, lowest))
        for lane, (first, count) in lanes.items():
            self._beyond += count
            self._floors[lane] = min(self._floors[lane], first)

    def _withdraw(self, lookup_id: int) -> Position:
        available = self._available
        if lookup_id <= self._edge:
            place = 0 if available and available[0] == lookup_id else bisect_left(available, lookup_id)
            assert available[place] == lookup_id, f"{lookup_id:#x} is not available"
            del available[place]
            return self._entries.pop(lookup_id)
        if lookup_id in self._entries:
            self._late_express.remove(lookup_id)
            return self._entries.pop(lookup_id)
        self._beyond -= 1
        row = self._rows.get(POSITIONS_ALONE, position_key(self._number, lookup_id))
        assert row is not None, f"{lookup_id:#x} is not in queue {self._number}"
        return row.position

    # -- searches

    def get(self, lookup_id: int) -> Position | None:
        """Return the position of this id, available or locked, or None."""
        position = self.locked.get(lookup_id) or self._entries.get(lookup_id)
        if position is not None or lookup_id <= self._edge:
            return position
        if self.hides(lookup_id):
            return None
        row = self._rows.get(POSITIONS_ALONE, position_key(self._number, lookup_id))
        return None if row is None else row.position

    def first(self) -> Position | None:
        """Return the first available position of the queue, or None."""
        if not self._available and (self._beyond or self._late_express):
            self._read_on()
        return self._entries[self._available[0]] if self._available else None

    def front(self, limit: int) -> list[Position]:
        """Return the first `limit` available positions; a window that is too short is filled from disk."""
        while len(self._available) < limit and (self._beyond or self._late_express):
            self._read_on()
        entries = self._entries
        return [entries[lookup_id] for lookup_id in self._available[:limit]]

    def after(self, lookup_id: int) -> Position | None:
        """Return the next available position after this LookupIdentifier, which need not have a position
        (AN-34)."""
        if lookup_id < 0:
            return self.first()
        if lookup_id < self._edge:
            place = bisect_right(self._available, lookup_id)
            if place < len(self._available):
                return self._entries[self._available[place]]
            lookup_id = self._edge
        stored = self._stored(lookup_id, LAST_ID + 1, limit=1) if self._beyond else []
        late = bisect_right(self._late_express, lookup_id)
        express = [self._entries[late_id] for late_id in self._late_express[late : late + 1]]
        return min(stored + express, key=_place, default=None)  # DM-306

    def before(self, lookup_id: int) -> Position | None:
        """Return the last available position before this LookupIdentifier, or None."""
        if lookup_id > self._edge + 1:
            stored = self._stored(self._edge, lookup_id, limit=1, reverse=True) if self._beyond else []
            late = bisect_left(self._late_express, lookup_id)
            express = [self._entries[late_id] for late_id in self._late_express[:late][-1:]]
            if stored or express:
                return max(stored + express, key=_place)
        place = bisect_left(self._available, lookup_id)  # DM-304
        return self._entries[self._available[place - 1]] if place else None  # DM-306

    def visible_after(self, lookup_id: int) -> Position | None:
        """Return the position that a peek reads after this LookupIdentifier: also a locked one that allows it
        (DM-305)."""
        found = [self.locked[each] for each in self._peekable if each > lookup_id]
        available = self.after(lookup_id)
        return min([*found, *([available] if available else [])], key=_place, default=None)

    def visible_before(self, lookup_id: int) -> Position | None:
        """Return the position that a peek reads before this LookupIdentifier: also a locked one that allows
        it (DM-305)."""
        found = [self.locked[each] for each in self._peekable if each < lookup_id]
        available = self.before(lookup_id)
        return max([*found, *([available] if available else [])], key=_place, default=None)

    def some(self, after: int, limit: int) -> list[Position]:
        """Return up to `limit` available positions after this LookupIdentifier; the window is not moved for
        them."""
        if not self._available:
            self.first()
        place = 0 if after < 0 else bisect_right(self._available, after)
        entries = self._entries
        found = [entries[lookup_id] for lookup_id in self._available[place : place + limit]]
        if len(found) < limit and (self._beyond or self._late_express):
            after = max(after, self._edge)
            late = bisect_right(self._late_express, after)
            rest = [self._entries[lookup_id] for lookup_id in self._late_express[late : late + limit]]
            rest += self._stored(after, LAST_ID + 1, limit=limit - len(found)) if self._beyond else []
            found += sorted(rest, key=_place)[: limit - len(found)]
        return found

    # -- the window

    def _read_on(self) -> None:
        """Read the next rows after the edge into the window, and move the edge."""
        stored = self._stored(self._edge, LAST_ID + 1, limit=self._window) if self._beyond else []
        self._beyond -= len(stored)
        if self._beyond and len(stored) < self._window:
            raise StoreDamage(f"queue {self._number} has {self._beyond} fewer rows than its counter says")
        self._edge = stored[-1].lookup_id if self._beyond else LAST_ID
        found = [position.lookup_id for position in stored]
        self._entries.update(zip(found, stored, strict=True))
        reached = bisect_right(self._late_express, self._edge)
        if reached:
            found = sorted(found + self._late_express[:reached])
            del self._late_express[:reached]
        self._available += found

    def _trim(self) -> None:
        """Remove the rear half of the window from memory; its rows stay on disk."""
        self.floors()  # before the edge moves: it says where the later lanes begin
        self._edge = self._available[self._window - 1]
        self._leave_from(self._window)

    def _leave_from(self, place: int) -> None:
        """Remove the window from this index on from memory; the edge is before it already."""
        rear = self._available[place:]
        del self._available[place:]
        for lookup_id in rear:
            self._add_beyond(self._entries.pop(lookup_id))

    def _stored(self, after: int, until: int, *, limit: int, reverse: bool = False) -> list[Position]:
        """Return unlocked rows after the window, lane by lane from the floor of each lane."""
        found: list[Position] = []
        lanes = range(max(after, 0) >> LANE_SHIFT, LANES)
        for lane in reversed(lanes) if reverse else lanes:
            low = max(after + 1, self._floors[lane])
            high = min(until, LANE_ENDS[lane])
            spans = [(low, high)] if self.hidden is None else self._shown(lane, low, high, self.hidden)
            for first, last in reversed(spans) if reverse else spans:
                found += self._span(first, last, limit=limit - len(found), reverse=reverse)
        return found

    @staticmethod
    def _shown(lane: int, first: int, last: int, hidden: range) -> list[tuple[int, int]]:
        """Return the parts of a range of one lane that are not hidden."""
        start = lane_start(lane)
        return [(first, min(last, start + hidden.start)), (max(first, start + hidden.stop), last)]

    def _span(self, first: int, last: int, *, limit: int, reverse: bool) -> list[Position]:
        """Return up to `limit` rows of a range that are not locked."""
        found: list[Position] = []
        while first < last and len(found) < limit:
            rows = self._lane(first, last, limit=limit, reverse=reverse)
            found += [position for position in rows if position.lookup_id not in self.locked]
            if len(rows) < limit:
                break
            first, last = (
                (first, rows[-1].lookup_id) if reverse else (rows[-1].lookup_id + 1, last)
            )  # fmt: skip
        return found[:limit]

    def _lane(self, first: int, last: int, *, limit: int, reverse: bool) -> list[Position]:
        low, high = position_key(self._number, first), position_key(self._number, last)
        rows = self._rows.range(POSITIONS_ALONE, low, high, limit=limit, reverse=reverse)
        return [row.position for _, row in rows]

    # -- what is stored

    def floors(self) -> tuple[int, ...]:
        """Return, for each lane, the lowest LookupIdentifier that can have a row now."""
        floors, available, place = self._floors, self._available, 0
        reached = (self._edge >> LANE_SHIFT) + 1  # lanes that begin in the window; the others are unchanged
        if reached:
            floors[:reached] = LANE_ENDS[:reached]
            floors[reached - 1] = self._edge + 1
        while place < len(available):  # once for each lane that has a position in the window
            lane = available[place] >> LANE_SHIFT
            floors[lane] = available[place]
            place = bisect_left(available, LANE_ENDS[lane], place)
        if self.locked:
            lowest = min(self.locked)
            one_lane = max(self.locked) >> LANE_SHIFT == lowest >> LANE_SHIFT
            for lookup_id in (lowest,) if one_lane else self.locked:
                lane = lookup_id >> LANE_SHIFT
                floors[lane] = min(floors[lane], lookup_id)
        return tuple(floors)


def _place(position: Position) -> int:
    return position.lookup_id
