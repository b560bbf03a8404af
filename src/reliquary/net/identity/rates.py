"""Limits the requests in a second of a user, or of an address without a user.

    bucket of a client   `burst` at first; each request takes one, each second brings `rate`
    empty                429, with the seconds until the next request is allowed

A rate of 0 means no limit.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Final

from reliquary.base.time import SECOND
from reliquary.net.identity.failures import group_of
from reliquary.net.identity.shown import Denied
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal

KEPT: Final = 10_000
"""The number of clients that are counted; above it, the client with the oldest request is forgotten."""


class TooManyRequests(Denied):
    """A client sent more requests than it may."""

    status = 429
    code = "TOO_MANY_REQUESTS"


class Rates:
    """The requests of all clients."""

    __slots__ = ("_buckets", "_monotonic", "burst", "rate")

    def __init__(self, monotonic: Callable[[], int], rate: int = 0, burst: int = 0) -> None:
        """`monotonic` counts microseconds; a `burst` of 0 means the requests of one second."""
        self._monotonic = monotonic
        self._buckets: dict[Principal | str, tuple[float, int]] = {}
        """Per client the remaining requests and the time of that count; the latest client is last."""
        self.rate = rate
        self.burst = burst

    def change(self, rate: int, burst: int) -> None:
        """Set other limits; all clients start with a full bucket."""
        self.rate, self.burst = rate, burst
        self._buckets.clear()

    def count(self, by: Principal, peer: str) -> None:
        """Count a request of a client; TooManyRequests if none is left."""
        rate, client = self.rate, group_of(peer) if by is ANONYMOUS else by
        if not rate:
            return
        most, now = float(self.burst or rate), self._monotonic()
        left, at = self._buckets.pop(client, (most, now))
        left = min(most, left + (now - at) * rate / SECOND)
        allowed = left >= 1
        if len(self._buckets) >= KEPT:
            del self._buckets[next(iter(self._buckets))]
        self._buckets[client] = (left - allowed, now)
        if not allowed:
            why = TooManyRequests(f"this client may send {rate} requests a second; try again later")
            why.headers = ((b"retry-after", b"%d" % ceil((1 - left) / rate)),)
            raise why
