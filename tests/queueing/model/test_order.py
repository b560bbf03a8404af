"""The order of a queue is compared with the simplest model: a sorted list in memory."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import Record, Table
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.order import WINDOW, Order
from reliquary.queueing.model.tables import (
    LANE_SHIFT,
    LANES,
    LAST_ID,
    POSITIONS,
    TABLES,
    QueueRow,
    lane_start,
    position_key,
)
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows

NUMBER = 7
"""The queue's; others lie before and behind it on the disk."""


class WatchedRows(StagedRows):
    """Rows that remember over which keys each read went."""

    def __init__(self, disk: MemoryDisk) -> None:
        super().__init__(disk)
        self.walks: list[tuple[bytes, bytes]] = []
        """The first key of a walk, and the key behind the last one that it came to."""

    def range(
        self, table: Table[Record], first: bytes, last: bytes, *, limit: int, reverse: bool = False
    ) -> list[tuple[bytes, Record]]:
        found = super().range(table, first, last, limit=limit, reverse=reverse)
        if len(found) == limit:
            walk = (found[-1][0], last) if reverse else (first, found[-1][0] + b"\0")
        else:
            walk = first, last
        self.walks.append(walk)
        return found


def at(lane: int, sequence: int, **attributes: Any) -> Position:
    return Position(lane << LANE_SHIFT | sequence, sequence, 100, 0, **attributes)


def key_of(position: Position) -> bytes:
    return position_key(NUMBER, position.lookup_id)


class OnDisk:
    """An order and its rows, which change together as `apply` changes them."""

    def __init__(self, window: int = WINDOW) -> None:
        self.window = window
        self.disk = MemoryDisk(TABLES)
        self.rows = WatchedRows(self.disk)
        self.order = Order(self.rows, NUMBER, window=window)
        for neighbour in (NUMBER - 1, NUMBER + 1):
            for lane in range(LANES):
                stranger = at(lane, 5)
                self.rows.put(POSITIONS, position_key(neighbour, stranger.lookup_id), QueueRow(stranger))

    def add(self, *positions: Position) -> None:
        for position in positions:
            if not position.express:
                self.rows.put(POSITIONS, key_of(position), QueueRow(position))
        self.order.extend(positions)

    def remove(self, lookup_id: int) -> Position:
        position = self.order.remove(lookup_id)
        if not position.express:
            self.rows.delete(POSITIONS, key_of(position))
        return position

    def add_locked(self, position: Position) -> None:
        self.rows.put(POSITIONS, key_of(position), QueueRow(position))
        self.order.add_locked(position)

    def flush(self) -> tuple[int, ...]:
        floors = self.order.floors()
        self.disk.apply(self.rows.take())
        return floors

    def rebuilt(self, stored: int, held: list[Position] | None = None) -> Order:
        """Return the order that a new process makes from a count, the floors and the rows."""
        floors = self.flush()
        order = Order(self.rows, NUMBER, stored=stored, floors=floors, window=self.window)
        for position in held or []:
            order.add_locked(position)
        return order


def walk(order: Order, start: int = -1) -> list[int]:
    found: list[int] = []
    place = start
    while (position := order.after(place)) is not None:
        place = position.lookup_id
        found.append(place)
    return found


def walk_back(order: Order) -> list[int]:
    found: list[int] = []
    place = LAST_ID + 1
    while (position := order.before(place)) is not None:
        place = position.lookup_id
        found.append(place)
    return found


# -- by example


@pytest.mark.spec("DM-028")
def test_a_higher_priority_comes_first_and_then_the_one_that_came_first() -> None:
    queue = OnDisk()
    normal, urgent, second, low = at(4, 1), at(0, 2), at(4, 3), at(7, 4)
    for position in (normal, urgent, second, low):
        queue.add(position)
    expected = [each.lookup_id for each in (urgent, normal, second, low)]
    assert walk(queue.order) == expected
    assert walk_back(queue.order) == expected[::-1]


@pytest.mark.spec("DM-029", "DM-306")
def test_an_empty_queue_has_no_head_and_no_tail() -> None:
    order = OnDisk().order
    assert order.first() is None
    assert order.after(-1) is None
    assert order.before(LAST_ID + 1) is None
    assert order.some(-1, 10) == []
    assert len(order) == 0


@pytest.mark.spec("DM-029", "DM-303", "DM-304")
def test_the_head_is_the_first_and_the_tail_the_last() -> None:
    queue = OnDisk(window=1)
    first, middle, last = at(0, 1), at(3, 2), at(7, 3)
    queue.add(last)
    queue.add(middle)
    queue.add(first)
    assert queue.order.first() == first
    assert queue.order.before(LAST_ID + 1) == last
    assert queue.order.after(first.lookup_id) == middle
    assert queue.order.before(last.lookup_id) == middle
    assert queue.order.before(first.lookup_id) is None
    assert queue.order.after(last.lookup_id) is None


@pytest.mark.spec("DM-303")
def test_a_seek_goes_on_from_a_place_whose_message_is_gone() -> None:
    queue = OnDisk()
    first, gone, last = at(4, 1), at(4, 2), at(4, 3)
    queue.add(first, gone, last)
    queue.remove(gone.lookup_id)
    assert queue.order.after(gone.lookup_id) == last
    assert queue.order.before(gone.lookup_id) == first
    assert queue.order.get(gone.lookup_id) is None


@pytest.mark.spec("DM-039", "DM-303", "DM-304")
def test_seeks_pass_over_what_is_locked() -> None:
    queue = OnDisk()
    first, locked, last = at(4, 1), at(4, 2), at(4, 3)
    queue.add(first, locked, last)
    assert queue.order.lock(locked.lookup_id) == locked
    assert queue.order.after(first.lookup_id) == last
    assert queue.order.before(last.lookup_id) == first
    assert queue.order.visible_after(first.lookup_id) == last
    assert queue.order.get(locked.lookup_id) == locked
    assert len(queue.order) == 2


@pytest.mark.spec("DM-305")
def test_a_peek_sees_what_is_locked_and_allows_it() -> None:
    queue = OnDisk()
    first, locked, last = at(4, 1), at(4, 2, peekable=True), at(4, 3)
    queue.add(first, locked, last)
    queue.order.lock(locked.lookup_id)
    assert queue.order.visible_after(first.lookup_id) == locked
    assert queue.order.visible_before(last.lookup_id) == locked
    assert queue.order.after(first.lookup_id) == last
    queue.order.unlock(locked.lookup_id)
    queue.remove(locked.lookup_id)
    assert queue.order.visible_after(first.lookup_id) == last


@pytest.mark.spec("DM-305")
def test_a_peek_no_longer_sees_what_was_removed_while_it_was_locked() -> None:
    queue = OnDisk()
    locked, last = at(4, 1, peekable=True), at(4, 2)
    queue.add(locked, last)
    queue.order.lock(locked.lookup_id)
    queue.remove(locked.lookup_id)
    assert queue.order.visible_after(-1) == last
    assert queue.order.visible_before(last.lookup_id) is None


@pytest.mark.spec("DM-305")
def test_a_peek_does_not_see_what_was_only_sent_in_a_transaction() -> None:
    queue = OnDisk()
    queue.add_locked(at(4, 1, peekable=True))
    assert queue.order.visible_after(-1) is None
    assert queue.order.visible_before(LAST_ID + 1) is None


@pytest.mark.spec("DM-114")
def test_what_comes_back_is_at_its_old_place() -> None:
    queue = OnDisk()
    first, second = at(4, 1), at(4, 2)
    queue.add(first, second)
    queue.order.lock(first.lookup_id)
    queue.order.unlock(first.lookup_id)
    assert queue.order.first() == first


def test_some_returns_up_to_the_requested_number_of_positions() -> None:
    queue = OnDisk(window=2)
    positions = [at(4, sequence) for sequence in range(1, 10)]
    queue.add(*positions)
    assert queue.order.some(-1, 3) == positions[:3]
    assert queue.order.some(positions[5].lookup_id, 10) == positions[6:]


def test_fewer_rows_than_the_counter_says_are_damage() -> None:
    queue = OnDisk()
    queue.add(at(4, 1), at(4, 2))
    order = queue.rebuilt(stored=3)
    with pytest.raises(StoreDamage, match="queue 7 has 1 fewer rows than its counter says"):
        order.first()


def test_the_removal_of_a_missing_position_is_a_programming_error() -> None:
    queue = OnDisk()
    queue.add(at(4, 1), at(4, 3))
    with pytest.raises(AssertionError, match="is not available"):
        queue.order.remove(at(4, 2).lookup_id)


def test_a_missing_row_after_the_window_is_a_programming_error() -> None:
    queue = OnDisk(window=1)
    queue.add(*[at(4, sequence) for sequence in range(1, 6)])
    queue.flush()
    with pytest.raises(AssertionError, match="is not in queue 7"):
        queue.order.remove(at(4, 9).lookup_id)


def test_a_new_process_asks_for_nothing_until_it_is_asked() -> None:
    queue = OnDisk(window=2)
    queue.add(*[at(4, sequence) for sequence in range(1, 100)])
    queue.flush()
    queue.rows.walks.clear()
    order = queue.rebuilt(stored=99)
    assert len(order) == 99
    assert queue.rows.walks == []


# -- against the model

lanes = st.integers(0, LANES - 1)
flags = st.booleans()


class AgainstAList(RuleBasedStateMachine):
    """Every change goes to the order and to plain dictionaries; every answer is compared."""

    @initialize(window=st.integers(1, 5))
    def open(self, window: int) -> None:
        self.queue = OnDisk(window)
        self.sequence = 0
        self.available: dict[int, Position] = {}
        self.locked: dict[int, Position] = {}
        self.held: dict[int, Position] = {}
        self.gone: dict[int, Position] = {}

    @property
    def order(self) -> Order:
        return self.queue.order

    def new(self, lane: int, express: bool, peekable: bool) -> Position:
        self.sequence += 1
        return at(lane, self.sequence, express=express, peekable=peekable)

    @staticmethod
    def one(data: st.DataObject, from_: dict[int, Position]) -> int:
        return data.draw(st.sampled_from(sorted(from_)))

    # -- changes

    @rule(lane=lanes, express=flags, peekable=flags)
    def add(self, lane: int, express: bool, peekable: bool) -> None:
        position = self.new(lane, express, peekable)
        self.queue.add(position)
        self.available[position.lookup_id] = position

    @rule(kinds=st.lists(st.tuples(lanes, flags, flags), min_size=1, max_size=12))
    def add_many(self, kinds: list[tuple[int, bool, bool]]) -> None:
        positions = [self.new(*kind) for kind in kinds]
        self.queue.add(*positions)
        self.available |= {position.lookup_id: position for position in positions}

    @rule(lane=lanes, count=st.integers(2, 12))
    def add_many_alike(self, lane: int, count: int) -> None:
        self.add_many([(lane, False, False)] * count)

    @precondition(lambda self: self.gone)
    @rule(data=st.data())
    def come_back(self, data: st.DataObject) -> None:
        """Insert an old position, as a move does that returns a message to its queue."""
        lookup_id = self.one(data, self.gone)
        self.available[lookup_id] = self.gone.pop(lookup_id)
        self.queue.add(self.available[lookup_id])

    @precondition(lambda self: self.available)
    @rule(count=st.integers(1, 12))
    def receive(self, count: int) -> None:
        for lookup_id in sorted(self.available)[:count]:
            first = self.order.first()
            assert first == self.available[lookup_id]
            self.queue.remove(lookup_id)
            self.gone[lookup_id] = self.available.pop(lookup_id)

    @precondition(lambda self: self.available)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        lookup_id = self.one(data, self.available)
        position = self.available.pop(lookup_id)
        assert self.queue.remove(lookup_id) == position
        self.gone[lookup_id] = position

    @rule(count=st.integers(1, 12))
    def remove_the_first(self, count: int) -> None:
        self.remove_these(sorted(self.available)[:count])

    @precondition(lambda self: self.available or self.locked)
    @rule(data=st.data())
    def remove_many(self, data: st.DataObject) -> None:
        known = sorted(self.available | self.locked)
        self.remove_these(data.draw(st.lists(st.sampled_from(known), unique=True)))

    def remove_these(self, lookup_ids: list[int]) -> None:
        known = self.available | self.locked
        assert self.order.remove_all(lookup_ids) == [known[each] for each in lookup_ids]
        for lookup_id in lookup_ids:
            self.gone[lookup_id] = known[lookup_id]
            self.available.pop(lookup_id, None)
            self.locked.pop(lookup_id, None)
            if not known[lookup_id].express:
                self.queue.rows.delete(POSITIONS, key_of(known[lookup_id]))

    @precondition(lambda self: self.locked)
    @rule(data=st.data())
    def remove_locked(self, data: st.DataObject) -> None:
        lookup_id = self.one(data, self.locked)
        position = self.locked.pop(lookup_id)
        assert self.queue.remove(lookup_id) == position
        self.gone[lookup_id] = position

    @precondition(lambda self: self.available)
    @rule(data=st.data())
    def lock(self, data: st.DataObject) -> None:
        lookup_id = self.one(data, self.available)
        self.locked[lookup_id] = self.available.pop(lookup_id)
        assert self.order.lock(lookup_id) == self.locked[lookup_id]

    @precondition(lambda self: self.locked)
    @rule(data=st.data())
    def unlock(self, data: st.DataObject) -> None:
        lookup_id = self.one(data, self.locked)
        self.available[lookup_id] = self.locked.pop(lookup_id)
        self.order.unlock(lookup_id)

    @rule(count=st.integers(1, 12))
    def lock_the_first(self, count: int) -> None:
        """Lock the first positions, as a carrier of a batch does."""
        expected = [self.available[each] for each in sorted(self.available)[:count]]
        assert self.order.front(count) == expected
        self.order.lock_all(expected)
        for position in expected:
            self.locked[position.lookup_id] = self.available.pop(position.lookup_id)

    @precondition(lambda self: self.locked)
    @rule(data=st.data())
    def unlock_many(self, data: st.DataObject) -> None:
        lookup_ids = data.draw(st.lists(st.sampled_from(sorted(self.locked)), unique=True))
        expected = [self.locked.pop(each) for each in lookup_ids]
        assert self.order.unlock_all(lookup_ids) == expected
        self.available |= {position.lookup_id: position for position in expected}

    @precondition(lambda self: len(self.available) > 2)
    @rule(data=st.data())
    def lock_many(self, data: st.DataObject) -> None:
        lookup_ids = data.draw(st.lists(st.sampled_from(sorted(self.available)), unique=True))
        positions = [self.available[each] for each in lookup_ids]
        self.order.lock_all(positions)
        self.locked |= {each: self.available.pop(each) for each in lookup_ids}

    @rule(lane=lanes, peekable=flags)
    def add_locked(self, lane: int, peekable: bool) -> None:
        """Add a locked position, as a prepare does for a message that was sent."""
        position = self.new(lane, False, peekable)
        self.queue.add_locked(position)
        self.held[position.lookup_id] = position

    @precondition(lambda self: self.held)
    @rule(data=st.data(), committed=flags)
    def decide(self, data: st.DataObject, committed: bool) -> None:
        lookup_id = self.one(data, self.held)
        position = self.held.pop(lookup_id)
        if committed:
            self.order.remove(lookup_id)
            self.queue.add(position)
            self.available[lookup_id] = position
        else:
            self.queue.remove(lookup_id)

    @rule()
    def flush(self) -> None:
        self.queue.flush()

    # -- a new process

    def rebuilt(self) -> Order:
        here = [*self.available.values(), *self.locked.values()]
        stored = sum(not position.express for position in here)
        return self.queue.rebuilt(stored, list(self.held.values()))

    def survivors(self) -> dict[int, Position]:
        return {
            lookup_id: position
            for lookup_id, position in (self.available | self.locked).items()
            if not position.express
        }

    @rule()
    def look_with_other_eyes(self) -> None:
        """Check that a second order over these rows has equal contents, and the first one does not change."""
        assert walk(self.rebuilt()) == sorted(self.survivors())
        assert walk(self.rebuilt(), start=0) == sorted(self.survivors())
        assert walk_back(self.rebuilt()) == sorted(self.survivors(), reverse=True)

    @rule()
    def restart(self) -> None:
        order = self.rebuilt()
        self.available, self.locked = self.survivors(), {}
        self.gone = {key: position for key, position in self.gone.items() if not position.express}
        self.queue.order = order

    # -- questions

    def places(self) -> list[int]:
        known = self.available | self.locked | self.held | self.gone
        near = {-1, 0, LAST_ID, LAST_ID + 1, *(lane_start(lane) for lane in range(LANES))}
        return sorted(near | {each + step for each in known for step in (-1, 0, 1)})

    def nearest(self, among: dict[int, Position], place: int, *, ahead: bool) -> Position | None:
        found = [each for each in among if (each > place if ahead else each < place)]
        return among[min(found) if ahead else max(found)] if found else None

    @rule()
    def seek(self) -> None:
        for place in self.places():
            if place >= 0:  # a seek from the very start lets the order read on
                assert self.order.after(place) == self.nearest(self.available, place, ahead=True)
            assert self.order.before(place) == self.nearest(self.available, place, ahead=False)

    @rule()
    def seek_what_is_visible(self) -> None:
        visible = self.available | {
            lookup_id: position for lookup_id, position in self.locked.items() if position.peekable
        }
        for place in self.places():
            if place >= 0:
                assert self.order.visible_after(place) == self.nearest(visible, place, ahead=True)
            assert self.order.visible_before(place) == self.nearest(visible, place, ahead=False)

    @rule(data=st.data(), limit=st.integers(1, 6))
    def look(self, data: st.DataObject, limit: int) -> None:
        place = data.draw(st.sampled_from(self.places()))
        known = self.available | self.locked | self.held
        assert self.order.get(place) == known.get(place)
        behind = [self.available[each] for each in sorted(self.available) if each > place]
        assert self.order.some(place, limit) == behind[:limit]

    @rule()
    def look_at_the_head(self) -> None:
        assert self.order.first() == self.nearest(self.available, -1, ahead=True)

    @invariant()
    def counts_are_right(self) -> None:
        if not hasattr(self, "queue"):
            return
        assert len(self.order) == len(self.available)
        assert self.order.locked == self.locked | self.held

    @invariant()
    def memory_is_bounded(self) -> None:
        if not hasattr(self, "queue"):
            return
        express = sum(position.express for position in self.available.values())
        assert len(self.order._entries) <= 2 * self.queue.window + express

    @invariant()
    def no_row_lies_below_the_floors(self) -> None:
        if not hasattr(self, "queue"):
            return
        floors = self.order.floors()
        for position in [*self.survivors().values(), *self.held.values()]:
            assert position.lookup_id >= floors[position.lookup_id >> LANE_SHIFT]


TestAgainstAList = AgainstAList.TestCase
TestAgainstAList.settings = settings(max_examples=200, stateful_step_count=50)


# -- what is read

arrivals = st.tuples(st.just("add"), st.lists(lanes, min_size=1, max_size=10))
receives = st.tuples(st.just("receive"), st.integers(1, 10))
others = st.tuples(st.sampled_from(("flush", "restart")), st.none())


@settings(max_examples=300)
@given(st.integers(1, 5), st.lists(st.one_of(arrivals, receives, others), max_size=60))
def test_a_reader_never_walks_over_what_was_consumed_in_earlier_batches(
    window: int, steps: list[tuple[str, Any]]
) -> None:
    queue = OnDisk(window)
    sequence, stored = 0, 0
    consumed: set[bytes] = set()
    deleted: set[bytes] = set()
    """Deleted in a batch that was written: what a disk may have to step over."""
    for what, argument in steps:
        queue.rows.walks.clear()
        if what == "add":
            for lane in argument:
                sequence += 1
                stored += 1
                queue.add(at(lane, sequence))
        elif what == "receive":
            for _ in range(argument):
                position = queue.order.first()
                if position is None:
                    break
                queue.remove(position.lookup_id)
                consumed.add(key_of(position))
                stored -= 1
        elif what == "restart":
            queue.order = queue.rebuilt(stored)
            deleted |= consumed
        else:
            queue.flush()
            deleted |= consumed
        for first, last in queue.rows.walks:
            walked_over = {key for key in deleted if first <= key < last}
            assert not walked_over, f"{what} steps over {len(walked_over)} consumed rows"


def test_a_long_queue_is_read_in_windows_and_every_row_once() -> None:
    queue = OnDisk(window=10)
    queue.add(*[at(4, sequence) for sequence in range(1, 1001)])
    queue.order = queue.rebuilt(stored=1000)
    queue.rows.walks.clear()
    for sequence in range(1, 1001):
        first = queue.order.first()
        assert first is not None
        assert first.message == sequence
        queue.remove(first.lookup_id)
    assert len(queue.rows.walks) <= 1000 // 10 + LANES
