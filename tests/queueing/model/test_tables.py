"""Keys sort in the order in which queues are read, and no two rows of a table have one key."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.rows import Table
from reliquary.queueing.model import tables
from reliquary.queueing.model.message import Message, MessageClass, Position
from reliquary.queueing.model.tables import (
    LANE_SHIFT,
    LANES,
    LAST_ID,
    PAST_THE_END,
    SEQUENCE_MASK,
    TABLES,
    Counters,
    Operation,
    PreparedTransaction,
    Sequence,
    expiry_key,
    expiry_of,
    lane_start,
    message_key,
    position_key,
    queue_key,
    transaction_key,
)

numbers = st.integers(0, 2**32 - 1)
ids = st.integers(0, LAST_ID)
moments = st.integers(0, 2**63)


@pytest.mark.spec("DM-028", "DM-042")
@given(st.tuples(numbers, ids), st.tuples(numbers, ids))
def test_positions_sort_by_queue_and_then_by_lookup_identifier(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    assert (position_key(*one) < position_key(*other)) == (one < other)


@given(st.tuples(moments, numbers, ids), st.tuples(moments, numbers, ids))
def test_expiries_sort_by_the_moment_and_name_queue_and_message(
    one: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    assert (expiry_key(*one) < expiry_key(*other)) == (one < other)
    assert expiry_of(expiry_key(*one)) == one


@given(numbers, ids, moments, st.uuids())
def test_every_key_is_before_the_end(number: int, lookup_id: int, moment: int, identifier: UUID) -> None:
    keys = (
        tables.ONLY,
        queue_key(number),
        position_key(number, lookup_id),
        message_key(lookup_id),
        expiry_key(moment, number, lookup_id),
        transaction_key(identifier),
    )
    assert all(key < PAST_THE_END for key in keys)


@pytest.mark.spec("DM-191", "DM-192")
def test_the_lanes_follow_each_other_and_fill_the_identifiers() -> None:
    assert lane_start(0) == 0
    assert lane_start(LANES) == LAST_ID + 1
    for lane in range(LANES):
        assert lane_start(lane) >> LANE_SHIFT == lane
        assert (lane_start(lane) | SEQUENCE_MASK) + 1 == lane_start(lane + 1)
    assert LAST_ID < 2**64


def test_every_table_is_listed_once() -> None:
    declared = [value.name for value in vars(tables).values() if isinstance(value, Table)]
    for view in (tables.POSITIONS_ALONE, tables.POSITION_ROWS):  # other views of a table
        declared.remove(view.name)
    assert sorted(declared) == sorted(TABLES)
    assert len(set(TABLES)) == len(TABLES)


positions = st.builds(
    Position,
    ids,
    moments,
    numbers,
    moments,
    expires=moments,
    reason=st.sampled_from(MessageClass),
    origin=numbers,
    shared=st.booleans(),
    express=st.booleans(),
    peekable=st.booleans(),
    dead_letter=st.booleans(),
)


@pytest.mark.spec("DM-040")
@given(positions)
def test_a_position_is_equal_after_the_disk_with_and_without_its_message(position: Position) -> None:
    key = position_key(1, position.lookup_id)
    place = tables.QueueRow(position, Message(body=b"body", label="label"))
    value = tables.POSITIONS.encode(key, place)
    assert tables.POSITIONS.decode(key, value) == place
    assert tables.POSITIONS_ALONE.decode(key, value).position == position


@pytest.mark.spec("DM-064", "DM-065")
@given(
    st.lists(
        st.builds(
            Operation,
            st.sampled_from(("enqueue", "dequeue", "move")),
            numbers,
            positions,
            target=numbers,
            reason=st.sampled_from(MessageClass),
        ),
        max_size=4,
    ),
    st.booleans(),
    moments,
    st.uuids(),
)
def test_a_prepared_transaction_is_unchanged_after_the_disk_its_operations_in_order(
    operations: list[Operation], single_phase: bool, moment: int, identifier: UUID
) -> None:
    record = PreparedTransaction(tuple(operations), single_phase, moment)
    key = transaction_key(identifier)
    assert tables.TRANSACTIONS.decode(key, tables.TRANSACTIONS.encode(key, record)) == record


@given(st.integers(0, 2**63), st.integers(0, 2**63), st.lists(ids, min_size=LANES, max_size=LANES))
def test_counters_and_the_sequence_are_unchanged_after_the_disk(
    count: int, size: int, floors: list[int]
) -> None:
    counters = Counters(count, size, tuple(floors))
    assert tables.COUNTERS.decode(b"k", tables.COUNTERS.encode(b"k", counters)) == counters
    sequence = Sequence(count, size)
    assert tables.SEQUENCE.decode(b"k", tables.SEQUENCE.encode(b"k", sequence)) == sequence
