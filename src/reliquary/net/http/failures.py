"""Defines the failures of outgoing requests, each with the possible effects of the request.

    Failure          sent     what the sender knows afterwards
    NO_ADDRESS       no       nothing was sent
    NO_CONNECTION    no       nothing was sent
    NOT_TRUSTED      no       nothing was sent
    LOST             yes      no whole response came: the outcome is unknown
    TIMED_OUT        yes      no whole response came in time: the outcome is unknown
    BAD_RESPONSE     yes      the response is not usable: the outcome is unknown

A courier reports a `Failure`.  The client raises it as an exception:
    RequestFailed
      ConnectFailed    one of the first three
      ConnectionLost   LOST
      TimedOut         TIMED_OUT; the time may also end before the request was sent, which `sent` shows
      BadResponse      BAD_RESPONSE: it is not HTTP, or breaks a limit
"""

from __future__ import annotations

from enum import Enum


class Failure(Enum):
    """The reason why a request has no usable response."""

    NO_ADDRESS = "no-address"
    NO_CONNECTION = "no-connection"
    NOT_TRUSTED = "not-trusted"
    """The server's TLS certificate is not trusted."""
    LOST = "lost"
    """The connection broke, or the response was cut off."""
    TIMED_OUT = "timed-out"
    BAD_RESPONSE = "bad-response"
    """The response is not HTTP, or the protocol above HTTP cannot read it."""

    @property
    def sent(self) -> bool:
        """Whether the peer may have seen the request, wholly or in part."""
        return self in (Failure.LOST, Failure.TIMED_OUT, Failure.BAD_RESPONSE)


class RequestFailed(Exception):
    """There is no answer; `sent` shows whether the peer may have seen the request, wholly or in part."""

    def __init__(self, why: str, failure: Failure, *, sent: bool) -> None:
        super().__init__(why)
        self.failure = failure
        self.sent = sent


class ConnectFailed(RequestFailed):
    """No connection could be made."""

    def __init__(self, why: str, failure: Failure = Failure.NO_CONNECTION) -> None:
        super().__init__(why, failure, sent=False)


class ConnectionLost(RequestFailed):
    """The connection ended before the whole answer came. `began` shows whether a part of it had come."""

    def __init__(self, why: str, *, began: bool) -> None:
        super().__init__(why, Failure.LOST, sent=True)
        self.began = began


class TimedOut(RequestFailed):
    """The time limit of the caller ended."""

    def __init__(self, why: str, *, sent: bool) -> None:
        super().__init__(why, Failure.TIMED_OUT, sent=sent)


class BadResponse(RequestFailed):
    """The answer is not HTTP/1.1, or exceeds a limit."""

    def __init__(self, why: str) -> None:
        super().__init__(why, Failure.BAD_RESPONSE, sent=True)
