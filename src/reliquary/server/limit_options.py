"""Defines the limits of all clients of a server together: the table [limits] of the settings.

[limits]                           RELIQUARY_LIMITS_...
connections = 10000                clients of the data plane at one time
body_memory = 536870912            bytes of all requests that are not answered yet
answer_memory = 536870912          bytes of all answers that clients have not taken yet
transactions = 10000               transactions of one user that have not ended
rate = 0                           requests a second of one user, or of one address; 0 is no limit
burst = 0                          requests that may come at once; 0 is the number of a second
keep = "none"                      the part of a feed that is kept for a reader that stops, such as "7d,10g"
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, get_type_hints

import msgspec

from reliquary.base.faults import UsageError
from reliquary.queueing.model.keep import NONE, parse_keep

_MAY_BE_0: Final = frozenset({"rate", "burst"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOptions:
    """The limits that an administrator may choose."""

    connections: int = 10_000
    """The most clients of the data plane at one time; the limit of open files may allow fewer."""
    body_memory: int = 512 * 1024 * 1024
    """The most bytes of requests that arrive in parts or wait for an answer, of all connections together."""
    answer_memory: int = 512 * 1024 * 1024
    """The most bytes of answers that clients have not read yet, of all connections together."""
    transactions: int = 10_000
    """The most open transactions of one user; all anonymous clients count as one user."""
    rate: int = 0
    """The most requests a second of one user, or of one address without a user; 0 is no limit."""
    burst: int = 0
    """The most requests of one client at once; 0 is the number that `rate` allows in a second."""
    keep: str = NONE
    """The most that is kept for each consumer of a feed after it left its queue, by age, bytes and count."""

    def __post_init__(self) -> None:
        parse_keep(self.keep)
        for one in fields(self):
            least = 0 if one.name in _MAY_BE_0 else 1
            if one.name != "keep" and getattr(self, one.name) < least:
                raise UsageError(
                    f"limits.{one.name} is {getattr(self, one.name)}, it must be at least {least}"
                )


NAMES: Final = tuple(one.name for one in fields(LimitOptions))
_TYPES: Final = get_type_hints(LimitOptions)


def convert(name: str, value: object, *, strict: bool) -> Any:
    """Return one setting of the table, converted to its type."""
    return msgspec.convert(value, _TYPES[name], strict=strict)
