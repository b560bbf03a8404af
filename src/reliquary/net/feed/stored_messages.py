"""Reads rows of messages from the disk in threads outside the loop.

A message never changes, and one whose position was read is on disk, so any thread may read it: in the
row of its position, or in a separate row.  Neighbours, which messages of one queue mostly are, are one
range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from operator import attrgetter, eq, sub
from typing import Final, NamedTuple, Protocol

import msgspec

from reliquary.base.faults import StoreDamage
from reliquary.base.rows import FRAME
from reliquary.queueing.feed.plain import PlainPositions
from reliquary.queueing.model.bodies import Bodies
from reliquary.queueing.model.message import Position, StoredBody
from reliquary.queueing.model.tables import LANE_SHIFT, MESSAGES, POSITIONS, message_key, position_key
from reliquary.store import StagedRows
from reliquary.store.disk import Disk

Record = bytes | memoryview | msgspec.Raw
"""A message in the form in which it was written."""
NOTHING: Final[Mapping[int, Record]] = {}

MANY: Final = 4
"""The least number of neighbours for which one range is cheaper to read than single rows."""


_INLINE_IN = attrgetter("inline_in")
_MESSAGE = attrgetter("message")


class Records(NamedTuple):
    """The records of some messages."""

    rows: list[Record | None]
    """The bytes that have the record at their end; None for a removed message."""
    begin: int = 0
    """The position in each of them where the record begins."""


class Gone(Exception):
    """A message was removed, and the reader must not miss it."""


class Stored(Protocol):
    """The interface of a source of message rows."""

    def records(self, positions: Sequence[Position], already_read: Mapping[int, Record] = NOTHING) -> Records:
        """Return the record of the message of each position; None for a removed one."""

    def body(self, body: StoredBody) -> bytes | None:
        """Return a body that is stored in pieces; None if it was removed."""


class StoredMessages:
    """The messages on a disk."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._bodies = Bodies(StagedRows(disk))  # this object stages no rows: it reads the applied ones

    def records(self, positions: Sequence[Position], already_read: Mapping[int, Record] = NOTHING) -> Records:
        """Return the record of each message; None if it was removed.

        Records in `already_read`, by the numbers of their messages, are not read again.
        """
        if not already_read:
            return self._together(positions) or Records(self._read(positions))
        known = [already_read.get(position.message) for position in positions]
        missing = [place for place, record in enumerate(known) if record is None]
        if missing:
            found = self._read([positions[place] for place in missing])
            for place, record in zip(missing, found, strict=True):
                known[place] = record
        return Records(known)

    def _together(self, positions: Sequence[Position]) -> Records | None:
        """Return records with separate rows if all exist and most are neighbours; otherwise None."""
        if isinstance(positions, PlainPositions):
            return self._neighbours(positions.messages)
        return (
            self._neighbours(list(map(_MESSAGE, positions))) if not any(map(_INLINE_IN, positions)) else None
        )

    def _read(self, positions: Sequence[Position]) -> list[Record | None]:
        found = self._inline([position for position in positions if position.inline_in])
        if len(found) == len(positions):
            return list(found.values())
        # A message may have been set apart after its position was read.
        numbers = [position.message for position in positions if position.message not in found]
        found.update(self._apart(numbers))
        return [found.get(position.message) for position in positions]

    def body(self, body: StoredBody) -> bytes | None:
        """Return a body that is stored in pieces; None if it was removed."""
        try:
            return self._bodies.whole(body)
        except StoreDamage:
            if all(self._bodies.piece(body.spool, index) is not None for index in range(body.pieces)):
                raise  # no piece is missing, so the body is damaged
            return None

    # -- in the rows of positions

    def _inline(self, positions: Sequence[Position]) -> dict[int, Record]:
        """Return records by the numbers of their messages, in the order of the positions."""
        if not positions:
            return {}
        rows = self._rows_of(positions)
        keys = [position_key(position.inline_in, position.lookup_id) for position in positions]
        there = [
            (position.message, (key, value))
            for position, key in zip(positions, keys, strict=True)
            if (value := rows.get(key) or self._disk.get(POSITIONS.name, key)) is not None
        ]
        values = POSITIONS.framed([row for _, row in there])
        messages = [memoryview(_decode(memoryview(value)[FRAME:]).message) for value in values]
        return dict(zip([number for number, _ in there], messages, strict=True))

    def _rows_of(self, positions: Sequence[Position]) -> dict[bytes, bytes]:
        """Return the rows of most of these positions, each lane of a queue as one range."""
        lanes: dict[tuple[int, int], list[int]] = {}
        for position in positions:
            lanes.setdefault((position.inline_in, position.lookup_id >> LANE_SHIFT), []).append(
                position.lookup_id
            )
        rows: dict[bytes, bytes] = {}
        for (queue, _), lookup_ids in lanes.items():
            if len(lookup_ids) >= MANY:
                first, last = (
                    position_key(queue, min(lookup_ids)),
                    position_key(queue, max(lookup_ids) + 1),
                )
                rows.update(self._disk.range(POSITIONS.name, first, last, limit=2 * len(lookup_ids)))
        return rows

    # -- in rows of their own

    def _neighbours(self, numbers: Sequence[int]) -> Records | None:
        """Return the records of messages if all exist, as ranges of consecutive numbers; otherwise None."""
        ranges = runs(numbers)
        if len(ranges) * MANY > len(numbers):
            return None
        rows = [row for first, last in ranges for row in self._range(first, last)]
        return Records([*MESSAGES.framed(rows)], FRAME) if len(rows) == len(numbers) else None

    def _apart(self, numbers: Sequence[int]) -> dict[int, Record]:
        """Return records by the numbers of their messages."""
        found: dict[int, Record] = {}
        for first, last in runs(numbers):
            rows = self._each(first, last) if last - first < MANY - 1 else self._range(first, last)
            records = [memoryview(value)[FRAME:] for value in MESSAGES.framed(rows)]
            found.update(zip([int.from_bytes(key) for key, _ in rows], records, strict=True))
        return found

    def _range(self, first: int, last: int) -> list[tuple[bytes, bytes]]:
        return self._disk.range(
            MESSAGES.name, message_key(first), message_key(last + 1), limit=last - first + 1
        )

    def _each(self, first: int, last: int) -> list[tuple[bytes, bytes]]:
        keys = [message_key(number) for number in range(first, last + 1)]
        values = [self._disk.get(MESSAGES.name, key) for key in keys]
        return [(key, value) for key, value in zip(keys, values, strict=True) if value is not None]


class _QueueRowBytes(msgspec.Struct, array_like=True, gc=False):
    """A row of `positions` whose parts are not decoded."""

    position: msgspec.Raw
    message: msgspec.Raw


_decode = msgspec.msgpack.Decoder(_QueueRowBytes).decode


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return neighbours as pairs of their first and last numbers.

    >>> runs([7, 8, 9, 3, 12])
    [(7, 9), (3, 3), (12, 12)]
    """
    if not numbers:
        return []
    first = numbers[0]
    if numbers[-1] - first == len(numbers) - 1 and all(map(eq, numbers, count(first))):
        return [(first, numbers[-1])]
    ends = [place for place, step in enumerate(map(sub, numbers[1:], numbers)) if step != 1]
    firsts = [first, *(numbers[place + 1] for place in ends)]
    return list(zip(firsts, [*(numbers[place] for place in ends), numbers[-1]], strict=True))
