"""Represents a request that was sent, wholly or in part, and its response while it arrives.

    begun --> taken --> taken --> ended --> whole
        '---------'---------'--------'----> failed

The meaning of a response depends on the protocol: a subclass reads it, sets `is_whole` or calls `fail`, and
calls `changed` whenever its pipeline can continue: after progress, or when nothing more will come.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from reliquary.base.time import Duration
from reliquary.net.http.failures import ConnectionLost, Failure, RequestFailed
from reliquary.net.http.headers import Headers

Req = TypeVar("Req")
"""The request that a protocol gives to its courier."""


class PendingResponse(ABC, Generic[Req]):
    """The response to one request, for its pipeline and its connection."""

    __slots__ = (
        "body_bytes",
        "changed",
        "failure",
        "is_given_up",
        "is_storing",
        "is_whole",
        "nothing_came",
        "request",
        "request_bytes",
        "wait",
        "why",
    )

    def __init__(self, request: Req, changed: Callable[[], None]) -> None:
        self.request = request
        self.changed = changed
        self.request_bytes = 0
        """The size of the request, as far as it was sent in one piece."""
        self.body_bytes = 0
        """The number of bytes of the response's body that have come."""
        self.wait = Duration(0)
        """The time that the server may wait before its response time begins."""
        self.is_whole = False
        """Whether the response can be reported."""
        self.is_storing = False
        """Whether a part of it is being stored, during which nothing more is read."""
        self.failure: Failure | None = None
        self.why = ""
        self.nothing_came = False
        """Whether it failed because the connection ended before the first byte of the response."""
        self.is_given_up = False

    @abstractmethod
    def begun(self, status: int, headers: Headers) -> None:
        """Take the status and the header fields of the response."""

    @abstractmethod
    def taken(self, data: bytes) -> None:
        """Take a part of the body."""

    @abstractmethod
    def ended(self) -> None:
        """Record that the body is complete."""

    def failed(self, why: RequestFailed) -> None:
        """Record that the response was cut off, never came, or is not HTTP."""
        self.nothing_came = isinstance(why, ConnectionLost) and not why.began
        self.fail(why.failure, str(why))

    def fail(self, failure: Failure, why: str) -> None:
        """Keep the reason why there is no usable response; only the first reason counts."""
        if self.failure is None and not self.is_given_up:
            self.failure, self.why = failure, why
            self.changed()

    def give_up(self) -> None:
        """Stop the response, of which nothing is reported any more."""
        self.is_given_up = True
