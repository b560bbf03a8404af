"""Positions as columns: a page of a feed whose rows are alike has no object for each of them.

A position of which only the four usual attributes are set, and whose message has a row of its own, is
(numbers are MessagePack's, `i`, `m`, `s` and `a` the names of the attributes):

    | frame | 92 | de 00 04 | a1 i cf 8 bytes | a1 m ce 4 bytes | a1 s cd 2 bytes | a1 a cf 8 bytes | c0 |
                   a map      LookupIdentifier  the message       the size          arrival time      none

All rows of a long queue mostly have these bytes but for the numbers.  They are put into one buffer, where the
bytes at one place of all rows are a slice with a step: each slice is compared with the byte that must be
there, or is a part of all numbers of one column.  Pages with other rows are decoded row by row (`reading`).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, overload

from reliquary.base.rows import FRAME
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import SEQUENCE_MASK

LEAST: Final = 4
"""The least number of rows that are put into columns."""
_OPENING: Final = b"\x92\xde\x00\x04"
"""An array of two elements, the first of which is a map with four entries."""
_NAMES: Final = (b"\xa1i", b"\xa1m", b"\xa1s", b"\xa1a")
_NO_MESSAGE: Final = b"\xc0"
_WIDTHS: Final = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
_IN_TAG: Final = 0x80
"""Numbers below this one are in their tag."""


class PlainPositions(Sequence[Position]):
    """Positions as columns of their numbers; all other attributes have their defaults."""

    __slots__ = ("arrivals", "arrived", "lookup_ids", "messages", "sizes")

    def __init__(
        self,
        lookup_ids: array[int],
        messages: array[int],
        sizes: array[int],
        arrived: array[int],
        arrivals: array[int],
    ) -> None:
        """All columns have one length; `arrivals` are the arrival numbers."""
        self.lookup_ids = lookup_ids
        self.messages = messages
        self.sizes = sizes
        self.arrived = arrived
        self.arrivals = arrivals

    def __len__(self) -> int:
        return len(self.lookup_ids)

    def __iter__(self) -> Iterator[Position]:
        return map(Position, self.lookup_ids, self.messages, self.sizes, self.arrived)

    @overload
    def __getitem__(self, place: int) -> Position: ...
    @overload
    def __getitem__(self, place: slice) -> PlainPositions: ...
    def __getitem__(self, place: int | slice) -> Position | PlainPositions:
        if isinstance(place, slice):
            return PlainPositions(*[column[place] for column in self._columns()])
        return Position(self.lookup_ids[place], self.messages[place], self.sizes[place], self.arrived[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _columns(self) -> tuple[array[int], ...]:
        return self.lookup_ids, self.messages, self.sizes, self.arrived, self.arrivals


def joined(pages: Sequence[Sequence[Position]]) -> Sequence[Position]:
    """Return the positions of several pages, one page after the other."""
    if len(pages) == 1:
        return pages[0]
    columns = [page._columns() for page in pages if isinstance(page, PlainPositions)]
    if pages and len(columns) == len(pages):
        return PlainPositions(*[_chained(column) for column in zip(*columns, strict=True)])
    return [position for page in pages for position in page]


def _chained(columns: Sequence[array[int]]) -> array[int]:
    found = array("Q")
    for column in columns:
        found += column
    return found


def arrivals_of(positions: Sequence[Position]) -> Sequence[int]:
    """Return the arrival numbers of positions, in their order."""
    if isinstance(positions, PlainPositions):
        return positions.arrivals
    return [each.arrival or each.lookup_id & SEQUENCE_MASK for each in positions]  # as `numbering.arrival_of`


def sizes_of(positions: Sequence[Position]) -> Sequence[int]:
    """Return the sizes of positions, in their order."""
    return positions.sizes if isinstance(positions, PlainPositions) else [each.size for each in positions]


# -- rows


class _Number(NamedTuple):
    """The offset and width of a number in each row."""

    first: int
    width: int


class _Layout(NamedTuple):
    """The offsets of all bytes of a row."""

    fixed: list[int]
    """The offsets at which all rows have one byte."""
    small: list[int]
    """The offsets of numbers that are in their tags."""
    numbers: list[_Number]


def plain_positions(values: Sequence[Any]) -> PlainPositions | None:
    """Return the positions of these rows, whose checksums were compared; None if the rows are not alike.

    A row is its value on disk; one that is not written yet is a record.
    """
    if len(values) < LEAST or set(map(type, values)) != {bytes} or len(set(map(len, values))) != 1:
        return None
    first: bytes = values[0]
    layout = _layout(first)
    if layout is None:
        return None
    rows, size, count = b"".join(values), len(first), len(values)
    if any(rows[place::size] != first[place : place + 1] * count for place in layout.fixed):
        return None
    if any(max(rows[place::size]) >= _IN_TAG for place in layout.small):
        return None
    lookup_ids, messages, sizes, arrived = (_column(rows, number, size, count) for number in layout.numbers)
    place = layout.numbers[0]
    sequence = _Number(place.first + 1, place.width - 1) if place.width == 8 else place  # without the lane
    return PlainPositions(lookup_ids, messages, sizes, arrived, _column(rows, sequence, size, count))


def _layout(value: bytes) -> _Layout | None:
    """Return the layout of a row; None for a row with other attributes or with its message."""
    if not value.startswith(_OPENING, FRAME):
        return None
    at = FRAME + len(_OPENING)
    fixed, small, numbers = list(range(FRAME, at)), list[int](), list[_Number]()
    for name in _NAMES:
        if not value.startswith(name, at) or len(value) < at + len(name) + 1:
            return None
        place = at + len(name)
        width = _WIDTHS.get(value[place], 0)
        fixed += range(at, place)
        (fixed if width else small).append(place)
        numbers.append(_Number(place + 1, width) if width else _Number(place, 1))
        at = place + 1 + width
    fixed.append(at)
    return _Layout(fixed, small, numbers) if value[at:] == _NO_MESSAGE else None


def _column(rows: bytes, number: _Number, size: int, count: int) -> array[int]:
    """Return the numbers of all rows as a column."""
    found = bytearray(8 * count)
    for place in range(number.width):
        # Numbers in rows begin with their highest byte.
        from_the_lowest = number.width - 1 - place
        at = from_the_lowest if sys.byteorder == "little" else 7 - from_the_lowest
        found[at::8] = rows[number.first + place :: size]
    return array("Q", bytes(found))
