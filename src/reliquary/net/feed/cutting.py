"""Finds the end of a batch, and divides it into parts of about equal size.

    places      o  o   o o     o   o  o      o          each with its bytes
    admitted   |<-- until a limit of rows or bytes -->|
    parts      |<---------->|<--------->|<----------->| by bytes, and a little for each row

Parts are consecutive ranges of numbers: each position of the batch is in exactly one of them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from operator import add
from typing import Final, NamedTuple

import msgspec

ROW: Final = 256
"""The cost of a row in addition to its bytes, in bytes."""


class PartOut(msgspec.Struct, frozen=True):
    """A range: after < place <= until."""

    after: str
    until: str
    rows: int
    bytes: int


class PlanOut(msgspec.Struct, frozen=True):
    """The end of a batch, its size, and its parts."""

    until: str
    rows: int
    bytes: int
    parts: tuple[PartOut, ...]


class RowGroup(NamedTuple):
    """Rows up to an arrival number, which stay together."""

    until: int
    rows: int
    bytes: int


class Admission:
    """Counts positions, in order, until a batch is full."""

    def __init__(self, rows: int | None, size: int | None) -> None:
        self._most_rows = rows
        self._most_bytes = size
        self._ends = array("Q")
        self._rows = array("Q")
        self._sizes = array("Q")
        self._total = 0
        self.full = False
        """Whether the next position did not fit."""

    @property
    def is_bounded(self) -> bool:
        """Whether every position has to be counted."""
        return self._most_rows is not None or self._most_bytes is not None

    @property
    def rows(self) -> int:
        """The number of positions that were counted one by one."""
        return len(self._ends)

    @property
    def last(self) -> int:
        """The last position that fits."""
        return self._ends[-1]

    def take(self, numbers: Sequence[int], sizes: Sequence[int]) -> None:
        """Add positions; those after the first that does not fit are ignored."""
        if self.full or not numbers:
            return
        room = len(numbers)
        if self._most_rows is not None and len(self._ends) + room > self._most_rows:
            room = max(self._most_rows - len(self._ends), 0)
        if self._most_bytes is not None:
            totals = list(accumulate(sizes[:room], initial=self._total))
            room = min(room, bisect_left(totals, self._most_bytes + 1, lo=1) - 1)
        if not self._ends:
            room = max(room, 1)  # at least one row, or the batch would never advance
        self.full = room < len(numbers)
        self._ends.extend(numbers[:room])
        self._rows.extend([1] * room)
        self._sizes.extend(sizes[:room])
        self._total += sum(sizes[:room])

    def estimate(self, steps: Sequence[RowGroup]) -> None:
        """Add positions after the counted ones, with estimated numbers of rows and bytes."""
        self._ends.extend([step.until for step in steps])
        self._rows.extend([step.rows for step in steps])
        self._sizes.extend([step.bytes for step in steps])

    def plan(self, after: int, until: int, parts: int) -> PlanOut:
        """Return the batch, which ends at `until` unless it is full."""
        if self.full:
            until = self.last
        ends, rows, sizes = self._ends, self._rows, self._sizes
        if not ends:
            return PlanOut(str(until), 0, 0, ())
        weights = list(accumulate(map(add, sizes, map(ROW.__mul__, rows))))
        cuts = [bisect_left(weights, weights[-1] * part / parts) + 1 for part in range(1, parts)]
        found: list[PartOut] = []
        first = 0
        for last in sorted({*cuts, len(ends)}):
            if last <= first:
                continue
            end = until if last == len(ends) else ends[last - 1]
            count, size = sum(rows[first:last]), sum(sizes[first:last])
            found.append(PartOut(str(after), str(end), count, size))
            after, first = end, last
        return PlanOut(str(until), sum(rows), sum(sizes), tuple(found))
