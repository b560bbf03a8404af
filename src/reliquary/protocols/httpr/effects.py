"""Defines what the network performs after the facts are on disk."""

from __future__ import annotations

from reliquary.base.time import Duration
from reliquary.base.turn import Effect
from reliquary.protocols.httpr.codec.values import BatchLimits, RequestHeader
from reliquary.queueing.model.message import Message


class SendRequest(Effect, frozen=True):
    """POST a request; `ResponseArrived` or `RequestFailed` follows.

    The requests of one channel and epoch leave in this order on one connection, without waiting for
    each other; a new epoch is a new connection.
    """

    channel: int
    epoch: int
    number: int
    """1, 2, 3 ... in an epoch."""
    url: str
    """The URL of the responder: `http://host[:port]/path`."""
    header: RequestHeader
    batch: tuple[Message, ...] = ()
    """The messages of PUSH and EXCHANGE; encoded when the request leaves, terminator `last`."""
    limits: BatchLimits | None = None
    """The limits of the batch in the response."""
    wait: Duration = Duration(0)
    """How long the server may wait for messages before it answers; the response time begins after it."""


class HangUp(Effect, frozen=True):
    """Close the connection of an epoch, and older ones; no event follows for requests without a response."""

    channel: int
    epoch: int


class CutConnection(Effect, frozen=True):
    """Close a connection of the server, because a later one carries its channel (3.8)."""

    connection: int
