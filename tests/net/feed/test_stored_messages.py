"""Tests rows of messages beside the loop: in one go where they are neighbours, and never another's."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import StoreDamage
from reliquary.net.feed.stored_messages import MANY, StoredMessages, runs
from reliquary.queueing.model.message import Message, Position, StoredBody
from reliquary.queueing.model.tables import (
    MESSAGES,
    PIECES,
    POSITIONS,
    Piece,
    QueueRow,
    message_key,
    piece_key,
    position_key,
)
from reliquary.store.disk import Changes
from tests.net.feed.messages import disk_with

HOME = 7
"""The number of the queue in whose rows messages lie."""


@given(st.lists(st.integers(0, 40), unique=True))
def test_runs_are_the_numbers_again(numbers: list[int]) -> None:
    found = runs(numbers)
    assert [number for first, last in found for number in range(first, last + 1)] == numbers
    for (_, last), (first, _) in pairwise(found):
        assert first != last + 1


def at(number: int, inline_in: int = 0) -> Position:
    """Return the position of the message with this number, which lies in the row of the position or not."""
    return Position(number, number, 100, 0, inline_in)


@given(
    st.sets(st.integers(0, 40)),
    st.sets(st.integers(0, 40)),
    st.sets(st.integers(0, 40)),
    st.lists(st.integers(0, 40), unique=True),
)
def test_each_position_gets_its_own_record(
    inline: set[int], moved_out: set[int], apart: set[int], numbers: list[int]
) -> None:
    """A message may be set apart after its position was read."""
    disk = disk_with({number: Message.of(application_tag=number) for number in moved_out | (apart - inline)})
    for number in inline - moved_out:
        key = position_key(HOME, number)
        place = QueueRow(at(number, HOME), Message.of(application_tag=number))
        disk.apply(Changes(puts={POSITIONS.name: {key: POSITIONS.encode(key, place)}}))
    positions = [at(number, HOME if number in inline | moved_out else 0) for number in numbers]
    there = inline | moved_out | apart
    found = StoredMessages(disk).records(positions)
    tags = [
        None if each is None else MESSAGES._decode(each[found.begin :]).application_tag for each in found.rows
    ]
    assert tags == [number if number in there else None for number in numbers]


@pytest.mark.parametrize("removed", [None, 25, 7])
def test_ranges_of_neighbours_give_the_records_in_the_order_of_the_positions(removed: int | None) -> None:
    numbers = [*range(20, 30), *range(10)]
    disk = disk_with({number: Message.of(application_tag=number) for number in numbers if number != removed})
    found = StoredMessages(disk).records([at(number) for number in numbers])
    tags = [each and MESSAGES._decode(each[found.begin :]).application_tag for each in found.rows]
    assert tags == [None if number == removed else number for number in numbers]


def test_records_that_were_read_already_are_not_read_again() -> None:
    disk = disk_with({number: Message.of(application_tag=number) for number in (1, 2)})
    already_read = {number: bytes([number]) for number in (2, 3)}
    found = StoredMessages(disk).records([at(number) for number in (1, 2, 3, 4)], already_read)
    assert found.begin == 0
    one, two, three, four = found.rows
    assert one is not None
    assert MESSAGES._decode(one).application_tag == 1
    assert (two, three, four) == (b"\2", b"\3", None)


@pytest.mark.parametrize("count", [1, MANY])
def test_a_damaged_row_is_found(count: int) -> None:
    disk = disk_with({number: Message(label="x") for number in range(count)})
    value = bytearray(disk.get(MESSAGES.name, message_key(0)) or b"")
    value[-1] ^= 1
    disk.apply(Changes(puts={MESSAGES.name: {message_key(0): bytes(value)}}))
    with pytest.raises(StoreDamage, match="checksum"):
        StoredMessages(disk).records([at(number) for number in range(count)])


def test_a_body_whose_pieces_went_is_gone() -> None:
    assert StoredMessages(disk_with({})).body(StoredBody(1, 5, 1)) is None


def test_a_body_with_a_damaged_piece_is_damage_and_not_gone() -> None:
    disk = disk_with({})
    value = bytearray(PIECES.encode(piece_key(1, 0), Piece(b"01234")))
    value[-1] ^= 1
    disk.apply(Changes(puts={PIECES.name: {piece_key(1, 0): bytes(value)}}))
    with pytest.raises(StoreDamage, match="checksum"):
        StoredMessages(disk).body(StoredBody(1, 5, 1))


def test_a_body_that_is_shorter_than_its_message_says_is_damage_too() -> None:
    disk = disk_with({})
    key = piece_key(1, 0)
    disk.apply(Changes(puts={PIECES.name: {key: PIECES.encode(key, Piece(b"0123"))}}))
    with pytest.raises(StoreDamage, match="its message says 5"):
        StoredMessages(disk).body(StoredBody(1, 5, 1))
