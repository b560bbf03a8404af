"""Defines the events from the network and from administrators, and the answers to them."""

from __future__ import annotations

from enum import Enum

import msgspec

from reliquary.base.turn import Event
from reliquary.protocols.httpr.codec.values import (
    Carried,
    Disposition,
    ErrorNumber,
    RequestHeader,
    ResponseHeader,
)
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal

# -- requests to our server agent


class RequestBegun(Event, frozen=True):
    """The header of a request is complete and its batch is not; older connections end now (3.8)."""

    connection: int
    """Later connections have higher numbers."""
    service: str
    header: RequestHeader
    by: Principal = ANONYMOUS


class RequestArrived(Event, frozen=True):
    """A request is complete; `to` waits for an `Answer`."""

    to: int
    connection: int
    service: str
    """The part of the path that follows /httpr/."""
    header: RequestHeader | None
    """None if it could not be read."""
    batch: tuple[Carried, ...] = ()
    disposition: Disposition | None = None
    """The terminator; None for a command without a batch."""
    fault: ErrorNumber | None = None
    """The reason why the rest of the request could not be read; the batch is empty then."""
    why: str = ""
    by: Principal = ANONYMOUS


class ConnectionGone(Event, frozen=True):
    """A connection of the server has ended, so that requests waiting on it need no answer."""

    connection: int


class Answer(msgspec.Struct, frozen=True):
    """The response to a request; messages are encoded when it leaves."""

    header: ResponseHeader
    batch: tuple[Message, ...] = ()
    """Not empty only with a transaction id in the header; the terminator is `last`."""
    why: str = ""
    """The reason of an error, for the log."""


# -- responses to our client agent


class Failure(Enum):
    """The reason why a request of the client has no usable response.

    With the first three no byte of it was sent, nor of the requests behind it; with the others its outcome is
    unknown.
    """

    NO_ADDRESS = "no-address"
    NO_CONNECTION = "no-connection"
    NOT_TRUSTED = "not-trusted"
    LOST = "lost"
    """The connection broke, or the body was cut off."""
    TIMED_OUT = "timed-out"
    NOT_HTTPR = "not-httpr"
    """The status is not 200, or the body cannot be read."""


class ResponseArrived(Event, frozen=True):
    """A complete response, with its batch if it has one."""

    channel: int
    epoch: int
    """The number of the connection; a response on an older connection is ignored (HR-042)."""
    number: int
    """The number of the request in this epoch."""
    header: ResponseHeader
    batch: tuple[Carried, ...] = ()
    disposition: Disposition | None = None


class RequestFailed(Event, frozen=True):
    """A request has no usable response, nor will the requests behind it in this epoch (one event for all)."""

    channel: int
    epoch: int
    number: int
    failure: Failure
    why: str = ""


class Addressed(Event, frozen=True):
    """The server listens, and its agents are `origin/httpr/<service>`."""

    origin: str
    """The server that is connected to, as `httpr://host[:port]`."""
    authorities: frozenset[str]
    """All host names of this server, `host` and `host:port` in lower case."""


# -- requests of administrators; the answer is a `Done`


class ReportChannel(Event, frozen=True):
    """Send a REPORT over this channel now, to resolve what is in doubt."""

    to: int
    channel: int


class ForgetChannel(Event, frozen=True):
    """Forget the channel, and let the peer forget it, once nothing is in doubt.

    If the client of the channel is another agent, only the own side is forgotten.
    """

    to: int
    channel: int


class SettleChannel(Event, frozen=True):
    """Settle all batches in doubt of this channel, in place of a peer that will never answer again."""

    to: int
    channel: int
    arrived: bool
    """The peer has the messages, so they leave; else they are available again."""
