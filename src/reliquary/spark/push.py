"""Selects filters of a batch read that the server can apply: position in the queue, time of arrival.

A filter that is *taken* is not applied again by Spark, so its bounds must be exact; one that only narrows
(`IN`) gives its bounds to the server and stays with Spark as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from reliquary.client.feed import Bounds

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_COLUMNS: Final = {"lookup_id": "lookup", "arrived": "time"}
"""Columns that are never null and have bounds, with the names of the bounds."""


def push(filters: Iterable[Filter], bounds: Bounds) -> tuple[Bounds, list[Filter]]:
    """Return the bounds after all of these filters, and the filters that Spark has to apply itself."""
    left: list[Filter] = []
    for each in filters:
        narrowed, exact = _narrow(each, bounds)
        bounds = narrowed
        if not exact:
            left.append(each)
    return bounds, left


def _narrow(each: Filter, bounds: Bounds) -> tuple[Bounds, bool]:
    """Return the bounds with another filter, and whether they express the whole filter."""
    column: tuple[str, ...] = getattr(each, "attribute", ())
    side = _COLUMNS.get(column[0]) if len(column) == 1 else None
    if side is None or isinstance(each, IsNotNull):
        return bounds, side is not None
    values = each.value if isinstance(each, In) else (getattr(each, "value", None),)
    numbers = [number for value in values if (number := _number(value, side)) is not None]
    if not numbers or len(numbers) < len(values):
        return bounds, False
    low, high = min(numbers), max(numbers)
    match each:
        case EqualTo() | In():
            return _between(bounds, side, low, high), low == high
        case GreaterThan():
            return _between(bounds, side, low + 1, None), True
        case GreaterThanOrEqual():
            return _between(bounds, side, low, None), True
        case LessThan():
            return _between(bounds, side, None, high - 1), True
        case LessThanOrEqual():
            return _between(bounds, side, None, high), True
        case _:
            return bounds, False


def _number(value: Any, side: str) -> int | None:
    """Return a lookup id, or microseconds since 1970; None for another value."""
    if side == "lookup":
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if isinstance(value, datetime) and value.tzinfo is not None:
        return (value - _EPOCH) // timedelta(microseconds=1)
    return None


def _between(bounds: Bounds, side: str, low: int | None, high: int | None) -> Bounds:
    """Return bounds that are never wider than these."""
    lows = [each for each in (low, getattr(bounds, f"from_{side}")) if each is not None]
    highs = [each for each in (high, getattr(bounds, f"to_{side}")) if each is not None]
    lowest, highest = max(lows, default=None), min(highs, default=None)
    if side == "lookup":
        return Bounds(lowest, highest, bounds.from_time, bounds.to_time)
    return Bounds(bounds.from_lookup, bounds.to_lookup, lowest, highest)


def between_times(bounds: Bounds, low: int | None, high: int | None) -> Bounds:
    """Return narrower bounds of the time of arrival, in microseconds since 1970; both ends are included."""
    return _between(bounds, "time", low, high)


def is_empty(bounds: Bounds) -> bool:
    """Return whether no row can be within the bounds."""
    return _crossed(bounds.from_lookup, bounds.to_lookup) or _crossed(bounds.from_time, bounds.to_time)


def _crossed(low: int | None, high: int | None) -> bool:
    return low is not None and high is not None and low > high
