"""Defines time as whole microseconds: without float seconds and naive datetimes; `now` is always a
parameter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, NewType

Instant = NewType("Instant", int)
"""The number of microseconds since 1970-01-01 UTC."""

Duration = NewType("Duration", int)
"""The length of a span in microseconds."""

MILLISECOND: Final = Duration(1_000)
SECOND: Final = Duration(1_000_000)
MINUTE: Final = Duration(60 * SECOND)
HOUR: Final = Duration(60 * MINUTE)
DAY: Final = Duration(24 * HOUR)

_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 253_402_300_799 * SECOND
"""The last moment of the year 9999."""


def seconds(count: float) -> Duration:
    """Return a duration from a number of seconds."""
    return Duration(round(count * SECOND))


def later(moment: Instant, span: Duration) -> Instant:
    """Return the moment that is a span after this one."""
    return Instant(moment + span)


def between(earlier: Instant, moment: Instant) -> Duration:
    """Return the span from one moment to a later one; it is negative if the second moment is earlier."""
    return Duration(moment - earlier)


LAST_SECOND: Final = 0xFFFF_FFFF
"""The largest number of seconds since 1970 that fits in 32 bits, in February 2106."""


def in_whole_seconds(moment: Instant) -> int:
    """Return seconds since 1970, as the attributes CreateTime, ModifyTime and SentTime hold them, in 32 bits.

    Every moment after LAST_SECOND is LAST_SECOND, because no record can hold a larger number. So spans of
    a message with this SentTime are counted from `now`.
    """
    return min(moment // SECOND, LAST_SECOND)


def as_datetime(moment: int) -> datetime:
    """Return a moment as a datetime in UTC."""
    return _START + timedelta(microseconds=moment)


def as_text(moment: int) -> str:
    """Return a moment in ISO 8601.

    >>> as_text(1_700_000_000_000_000)
    '2023-11-14T22:13:20Z'
    """
    second, rest = divmod(min(moment, _LATEST), SECOND)
    return f"{_second_as_text(second)}.{rest:06}Z" if rest else f"{_second_as_text(second)}Z"


@lru_cache(maxsize=1024)
def _second_as_text(second: int) -> str:
    """Return a whole second without its time zone; the result is cached, because many moments share
    a second."""
    return as_datetime(second * SECOND).isoformat().removesuffix("+00:00")
