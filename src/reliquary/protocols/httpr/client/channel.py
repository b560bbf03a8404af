"""Defines the volatile state of a channel of the client agent, in parts that change together.

    ClientChannel
        connection   requests without a response      refusals    what the peer refused, smaller batches
        session      the agreed capabilities          fetching    batches from the peer
        outgoing     queues with messages to send     retry       failures and the pause after them
                                                      requested   `forget`, and waiting administrators

All of it is lost with the process; the channel's row holds the batches in doubt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from reliquary.base.time import SECOND, Duration, Instant
from reliquary.protocols.httpr.client.connection import Connection
from reliquary.protocols.httpr.client.phases import Move, Phase, moved
from reliquary.protocols.httpr.client.refusals import Refusals
from reliquary.protocols.httpr.client.session import Session
from reliquary.protocols.httpr.codec.values import NOTHING, Carried
from reliquary.protocols.httpr.settings import Peer
from reliquary.queueing.model.message import Message

SINGLE: Final = 1
"""The pipeline depth without a session (HR-034, HR-062), and while a refused message is searched for."""


@dataclass(slots=True)
class Outgoing:
    """The outgoing queues that a channel carries.

    `channels` adds queues, `agent` marks those with messages, `push` and `outcomes` remove them; `agent`,
    `failures` and `report` write `reported_connected`.
    """

    queues: dict[int, None] = field(default_factory=dict)
    """All outgoing queues that this channel carried since the process started."""
    ready: dict[int, None] = field(default_factory=dict)
    """Outgoing queues with messages; the next batch is taken from the first."""
    preparing: int = 0
    """The queue from which messages were requested, until the queue manager answers in this turn."""
    reported_connected: bool = False
    """The queues were reported as connected to the queue manager."""


@dataclass(slots=True)
class FetchedBatch:
    """A batch from the peer that the queue manager judges in this turn."""

    batch: int
    carried: tuple[Carried, ...] = ()
    names: tuple[str, ...] = ()
    """The queue for each of its messages."""
    messages: tuple[Message, ...] = ()


@dataclass(slots=True)
class Fetching:
    """The messages that a channel fetches from its peer.

    `pull` writes it; `requests` and `report` write what is acknowledged, and `agent` ends the pause.
    """

    enabled: bool = False
    """The client fetches messages over this channel as long as the process runs."""
    batch: FetchedBatch | None = None
    acknowledged: int = NOTHING
    """The id of the peer's batch that a request last acknowledged."""
    peer_drained: bool = True
    """The last PULL brought less than a full batch, so one PULL at a time is enough."""
    paused: bool = False
    """Whether no messages are fetched until the timer fires."""
    failures: int = 0
    """The number of fetched batches in a row that could not be taken."""


@dataclass(slots=True)
class Retry:
    """The failures of a channel and the pause that follows them.

    `failures` writes it; `flow_responses` and `report` set `failures` to 0 when a request succeeds.
    """

    failures: int = 0
    """The number of failures in a row since a batch or an empty response last succeeded."""
    after: Duration = field(default=Duration(0))
    """The length of the last pause before a retry."""
    last_error: str = ""
    """The last failure, as a sentence for administrators."""


@dataclass(slots=True)
class Requested:
    """The requests of administrators and of the timer of idle channels.

    `administration` and `agent` write it; `failures` and `report` remove what was answered.
    """

    leaving: bool = False
    """The channel is to be forgotten on both sides, and closed."""
    report_callers: list[int] = field(default_factory=list)
    """Callers of administrators that wait for a REPORT."""
    forget_callers: list[int] = field(default_factory=list)
    """Callers of administrators that wait until the channel is forgotten."""


@dataclass(slots=True)
class ClientChannel:
    """The volatile part of a channel at its client."""

    number: int
    """The number of the channel's row."""
    peer: Peer
    url: str
    """The URL of the responder; empty where it is not known."""
    connection: Connection
    session: Session = field(default_factory=Session)
    outgoing: Outgoing = field(default_factory=Outgoing)
    refusals: Refusals = field(default_factory=Refusals)
    fetching: Fetching = field(default_factory=Fetching)
    retry: Retry = field(default_factory=Retry)
    requested: Requested = field(default_factory=Requested)
    phase: Phase = Phase.CLOSED
    unresolved: bool = False
    """A batch from the peer may be in doubt there; only REPORT can show this."""
    unasked: bool = False
    """The peer has not yet reported its last id of our batches, so our row may be an old copy."""

    def move(self, move: Move) -> None:
        """Change the phase as the table says."""
        self.phase = moved(self.phase, move)

    @property
    def depth(self) -> int:
        """The most requests without a response, and the most batches in doubt (HR-044)."""
        refusals = self.refusals
        if not self.session.identifier or refusals.single_requests or refusals.search is not None:
            return SINGLE
        return max(self.session.agreed.maximum_pipeline_depth, SINGLE)

    @property
    def is_bidirectional(self) -> bool:
        """Whether messages go both ways over this channel, so that a waiting PULL would delay others."""
        return bool(self.peer.exchange or self.peer.channel)

    def is_stale(self, now: Instant) -> bool:
        """Return whether the peer may have dropped the session by now (HR-028)."""
        kept = self.session.agreed.idle_session_interval * SECOND
        return bool(self.session.identifier) and now - self.connection.last_used >= kept - kept // 10
