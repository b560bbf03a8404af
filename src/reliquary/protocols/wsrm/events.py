"""Defines the events from the network and from administrators, and the answer to a request."""

from __future__ import annotations

import msgspec

from reliquary.base.turn import Event
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.queueing.travel.failures import Failure

# -- requests to our endpoints


class PostArrived(Event, frozen=True):
    """A peer posted an envelope to /wsrm/<endpoint>; `to` waits for a `PostAnswer`."""

    to: int
    endpoint: str
    """The path after /wsrm/, percent-decoded."""
    content_type: str
    body: bytes
    by: Principal = ANONYMOUS
    peer: str = ""
    secure: bool = False
    """Whether the request came over TLS."""
    trace_context: str = ""
    """The trace of the request; the message in the envelope has its own."""


class PostAnswer(msgspec.Struct, frozen=True, gc=False):
    """The response to a request, without a body if the status is sufficient."""

    status: int
    content_type: str = ""
    body: bytes = b""
    why: str = ""
    """The reason of a refusal, for the log."""


class CallerLeft(Event, frozen=True):
    """The connection of an unanswered request has ended, so that no response is needed."""

    to: int


# -- responses to our own requests


class PostEnded(Event, frozen=True):
    """A POST of this manager was answered or has failed."""

    connection: int
    epoch: int
    ticket: int
    """The ticket of the `Post`."""
    status: int = 0
    """The HTTP status; 0 without a response."""
    content_type: str = ""
    body: bytes = b""
    failure: Failure | None = None
    why: str = ""


class Addressed(Event, frozen=True):
    """The server listens, and its endpoints are `origin/wsrm/<queue>`."""

    origin: str
    """The server that is connected to, as `http://host[:port]` or `https://host[:port]`."""
    authorities: frozenset[str]
    """All host names of this server, `host` and `host:port` in lower case."""


# -- requests of administrators; the answer is a `Done`


class CloseSequence(Event, frozen=True):
    """Take no new messages of an incoming sequence; send no new ones in an outgoing sequence, and end it."""

    to: int
    sequence: int


class TerminateSequence(Event, frozen=True):
    """End a sequence now; in an outgoing one, missing messages continue in the next sequence."""

    to: int
    sequence: int
