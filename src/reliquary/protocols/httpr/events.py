"""What reaches HTTPR from the network and from administrators, and what they are told."""

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
from reliquary.queueing.message import Message
from reliquary.queueing.security.principals import ANONYMOUS, Principal

# -- requests of others


class RequestBegun(Event, frozen=True):
    """The header of a request is here, its batch is still on the way: older connections end now (3.8)."""

    connection: int
    """Later connections have higher numbers."""
    service: str
    header: RequestHeader
    by: Principal = ANONYMOUS


class RequestArrived(Event, frozen=True):
    """A request is whole; `to` waits for an `Answer`."""

    to: int
    connection: int
    service: str
    """What follows /httpr/ in the path."""
    header: RequestHeader | None
    """None where it could not be read."""
    batch: tuple[Carried, ...] = ()
    disposition: Disposition | None = None
    """The terminator; None for a command without a batch."""
    fault: ErrorNumber | None = None
    """Why the rest of it could not be read; the batch is empty then."""
    why: str = ""
    by: Principal = ANONYMOUS


class ConnectionGone(Event, frozen=True):
    """A connection of the server has ended: requests that wait on it need no answer."""

    connection: int


class Answer(msgspec.Struct, frozen=True):
    """The response to a request; messages are encoded when it leaves."""

    header: ResponseHeader
    batch: tuple[Message, ...] = ()
    """Not empty only with a transaction id in the header; the terminator is `last`."""
    why: str = ""
    """Of an error, for the log."""


# -- answers to our own requests


class Failure(Enum):
    """Why a request of ours has no usable response.

    The first three: no byte was sent of it, nor of those behind it.  The others leave its outcome unknown.
    """

    NO_ADDRESS = "no-address"
    NO_CONNECTION = "no-connection"
    NOT_TRUSTED = "not-trusted"
    LOST = "lost"
    """The connection broke, or the body was cut off."""
    TIMED_OUT = "timed-out"
    NOT_HTTPR = "not-httpr"
    """Another status than 200, or a body that cannot be read."""


class ResponseArrived(Event, frozen=True):
    """A response is whole."""

    channel: int
    epoch: int
    """Of the connection on which it was asked; what an older one brings means nothing (HR-042)."""
    number: int
    """Of the request, in this epoch."""
    header: ResponseHeader
    batch: tuple[Carried, ...] = ()
    disposition: Disposition | None = None


class RequestFailed(Event, frozen=True):
    """A request has no usable response, and neither will those behind it in this epoch (told once)."""

    channel: int
    epoch: int
    number: int
    failure: Failure
    why: str = ""


class Addressed(Event, frozen=True):
    """The server listens: our agents are `origin/httpr/<service>`."""

    origin: str
    """`httpr://host[:port]`."""
    authorities: frozenset[str]
    """All names of ours, `host` and `host:port` in lower case."""


# -- what administrators ask for; the answer is a `Done`


class ReportChannel(Event, frozen=True):
    """Send a REPORT over this channel now: find out what is in doubt."""

    to: int
    channel: int


class ForgetChannel(Event, frozen=True):
    """Forget the channel, and let the peer forget it, once nothing is in doubt.

    Of a channel that others drive, only our own side.
    """

    to: int
    channel: int


class SettleChannel(Event, frozen=True):
    """Decide about all that is in doubt over this channel, in place of a peer that is gone for good."""

    to: int
    channel: int
    arrived: bool
    """The peer has the messages, so they leave; else they are there again."""


class Done(msgspec.Struct, frozen=True):
    """What an administrator is told; `why` is one sentence where it was not done."""

    done: bool
    why: str = ""
