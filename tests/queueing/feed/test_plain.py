"""Tests rows of positions as columns: rows that are alike, and any others."""

from __future__ import annotations

from array import array

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.rows import FRAME
from reliquary.queueing.changes.numbering import arrival_of
from reliquary.queueing.feed.plain import (
    LEAST,
    PlainPositions,
    arrivals_of,
    joined,
    plain_positions,
    sizes_of,
)
from reliquary.queueing.model.message import Message, Position
from reliquary.queueing.model.tables import LANE_SHIFT, POSITIONS, QueueRow, position_key, undecoded_rows

WIDE = st.sampled_from([(0, 0x7F), (0x80, 0xFF), (0x100, 0xFFFF), (2**16, 2**32 - 1), (2**32, 2**62)])
"""Ranges of numbers that MessagePack writes with one width."""


def value(position: Position, message: Message | None = None) -> bytes:
    """Return the row of a position."""
    return POSITIONS.encode(position_key(7, position.lookup_id), QueueRow(position, message))


@st.composite
def alike(draw: st.DrawFn) -> list[Position]:
    """Return positions whose rows are alike but for their numbers."""
    columns = [st.integers(*draw(WIDE)) for _ in range(4)]
    return draw(st.lists(st.builds(Position, *columns), min_size=LEAST, max_size=3 * LEAST))


@given(alike())
def test_rows_that_are_alike_become_columns(positions: list[Position]) -> None:
    found = plain_positions([value(each) for each in positions])
    assert found is not None
    assert list(found) == positions
    assert [found[place] for place in range(len(found))] == positions
    assert list(arrivals_of(found)) == [arrival_of(each) for each in positions]
    assert list(sizes_of(found)) == [each.size for each in positions]


@given(alike(), st.integers(0, 3 * LEAST), st.integers(0, 3 * LEAST))
def test_columns_are_cut_and_joined_as_lists_are(positions: list[Position], first: int, last: int) -> None:
    found = plain_positions([value(each) for each in positions])
    assert found is not None
    some = found[first:last]
    assert list(some) == positions[first:last]
    assert list(arrivals_of(some)) == [arrival_of(each) for each in positions[first:last]]
    both = joined([found, some])
    assert isinstance(both, PlainPositions)
    assert list(both) == positions + positions[first:last]
    assert list(arrivals_of(both)) == [arrival_of(each) for each in both]
    mixed = joined([some, positions])
    assert not isinstance(mixed, PlainPositions)
    assert list(mixed) == positions[first:last] + positions
    assert joined([found]) is found
    assert list(joined([])) == []


USUAL = [Position((4 << LANE_SHIFT) + 300 + each, 70_000 + each, 1_100, 10**15) for each in range(LEAST)]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(value(msgspec.structs.replace(USUAL[0], inline_in=7), Message()), id="with its message"),
        pytest.param(value(msgspec.structs.replace(USUAL[0], expires=9)), id="that expires"),
        pytest.param(value(msgspec.structs.replace(USUAL[0], arrival=301)), id="that arrived late"),
        pytest.param(value(msgspec.structs.replace(USUAL[0], size=70_000)), id="of another width"),
        # Its row has as many bytes as those of the others.
        pytest.param(
            value(Position(USUAL[0].lookup_id, 9, 70_000, 10**15, expires=0, aborted=0)), id="narrow"
        ),
        pytest.param(QueueRow(USUAL[0]), id="that is not written yet"),
    ],
)
@pytest.mark.parametrize("place", [0, 2, LEAST])
def test_one_different_row_makes_the_page_a_list_of_rows(other: bytes | QueueRow, place: int) -> None:
    rows: list[object] = [value(each) for each in USUAL]
    assert plain_positions(rows) is not None
    rows.insert(place, other)
    assert plain_positions(rows) is None


@given(st.integers(FRAME, len(value(USUAL[0])) - 1), st.integers(0, 255))
def test_a_row_with_another_byte_is_never_read_as_another_position(place: int, byte: int) -> None:
    """Each byte that is not a part of a number is compared in every row."""
    changed = bytearray(value(USUAL[1]))
    changed[place] = byte
    values = [value(USUAL[0]), bytes(changed), *map(value, USUAL[2:])]
    found = plain_positions(values)
    if found is not None:
        assert list(found) == [each.position for each in undecoded_rows(values)]


def test_few_rows_are_decoded_one_by_one() -> None:
    assert plain_positions([value(each) for each in USUAL[: LEAST - 1]]) is None
    assert plain_positions([]) is None


def test_equal_positions_are_equal_in_columns_and_in_lists() -> None:
    found = plain_positions([value(each) for each in USUAL])
    assert found == USUAL
    assert found != USUAL[1:]
    assert found != 5
    assert isinstance(found, PlainPositions)
    assert found.messages == array("Q", range(70_000, 70_000 + LEAST))
