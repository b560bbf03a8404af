"""What an administrator may choose about HTTPR."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.time import MINUTE, SECOND, Duration
from reliquary.protocols.httpr.codec.values import Capabilities

AGENT_TYPE: Final = "Reliquary.QueueManager"
RETRY_LADDER: Final = tuple(Duration(span) for span in (SECOND, 2 * SECOND, 5 * SECOND, 15 * SECOND, MINUTE))
"""How long a channel rests after so many failures in a row; then always as long as the last."""

OFFERED: Final = Capabilities(
    idle_session_interval=600,
    empty_batch_delay=60_000,
    max_latency=10_000,
    max_wait_next=10_000,
    max_wait_batch=60_000,
    maximum_message_size=100_000_000,
    maximum_batch_size=1000,
    maximum_pipeline_depth=32,
    sessions=True,
)
"""The most that our server agent grants."""
PROPOSED: Final = Capabilities(
    idle_session_interval=60,
    empty_batch_delay=20_000,
    max_latency=10,
    max_wait_next=10,
    max_wait_batch=20_000,
    maximum_batch_size=500,
    maximum_pipeline_depth=8,
    sessions=True,
)
"""What our client agent asks for: a PULL waits long for a first message, and not for a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What stands behind `/httpr/<name>`: names of queues."""

    name: str
    into: str = ""
    """Where messages without a Destination go; empty: they are refused with 518."""
    source: str = ""
    """Which queue a PULL takes from; empty: it gets what is addressed to the requester."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """How our client agent speaks with one responder, where it is not as with all."""

    responder: str
    """`httpr://host[:port]/service`."""
    url: str = ""
    """Where to find it; empty for the responder's own, with http."""
    channel: str = ""
    """One channel for all queues; empty: each destination has its own, named like it."""
    pull: bool = False
    """Fetch messages from it as well."""
    exchange: bool = False
    """With EXCHANGE, where there is something to send; needs `pull`."""
    into: str = ""
    """The queue for fetched messages without a Destination of ours, and for those whose queue is missing."""
    sessions: bool = True
    """False for peers that are to be spoken to without a session."""
    carries: tuple[str, ...] = ()
    """Agents whose messages it takes and passes on; one that ends in `*` stands for all that begin so."""

    def passes_on(self, agent: str) -> bool:
        """Whether messages for this agent go through it."""
        return any(
            agent.startswith(each[:-1]) if each.endswith("*") else agent == each for each in self.carries
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HttprSettings:
    """Everything that HTTPR can be told."""

    services: tuple[Service, ...] = ()
    """Beside these, each queue's name is a service whose messages go into and come from that queue."""
    manager_service: str = "mq"
    """The service that has no queue of its own: Destinations say where messages go."""
    open_services: bool = True
    """Whether a queue's name is a service without being listed."""
    open_channels: bool = True
    """Whether requesters may open channels; else only `channels` are known (512)."""
    channels: tuple[str, ...] = ()
    """Channel identifiers that are known where they are not open."""
    user_ids: tuple[str, ...] = ()
    """The user-ids that messages may have; empty for any, or none (526)."""
    forward: bool = False
    """Take messages for other agents, and pass them on."""
    requester: str = ""
    """The name of our client agent for all time; empty for our origin and the manager's service."""
    offered: Capabilities = OFFERED
    proposed: Capabilities = PROPOSED
    peers: tuple[Peer, ...] = ()
    retry_ladder: tuple[Duration, ...] = RETRY_LADDER
    response_time: Duration = MINUTE
    """How long a response may take, beyond what we let the server wait for messages."""
    batch_bytes: int = 4 * 1024 * 1024
    """A batch is closed when it has so many bytes."""
    forget_after: Duration = field(default=Duration(5 * MINUTE))
    """An idle channel of ours is told to forget, and its session ends."""

    def __post_init__(self) -> None:
        for name in ("response_time", "batch_bytes", "forget_after"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, it must be at least 1")
        if not self.retry_ladder or min(self.retry_ladder) < 1:
            raise UsageError("retry_ladder has at least one span, and each is at least a microsecond")
        for peer in self.peers:
            if peer.exchange and not peer.pull:
                raise UsageError(f"exchange with {peer.responder} needs pull = true")

    def next_hop(self, agent: str) -> str:
        """The responder to whom messages for an agent go: the agent itself, or one that passes them on."""
        passing = (peer.responder for peer in self.peers if peer.passes_on(agent))
        return next(passing, agent)

    def peer(self, responder: str) -> Peer:
        """How to speak with this one."""
        for peer in self.peers:
            if peer.responder == responder:
                return peer
        return Peer(responder=responder)
