"""What reaches SRMP from the network, and what the network is told."""

from __future__ import annotations

from enum import Enum

import msgspec

from reliquary.base.turn import Event


class PostArrived(Event, frozen=True):
    """Somebody posted a message to us; `to` waits for a `PostAnswer`."""

    to: int
    content_type: str
    body: bytes


class PostAnswer(msgspec.Struct, frozen=True, gc=False):
    """The status line that a poster gets; `why` is for the log, the answer has no body."""

    status: int
    why: str = ""


class Failure(Enum):
    """Why a POST has no status."""

    NO_ADDRESS = "no-address"
    NO_CONNECTION = "no-connection"
    NOT_TRUSTED = "not-trusted"
    """TLS: the certificate is not one that we accept."""
    LOST = "lost"
    """The connection broke, or what came was no HTTP."""
    TIMED_OUT = "timed-out"


class PostEnded(Event, frozen=True):
    """A POST of ours has its answer, or will have none."""

    session: int
    """The outgoing queue."""
    epoch: int
    """Of its session when it was posted; an answer to an earlier one means nothing any more."""
    lookup_id: int
    status: int = 0
    """0 when there is none."""
    failure: Failure | None = None
    why: str = ""


class ApduArrived(Event, frozen=True):
    """A message came by multicast: HTTP head and body in one."""

    address: str
    """`ip:port` it was sent to."""
    data: bytes


class Addressed(Event, frozen=True):
    """The server listens: under these authorities others reach us (`host`, `host:port`)."""

    receipts_host: str
    """Where stream receipts are asked for."""
    authorities: frozenset[str]
    secure_receipts_host: str = ""
    """The same for https, where that has another port; empty for `receipts_host`."""
    receipts_scheme: str = ""
    """`http` or `https` where we listen to that alone; empty for that of the destination."""
