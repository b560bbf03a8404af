"""Defines what the network performs for SRMP after the facts are on disk."""

from __future__ import annotations

from reliquary.base.turn import Effect


class Post(Effect, frozen=True):
    """Send a message; `PostEnded` reports the answer.

    The POSTs of one session go out in this order on one connection, several at a time.
    """

    session: int
    epoch: int
    lookup_id: int
    server: str
    """`http://host[:port]` to connect to, after redirection."""
    authority: str
    """The Host header, which names the host of the destination."""
    target: str
    """The path and query of the request."""
    content_type: str
    body: bytes
    hops: int = 0
    """How many managers have forwarded the message."""
    trace_context: str = ""
    """The trace of the message, for header fields of HTTP."""


class EndSession(Effect, frozen=True):
    """Close the connection of a session; for POSTs without an answer no `PostEnded` comes."""

    session: int
    epoch: int
    """The epoch that ends; POSTs of a later one are not affected."""


class SendApdu(Effect, frozen=True):
    """Send a message by multicast; `PostEnded` with status 200 comes when it is on the wire."""

    session: int
    epoch: int
    lookup_id: int
    address: str
    """The address of the group, as `ip:port`."""
    data: bytes


class ListenTo(Effect, frozen=True):
    """Join these multicast groups (`ip:port`) and leave all others."""

    addresses: frozenset[str]
