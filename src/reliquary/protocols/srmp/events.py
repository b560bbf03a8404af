"""Events that reach SRMP from the network, and the answer to a POST."""

from __future__ import annotations

import msgspec

from reliquary.base.turn import Event
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.travel.failures import Failure


class PostArrived(Event, frozen=True):
    """Another host posted a message to us; `to` waits for a `PostAnswer`."""

    to: int
    content_type: str
    body: bytes
    hops: int = 0
    """How many managers have passed the message on."""
    peer: str = ""
    """The address of the host that posted it; empty where it is not known."""


class PostAnswer(msgspec.Struct, frozen=True, gc=False):
    """The status that answers a POST, without a body; a refusal has its reason in a header field."""

    status: int
    why: str = ""
    reason: MessageClass = MessageClass.NORMAL
    """Of a refusal, a Nack; NORMAL for a message that is malformed."""


class PostEnded(Event, frozen=True):
    """A POST of ours has its answer, or will have none."""

    session: int
    """The outgoing queue."""
    epoch: int
    """That of its session when it was posted; an answer to an earlier one is ignored."""
    lookup_id: int
    status: int = 0
    """0 when there is none."""
    failure: Failure | None = None
    why: str = ""
    """What failed, or the words of a peer that refuses the message."""
    reason: MessageClass | None = None
    """Why a peer of our own kind refuses it; None where it does not say."""


class ResetStream(Event, frozen=True):
    """Give up what a stream knows, in place of a peer that cannot go on with it."""

    to: int
    stream: str
    """Its name: `out-` or `in-` and what follows."""
    renumber: bool = False
    """Of a stream that goes out: what is not confirmed goes again under new numbers, else to dead letters."""


class ApduArrived(Event, frozen=True):
    """A message came by multicast: head and body of a POST in one."""

    address: str
    """`ip:port` it was sent to."""
    data: bytes


class Addressed(Event, frozen=True):
    """The server listens: under these authorities others reach us (`host`, `host:port`)."""

    receipts_host: str
    """Where stream receipts are to be sent."""
    authorities: frozenset[str]
    secure_receipts_host: str = ""
    """Where they are to be sent by https, if that has another port; empty for `receipts_host`."""
    receipts_scheme: str = ""
    """`http` or `https` where we listen to one alone; empty for the scheme of the destination."""
