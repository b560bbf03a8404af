"""Defines the events from the network, and the answer to a POST."""

from __future__ import annotations

import msgspec

from reliquary.base.turn import Event
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.travel.failures import Failure
from reliquary.streams import events


class PostArrived(Event, frozen=True):
    """Another host posted a message to this server; `to` waits for a `PostAnswer`."""

    to: int
    content_type: str
    body: bytes
    hops: int = 0
    """How many managers have forwarded the message."""
    peer: str = ""
    """The address of the host that posted it; empty if it is unknown."""
    trace_context: str = ""
    """The trace that the message belongs to."""


class PostAnswer(msgspec.Struct, frozen=True, gc=False):
    """The status that answers a POST, without a body; a refusal has its reason in a header field."""

    status: int
    why: str = ""
    reason: MessageClass = MessageClass.NORMAL
    """The class of a refusal, a Nack; NORMAL for a malformed message."""


class PostEnded(Event, frozen=True):
    """A POST of this manager was answered or has failed."""

    session: int
    """The number of the outgoing queue."""
    epoch: int
    """The epoch of the session when the message was posted; an answer to an earlier one is ignored."""
    lookup_id: int
    status: int = 0
    """The HTTP status; 0 without an answer."""
    failure: Failure | None = None
    why: str = ""
    """The failure, or the text of a peer that refuses the message."""
    reason: MessageClass | None = None
    """The reason from a peer that runs this program; None if the answer has none."""


class ResetStream(events.ResetStream, frozen=True):
    """An administrator resets a stream of SRMP."""


class ApduArrived(Event, frozen=True):
    """A message came by multicast: head and body of a POST in one."""

    address: str
    """The multicast address `ip:port` of the message."""
    data: bytes


class Addressed(Event, frozen=True):
    """The server listens: other hosts reach it under these authorities (`host`, `host:port`)."""

    receipts_host: str
    """The host that stream receipts are sent to."""
    authorities: frozenset[str]
    secure_receipts_host: str = ""
    """The host for receipts by https, if that has another port; empty for `receipts_host`."""
    receipts_scheme: str = ""
    """`http` or `https` if the server listens to only one of them.

    Empty for the scheme of the destination.
    """
