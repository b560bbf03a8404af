"""What the client agent knows about one of its channels: connection, session, requests without a response.

All of it ends with the process; which batches are in doubt is in the channel's row.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from reliquary.base.time import MILLISECOND, SECOND, Duration, Instant
from reliquary.protocols.httpr.client.phases import Move, Phase, moved
from reliquary.protocols.httpr.codec.values import NOTHING, Capabilities, Carried, Command
from reliquary.protocols.httpr.settings import Peer
from reliquary.queueing.model.message import Message, MessageClass

SINGLE: Final = 1
"""The pipeline depth without a session (HR-034, HR-062), and while a refused message is searched for."""


@dataclass(slots=True)
class SentRequest:
    """A request that has no response yet."""

    number: int
    command: Command
    fetches: bool
    """Its response may carry a batch."""
    sent_at: Instant
    batch: int = NOTHING
    """The id of the batch that PUSH or EXCHANGE carries."""
    queue: int = 0
    """The queue of the batch's messages."""
    messages: int = 0
    """The number of messages in the batch."""


@dataclass(slots=True)
class RefusedMessageSearch:
    """The peer refused a batch because of one message: smaller batches show which message it is."""

    queue: int
    batch_limit: int
    """The most messages in a batch while the search lasts."""
    unverified: int
    """The number of messages of the refused batch that the peer has not taken yet."""


class RefusedBatch(NamedTuple):
    """Why a peer refuses the only message of a batch."""

    queue: int
    """The queue of the message."""
    reason: MessageClass
    why: str
    """In the words of the peer."""
    rest: Duration | None = None
    """Not None: the message stays, and its queue rests so long."""


@dataclass(slots=True)
class FetchedBatch:
    """A batch from the peer that the queue manager judges in this turn."""

    batch: int
    carried: tuple[Carried, ...] = ()
    names: tuple[str, ...] = ()
    """The queue for each of its messages."""
    messages: tuple[Message, ...] = ()


@dataclass(slots=True)
class ClientChannel:
    """The volatile part of a channel at its client."""

    number: int
    """The number of the channel's row."""
    peer: Peer
    url: str = ""
    """The URL of the responder; empty where it is not known."""
    fetches: bool = False
    """The client fetches messages over this channel as long as the process runs."""
    phase: Phase = Phase.CLOSED
    epoch: int = 0
    """The number of the connection; each new one has a higher number."""
    connected: bool = False
    """The connection of this epoch was opened and not closed by us."""
    queues_connected: bool = False
    """The outgoing queues were reported as connected to the queue manager."""
    last_number: int = 0
    """The number of the last request in this epoch."""
    pending: deque[SentRequest] = field(default_factory=deque)
    """Requests without a response, oldest first; responses come in this order (HR-047)."""
    session_id: str = ""
    proposed: Capabilities = field(default_factory=Capabilities)
    agreed: Capabilities = field(default_factory=Capabilities)
    """The capabilities in force; the defaults until a response was seen (HR-039)."""
    last_used: Instant = field(default=Instant(0))
    """When a request was last sent or answered."""
    unresolved: bool = False
    """A batch from the peer may be in doubt there; only REPORT can tell."""
    unasked: bool = False
    """The peer has not said yet how far our batches got, so we do not know whether our row is an old copy."""
    acknowledged: int = NOTHING
    """The id of the peer's batch that a request last acknowledged."""
    ready_queues: dict[int, None] = field(default_factory=dict)
    """Outgoing queues with messages; the next batch is taken from the first."""
    queues: dict[int, None] = field(default_factory=dict)
    """All outgoing queues that this channel carried since the process started."""
    preparing: int = 0
    """The queue from which messages were requested, until the queue manager answers in this turn."""
    search: RefusedMessageSearch | None = None
    refused_batches: dict[int, RefusedBatch] = field(default_factory=dict)
    """Batches of one message that the peer refuses."""
    missing: dict[int, Instant] = field(default_factory=dict)
    """Since when the peer does not have the queue that an outgoing queue leads to."""
    batch_limit: int = 0
    """The most messages that the peer takes in a batch, if that is less than was agreed; else 0."""
    single_requests: bool = False
    """The peer takes one request at a time, although it agreed to more."""
    fetched: FetchedBatch | None = None
    peer_drained: bool = True
    """The last PULL brought less than a full batch, so one PULL at a time is enough."""
    fetch_paused: bool = False
    """Nothing is fetched until the timer fires."""
    fetch_failures: int = 0
    """The number of fetched batches in a row that could not be taken."""
    failures: int = 0
    """The number of failures in a row since a batch or an empty response last succeeded."""
    retry_after: Duration = field(default=Duration(0))
    """The length of the last pause before a retry."""
    last_error: str = ""
    """The last failure, for people."""
    leaving: bool = False
    """The channel is to be forgotten on both sides, and closed."""
    report_callers: list[int] = field(default_factory=list)
    """Administrators who wait for a REPORT."""
    forget_callers: list[int] = field(default_factory=list)
    """Administrators who wait until the channel is forgotten."""

    def move(self, move: Move) -> None:
        """Change the phase as the table says."""
        self.phase = moved(self.phase, move)

    @property
    def depth(self) -> int:
        """The most requests without a response, and the most batches in doubt (HR-044)."""
        if not self.session_id or self.single_requests or self.search is not None:
            return SINGLE
        return max(self.agreed.maximum_pipeline_depth, SINGLE)

    @property
    def pending_fetches(self) -> int:
        """The number of pending requests whose response may carry a batch."""
        return sum([each.fetches for each in self.pending])

    @property
    def is_bidirectional(self) -> bool:
        """Whether messages go both ways over this channel, so that a PULL that waits would delay others."""
        return bool(self.peer.exchange or self.peer.channel)

    @property
    def newest_sends(self) -> bool:
        """Whether the newest pending request carries a batch."""
        return bool(self.pending and self.pending[-1].batch)

    @property
    def longest_wait(self) -> Duration:
        """How long the peer may wait for messages before it responds."""
        return Duration(self.agreed.max_wait_batch * MILLISECOND)

    @property
    def longest_empty_wait(self) -> Duration:
        """How long the peer may wait for the first message (H-14)."""
        return Duration(min(self.agreed.empty_batch_delay, self.agreed.max_wait_batch) * MILLISECOND)

    def is_stale(self, now: Instant) -> bool:
        """Whether the peer may have dropped the session by now (HR-028)."""
        kept = self.agreed.idle_session_interval * SECOND
        return bool(self.session_id) and now - self.last_used >= kept - kept // 10
