"""What goes on over a channel that another agent drives: its session, its requests, the PULL that waits.

All of it ends with the process: a client hears 528 then, and what is on disk is told again (HR-028, HR-031).
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
from reliquary.queueing.message import Message
from reliquary.queueing.security.principals import Principal

NEVER: Final = Instant(0)
Pair = tuple[Outcome, int]
"""`outcome` and `completed`, which go together or not at all."""


@dataclass(slots=True)
class Session:
    """Begun by GET-RESPONDER-INFO; in force until either side says `session:end` (3.6)."""

    identifier: str
    agreed: Capabilities
    by: Principal
    """Who began it; nobody else may use its name, which is easy to guess."""
    used: Instant
    """When something last happened in it."""

    @property
    def pipelined(self) -> bool:
        """Whether a request may be on its way before the one ahead of it is answered."""
        return self.agreed.maximum_pipeline_depth > 1

    @property
    def patience(self) -> Duration:
        """How long it is kept while nothing happens; a second at least, or nobody could use it."""
        return Duration(max(self.agreed.idle_session_interval, 1) * SECOND)


@dataclass(slots=True)
class Asked:
    """A request that has no answer yet."""

    event: RequestArrived
    header: RequestHeader
    arrived: Instant
    agreed: Capabilities
    session: Session | None = None
    responder: str = ""
    """What the answer calls us: of a request without a session, and of GET-RESPONDER-INFO (HR-035)."""
    said: Fields | None = None
    """Capabilities that the answer lowers (H-04)."""
    fault: ErrorNumber | None = None
    """Why it is refused when its turn comes."""
    why: str = ""
    unsettled: bool = False
    """The client says that it has not got a batch of ours, while others may be on their way to it."""

    @property
    def pipelined(self) -> bool:
        """Whether others may be behind it already."""
        return self.session is not None and self.session.pipelined


@dataclass(slots=True)
class Collecting:
    """A PULL or EXCHANGE whose batch is not closed."""

    asked: Asked
    pair: Pair | None
    """What its answer says of the client's own batches."""
    own: bool
    """It takes from a queue of ours, not from outgoing ones."""
    batch: int = 0
    """The id of the batch, on disk with its first message; 0 before."""
    messages: list[Message] = field(default_factory=list)
    size: int = 0
    first: Instant = NEVER
    latest: Instant = NEVER
    queue: int = 0
    """Where the messages are, or will be; 0 where that is not known yet."""
    reaching: tuple[str | int, ...] = ()
    """The queues that were asked for messages, until the manager answers."""
    again: bool = False
    """More came while they were asked."""

    @property
    def deadline(self) -> Instant:
        """When the batch must be closed, whatever is in it (HR-094 to HR-097)."""
        agreed = self.asked.agreed
        whole = self.asked.arrived + agreed.max_wait_batch * MILLISECOND
        if not self.messages:
            return Instant(min(whole, self.asked.arrived + agreed.empty_batch_delay * MILLISECOND))
        latency = self.first + agreed.max_latency * MILLISECOND
        return Instant(min(whole, latency, self.latest + agreed.max_wait_next * MILLISECOND))


@dataclass(slots=True)
class Served:
    """The volatile part of a channel at its server."""

    channel: int
    service: str = ""
    connection: int = 0
    """The newest connection that carried the channel; what older ones bring is not heard (3.8)."""
    session: Session | None = None
    line: deque[Asked] = field(default_factory=deque)
    """Requests without an answer, in the order they came (HR-046)."""
    at_work: bool = False
    """The first of them is being served, and the others wait."""
    collecting: Collecting | None = None
    """What that one waits for, where it is messages."""
    trouble: str = ""
    """What was last refused, for people."""
    last_queue: int = 0
    """The outgoing queue that gave the last batch: the next has its turn."""


@dataclass(slots=True)
class Connection:
    """A connection of the server that is open, as far as we know."""

    channels: set[int] = field(default_factory=set)
    introduced: bool = False
    """Our agent-type was said there (HR-101)."""
