"""Events from the network and from administrators, and the answer to a request."""

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
    """The path behind /wsrm/, percent-decoded."""
    content_type: str
    body: bytes
    by: Principal = ANONYMOUS
    peer: str = ""
    secure: bool = False
    """Whether the request came over TLS."""
    trace_context: str = ""
    """The trace that the request belongs to; what is in the envelope has its own."""


class PostAnswer(msgspec.Struct, frozen=True, gc=False):
    """The response to a request; without a body where the status says everything."""

    status: int
    content_type: str = ""
    body: bytes = b""
    why: str = ""
    """The reason of a refusal, for the log."""


class CallerLeft(Event, frozen=True):
    """The connection of a request without an answer has ended: its response is not needed any more."""

    to: int


# -- responses to our own requests


class PostEnded(Event, frozen=True):
    """A request of ours has its response, or will have none."""

    route: int
    epoch: int
    ticket: int
    """The ticket of the `Post`."""
    status: int = 0
    """0 where there is none."""
    content_type: str = ""
    body: bytes = b""
    failure: Failure | None = None
    why: str = ""


class Addressed(Event, frozen=True):
    """The server listens: our endpoints are `origin/wsrm/<queue>`."""

    origin: str
    """The server that is connected to, as `http://host[:port]` or `https://host[:port]`."""
    authorities: frozenset[str]
    """All our host names, `host` and `host:port` in lower case."""


# -- requests of administrators; the answer is a `Done`


class CloseSequence(Event, frozen=True):
    """Take no new messages of a sequence that comes in; of one that goes out, send no new ones and end it."""

    to: int
    sequence: int


class TerminateSequence(Event, frozen=True):
    """End a sequence now, whatever is missing; of one that goes out, what is missing goes on in the next."""

    to: int
    sequence: int
