"""How an outgoing request can fail.  The first question is always: can it have been done?

Drawn by what the caller knows afterwards:
    RequestFailed
      ConnectFailed    nothing was sent
      ConnectionLost   sent, and no whole answer came: the outcome is unknown
      TimedOut         the caller's time ran out; `sent` tells whether the outcome is unknown
      BadResponse      sent, and what came back is not HTTP or breaks a limit: the outcome is unknown
"""

from __future__ import annotations


class RequestFailed(Exception):
    """There is no answer.  `sent`: the peer may have seen the request, wholly or in part."""

    def __init__(self, why: str, *, sent: bool) -> None:
        super().__init__(why)
        self.sent = sent


class ConnectFailed(RequestFailed):
    """No connection could be made."""

    def __init__(self, why: str) -> None:
        super().__init__(why, sent=False)


class ConnectionLost(RequestFailed):
    """The connection ended before the whole answer came.  `began`: a part of the answer had come."""

    def __init__(self, why: str, *, began: bool) -> None:
        super().__init__(why, sent=True)
        self.began = began


class TimedOut(RequestFailed):
    """The time that the caller gave ran out."""


class BadResponse(RequestFailed):
    """The answer is not HTTP/1.1, or larger than it may be."""

    def __init__(self, why: str) -> None:
        super().__init__(why, sent=True)
