"""Reads numbers, names and bounds in requests about feeds and batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.queueing.model.message import Position
from reliquary.queueing.model.tables import LAST_ID, SEQUENCE_MASK

LATEST: Final = 2**62
"""A time in microseconds since 1970 that is later than any timestamp."""
BOUNDS: Final = ("from_lookup", "to_lookup", "from_time", "to_time")


def number_of(name: str, given: str | int, most: int = SEQUENCE_MASK) -> int:
    """Return a number that JSON or a query has as digits, so that none of them is lost."""
    text = str(given)
    if not (text.isascii() and text.isdigit() and len(text) <= 20) or int(text) > most:
        raise UsageError(f"{name} is a string with a number from 0 to {most}, not {text[:40]!r}")
    return int(text)


class Bounds(msgspec.Struct, frozen=True):
    """The bounds of the wanted positions, both ends included."""

    from_lookup: int = 0
    to_lookup: int = LAST_ID
    from_time: int = 0
    to_time: int = LATEST

    def wanted(self, positions: Sequence[Position]) -> Sequence[Position]:
        """Return the positions that are within the bounds."""
        if self == EVERYTHING:
            return positions
        low, high, since, until = self.from_lookup, self.to_lookup, self.from_time, self.to_time
        return [
            each for each in positions if low <= each.lookup_id <= high and since <= each.arrived <= until
        ]


EVERYTHING: Final = Bounds()


def bounds_of(given: Mapping[str, str | int]) -> Bounds:
    """Return the bounds that a request names, among other things."""
    most = {"from_lookup": LAST_ID, "to_lookup": LAST_ID, "from_time": LATEST, "to_time": LATEST}
    said = {name: number_of(name, given[name], most[name]) for name in BOUNDS if name in given}
    return Bounds(**said)
