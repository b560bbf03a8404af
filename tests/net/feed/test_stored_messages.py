"""Rows of messages beside the loop: in one go where they are neighbours, and never another's."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import StoreDamage
from reliquary.net.feed.stored_messages import MANY, StoredMessages, runs
from reliquary.queueing.model.message import Message, StoredBody
from reliquary.queueing.model.tables import MESSAGES, PIECES, Piece, message_key, piece_key
from reliquary.store.disk import Changes
from tests.net.feed.messages import disk_with


@given(st.lists(st.integers(0, 40), unique=True))
def test_runs_are_the_numbers_again(numbers: list[int]) -> None:
    found = runs(numbers)
    assert [number for first, last in found for number in range(first, last + 1)] == numbers
    for (_, last), (first, _) in pairwise(found):
        assert first != last + 1


@given(st.sets(st.integers(0, 40)), st.lists(st.integers(0, 40), unique=True))
def test_each_number_gets_its_own_record(there: set[int], numbers: list[int]) -> None:
    disk = disk_with({number: Message(application_tag=number) for number in there})
    found = StoredMessages(disk).records(numbers)
    assert [None if each is None else MESSAGES._decode(each).application_tag for each in found] == [
        number if number in there else None for number in numbers
    ]


@pytest.mark.parametrize("count", [1, MANY])
def test_a_damaged_row_is_found(count: int) -> None:
    disk = disk_with({number: Message(label="x") for number in range(count)})
    value = bytearray(disk.get(MESSAGES.name, message_key(0)) or b"")
    value[-1] ^= 1
    disk.apply(Changes(puts={MESSAGES.name: {message_key(0): bytes(value)}}))
    with pytest.raises(StoreDamage, match="checksum"):
        StoredMessages(disk).records(list(range(count)))


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
