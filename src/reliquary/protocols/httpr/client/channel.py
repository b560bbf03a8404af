"""What goes on over a channel that we drive: its connection, its session, the requests without a response.

All of it ends with the process; what is in doubt is in the channel's row.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from reliquary.base.time import MILLISECOND, SECOND, Duration, Instant
from reliquary.protocols.httpr.client.phases import Move, Phase, moved
from reliquary.protocols.httpr.codec.values import NOTHING, Capabilities, Carried, Command
from reliquary.protocols.httpr.settings import Peer
from reliquary.queueing.message import Message, MessageClass

ALONE: Final = 1
"""One request at a time: without a session (HR-034, HR-062), and while a message is looked for."""


@dataclass(slots=True)
class Asked:
    """A request that has no response."""

    number: int
    command: Command
    fetches: bool
    """Its response may bring a batch."""
    at: Instant
    batch: int = NOTHING
    """Of PUSH and EXCHANGE: its id."""
    queue: int = 0
    """Where its messages are."""
    messages: int = 0
    """How many they are."""


@dataclass(slots=True)
class Hunt:
    """A batch was refused for one of its messages: smaller ones find out for which."""

    queue: int
    most: int
    """Messages in a batch."""
    left: int
    """So many messages of the refused batch are not known to be good."""


@dataclass(slots=True)
class Fetched:
    """A batch that the manager judges in this turn."""

    batch: int
    carried: tuple[Carried, ...] = ()
    names: tuple[str, ...] = ()
    """The queue for each of its messages."""
    messages: tuple[Message, ...] = ()


@dataclass(slots=True)
class Driven:
    """The volatile part of a channel at its client."""

    channel: int
    peer: Peer
    url: str = ""
    """Where the responder is; empty where nobody knows."""
    fetches: bool = False
    """Messages are fetched over it, for as long as we run."""
    phase: Phase = Phase.CLOSED
    epoch: int = 0
    """Of the connection; each new one has a higher number."""
    connected: bool = False
    """This epoch has a connection, as far as we know: there is something to hang up."""
    linked: bool = False
    """The outgoing queues were told that they are connected."""
    numbered: int = 0
    """The number of the last request in this epoch."""
    asked: deque[Asked] = field(default_factory=deque)
    """Requests without a response, oldest first; responses come in this order (HR-047)."""
    session_id: str = ""
    proposed: Capabilities = field(default_factory=Capabilities)
    agreed: Capabilities = field(default_factory=Capabilities)
    """In force; the defaults until a response was seen (HR-039)."""
    used: Instant = field(default=Instant(0))
    """When something was last asked or answered."""
    unresolved: bool = False
    """A batch of the peer's may be in doubt there: only REPORT can tell."""
    told: int = NOTHING
    """The batch of the peer's that was last acknowledged."""
    floor: int = NOTHING
    """The peer knows this id of ours, which we do not: the next one lies above it."""
    ready: dict[int, None] = field(default_factory=dict)
    """Outgoing queues with messages, the one whose turn it is first."""
    queues: dict[int, None] = field(default_factory=dict)
    """All outgoing queues that it brought since we run."""
    preparing: int = 0
    """The queue that was asked for messages, until the manager answers in this turn."""
    hunt: Hunt | None = None
    suspects: dict[int, MessageClass] = field(default_factory=dict)
    """Batches of one message that the peer refuses for good, and why."""
    most: int = 0
    """Not 0: the peer takes no larger batches, whatever was agreed."""
    shallow: bool = False
    """The peer takes one request at a time, whatever was agreed."""
    fetched: Fetched | None = None
    empty: bool = True
    """The last PULL brought less than it could: one at a time is enough."""
    fetch_rests: bool = False
    """Nothing is fetched until the timer."""
    fetch_failures: int = 0
    """Batches in a row that we could not take."""
    failures: int = 0
    """In a row, since a batch or an empty answer last went through."""
    rest: Duration = field(default=Duration(0))
    """How long the last rest was to be."""
    trouble: str = ""
    """What last went wrong, for people."""
    leaving: bool = False
    """It is to be forgotten on both sides, and closed."""
    reporters: list[int] = field(default_factory=list)
    """Administrators who wait for a REPORT."""
    forgetters: list[int] = field(default_factory=list)
    """Administrators who wait until it is forgotten."""

    def move(self, move: Move) -> None:
        """Go where the table says."""
        self.phase = moved(self.phase, move)

    @property
    def depth(self) -> int:
        """How many requests may have no response, and how many batches may be in doubt (HR-044)."""
        if not self.session_id or self.shallow or self.hunt is not None:
            return ALONE
        return max(self.agreed.maximum_pipeline_depth, ALONE)

    @property
    def fetching(self) -> int:
        """How many of its requests may still bring messages."""
        return sum([each.fetches for each in self.asked])

    @property
    def sends_as_well(self) -> bool:
        """Whether messages go both ways over it: then a PULL that waits would delay them."""
        return bool(self.peer.exchange or self.peer.channel)

    @property
    def sent_last(self) -> bool:
        """Whether its newest request brings messages; then it is time to fetch some."""
        return bool(self.asked and self.asked[-1].batch)

    @property
    def wait(self) -> Duration:
        """How long the peer may wait for messages before it answers."""
        return Duration(self.agreed.max_wait_batch * MILLISECOND)

    @property
    def empty_wait(self) -> Duration:
        """How long it waits for the first one (H-14)."""
        return Duration(min(self.agreed.empty_batch_delay, self.agreed.max_wait_batch) * MILLISECOND)

    def is_stale(self, now: Instant) -> bool:
        """Whether the peer may have dropped the session by now (HR-028)."""
        kept = self.agreed.idle_session_interval * SECOND
        return bool(self.session_id) and now - self.used >= kept - kept // 10
