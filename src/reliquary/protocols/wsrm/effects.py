"""Defines what the network performs after the facts are on disk."""

from __future__ import annotations

from reliquary.base.turn import Effect


class Post(Effect, frozen=True):
    """Send an envelope; `PostEnded` follows.

    The requests of one connection and epoch leave in this order, several before the first is answered; with
    a new epoch another TCP connection is opened.
    """

    connection: int
    """The number of the outgoing queue, or a negative number of an address of a peer."""
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
    """Close a connection; no event follows for requests without a response."""

    connection: int
    epoch: int
    """The epoch that ends; requests of a later one are not affected."""
