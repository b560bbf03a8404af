"""Defines the volatile state of a channel at its server: its session, its requests, the PULL that waits.

It is lost with the process: a client then gets 528, and asks for the durable state again (HR-028, HR-031).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from reliquary.base.time import MILLISECOND, SECOND, Duration, Instant
from reliquary.protocols.httpr.codec.values import (
    Capabilities,
    ErrorNumber,
    Fields,
    Outcome,
    RequestHeader,
)
from reliquary.protocols.httpr.events import RequestArrived
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.security.principals import Principal

NEVER: Final = Instant(0)
Pair = tuple[Outcome, int]
"""`outcome` and `completed`; a response has both or neither."""


@dataclass(slots=True)
class Session:
    """A session, begun by GET-RESPONDER-INFO and in force until either side sends `session:end` (3.6)."""

    identifier: str
    agreed: Capabilities
    by: Principal
    """The user that began the session; only this user may use its identifier, which is easy to guess."""
    last_used: Instant
    """When a request of the session was last answered."""

    @property
    def pipelined(self) -> bool:
        """Whether a request may be sent before the preceding one is answered."""
        return self.agreed.maximum_pipeline_depth > 1

    @property
    def idle_limit(self) -> Duration:
        """How long an idle session is kept.

        At least one second, because no client could use a shorter one.
        """
        return Duration(max(self.agreed.idle_session_interval, 1) * SECOND)


@dataclass(slots=True)
class PendingRequest:
    """A request that is not answered yet."""

    event: RequestArrived
    header: RequestHeader
    arrived: Instant
    agreed: Capabilities
    session: Session | None = None
    responder: str = ""
    """Our name in the answer to a request without a session, and to GET-RESPONDER-INFO (HR-035)."""
    lowered: Fields | None = None
    """Capabilities that the answer lowers (H-04)."""
    fault: ErrorNumber | None = None
    """The error with which it is refused when its turn comes."""
    why: str = ""
    unsettled: bool = False
    """The client did not take a batch of ours, while later batches may be on their way to it."""

    @property
    def pipelined(self) -> bool:
        """Whether later requests may have been sent already."""
        return self.session is not None and self.session.pipelined


@dataclass(slots=True)
class PullInProgress:
    """A PULL or EXCHANGE whose batch is still being filled."""

    request: PendingRequest
    pair: Pair | None
    """The outcome of the client's own batches, for the answer."""
    from_own_queue: bool
    """Whether the messages come from a local queue, and not from outgoing queues to the client."""
    batch: int = 0
    """The id of the batch, on disk together with its first message; 0 before."""
    messages: list[Message] = field(default_factory=list)
    size: int = 0
    """The bytes of all bodies."""
    first_at: Instant = NEVER
    latest_at: Instant = NEVER
    queue: int = 0
    """The queue of the messages, or the one that is watched; 0 while it is not known."""
    asked_queues: tuple[str | int, ...] = ()
    """The queues from which messages were requested, until the queue manager answers."""
    ask_again: bool = False
    """More messages came while the queue manager was asked."""

    @property
    def deadline(self) -> Instant:
        """The latest time at which the batch is closed (HR-094 to HR-097)."""
        agreed = self.request.agreed
        whole = self.request.arrived + agreed.max_wait_batch * MILLISECOND
        if not self.messages:
            return Instant(min(whole, self.request.arrived + agreed.empty_batch_delay * MILLISECOND))
        latency = self.first_at + agreed.max_latency * MILLISECOND
        return Instant(min(whole, latency, self.latest_at + agreed.max_wait_next * MILLISECOND))


@dataclass(slots=True)
class ServerChannel:
    """The volatile part of a channel at its server."""

    number: int
    """The number of the channel's row."""
    service: str = ""
    connection: int = 0
    """The newest connection that carried the channel; requests on older ones are ignored (3.8)."""
    session: Session | None = None
    requests: deque[PendingRequest] = field(default_factory=deque)
    """Requests without an answer, in the order in which they came (HR-046)."""
    busy: bool = False
    """The first request is being served, and the others wait."""
    pull: PullInProgress | None = None
    """The first request, while it waits for messages."""
    last_error: str = ""
    """The last refusal, as a sentence for administrators."""
    last_queue: int = 0
    """The outgoing queue that gave the last batch; the next batch begins with the queue after it."""


@dataclass(slots=True)
class Connection:
    """An open connection of the server."""

    channels: set[int] = field(default_factory=set)
    introduced: bool = False
    """A response on it has carried our agent-type (HR-101)."""
