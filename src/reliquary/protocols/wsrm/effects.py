"""Defines what the network performs after the facts are on disk."""

from __future__ import annotations

from reliquary.base.turn import Effect


class Post(Effect, frozen=True):
    """Send an envelope; `PostEnded` follows.

    The requests of one route and epoch leave in this order on one connection, several before the first
    is answered; a new epoch is a new connection.
    """

    route: int
    epoch: int
    ticket: int
    url: str
    content_type: str
    action: str
    """The value of the SOAPAction header; empty if it is not written."""
    body: bytes
    trace_context: str = ""
    """The trace of the message in it; empty for other envelopes."""


class HangUp(Effect, frozen=True):
    """Close the connection of a route; no event follows for requests without a response."""

    route: int
    epoch: int
    """The epoch that ends; requests of a later one are not affected."""
