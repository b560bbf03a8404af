"""Parses limits for messages that are kept for the consumers of a feed: by age, by bytes and by count.

    7d          what arrived within the last seven days
    10g         ten gigabytes
    5000        five thousand messages
    7d,10g      the first limit that is passed counts
    none        everything, until the consumer has read it

A limit concerns messages that left their queue; messages in the queue are kept for applications anyway.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from reliquary.base.faults import UsageError

NONE: Final = "none"
SECOND: Final = 1_000_000
AGES: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400}
SIZES: Final = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_UNITS: Final = {unit: size * SECOND for unit, size in AGES.items()} | SIZES
_MOST: Final = 1 << 62
_PIECE: Final = re.compile(r"([1-9][0-9]{0,17})(s|min|h|d|b|k|m|g|t|)")


class Keep(msgspec.Struct, frozen=True, omit_defaults=True):
    """The limits of what is kept for a consumer; 0 stands for no limit of that kind."""

    age: int = 0
    """The largest age in microseconds."""
    bytes: int = 0
    count: int = 0

    def __str__(self) -> str:
        """Return the limit as `parse_keep` reads it."""
        age = _text(self.age // SECOND, AGES) if self.age else ""
        size = _text(self.bytes, SIZES) if self.bytes else ""
        return ",".join(filter(None, (age, size, str(self.count or "")))) or NONE

    @property
    def is_limit(self) -> bool:
        """Return whether anything is limited."""
        return bool(self.age or self.bytes or self.count)


EVERYTHING: Final = Keep()


def parse_keep(text: str) -> Keep:
    """Return the limit in a text; raise UsageError, which names the valid forms."""
    if text.strip().lower() == NONE:
        return EVERYTHING
    found: dict[str, int] = {}
    for piece in text.lower().split(","):
        match = _PIECE.fullmatch(piece.strip())
        unit = match[2] if match else ""
        number = int(match[1]) * _UNITS.get(unit, 1) if match else _MOST
        if number >= _MOST:
            forms = f"7d, 12h, 10g, 500m, 5000, 7d,10g or {NONE}"
            raise UsageError(f"a limit is written as {forms}, not {text[:80]!r}")
        kind = "age" if unit in AGES else "bytes" if unit else "count"
        if kind in found:
            raise UsageError(f"the limit {text[:80]!r} has two numbers for {kind}: give one")
        found[kind] = number
    return Keep(**found)


def _text(number: int, units: dict[str, int]) -> str:
    """Return a number with the largest unit that divides it."""
    return next(f"{number // size}{unit}" for unit, size in reversed(units.items()) if number % size == 0)
