"""Defines the settings of HTTPR: services, peers, limits and time-outs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.time import MINUTE, SECOND, Duration
from reliquary.protocols.httpr.codec.values import Capabilities

AGENT_TYPE: Final = "Reliquary.QueueManager"
RETRY_LADDER: Final = tuple(Duration(span) for span in (SECOND, 2 * SECOND, 5 * SECOND, 15 * SECOND, MINUTE))
"""The pauses of a channel after failures in a row; the last pause is repeated."""

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
"""The limits of what our server agent grants."""
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
"""The proposal of our client agent: a PULL waits long for a first message, and not for a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The queues of the service `/httpr/<name>`."""

    name: str
    """The last part of the path."""
    into: str = ""
    """The queue for messages without a Destination; empty: they are refused with 518.

    A format name or a URL elsewhere: they are forwarded there by the protocol of that name.
    """
    source: str = ""
    """The queue from which a PULL takes messages; empty: it gets those addressed to the requester."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Settings of our client agent for one responder, where they differ from the defaults."""

    responder: str
    """The address of the responder, as `httpr://host[:port]/service`."""
    url: str = ""
    """The URL of the responder; empty for the responder's name as a URL."""
    channel: str = ""
    """One channel for all queues; empty: each destination has its own, named like it."""
    pull: bool = False
    """Fetch messages from it as well."""
    exchange: bool = False
    """Send messages with EXCHANGE; needs `pull`."""
    into: str = ""
    """The queue for fetched messages without a Destination of this manager, or whose queue does not exist.

    As with `Service.into`, it may be a name elsewhere.
    """
    sessions: bool = True
    """False: requests to this peer have no session."""
    carries: tuple[str, ...] = ()
    """Agents to which the responder forwards messages; `*` at the end stands for any rest of the name."""

    def passes_on(self, agent: str) -> bool:
        """Return whether messages for this agent go through the responder."""
        return any(
            agent.startswith(each[:-1]) if each.endswith("*") else agent == each for each in self.carries
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HttprSettings:
    """The settings of both agents."""

    services: tuple[Service, ...] = ()
    """Services with queues of their own; each other name is a service of the queue of that name."""
    manager_service: str = "mq"
    """The service without a queue of its own: each message names its queue as Destination."""
    open_services: bool = True
    """Whether each queue is a service under its name, without being listed."""
    open_channels: bool = True
    """Whether requesters may open new channels; if not, only `channels` are accepted (512)."""
    channels: tuple[str, ...] = ()
    """Channel identifiers that requesters may use if `open_channels` is false."""
    user_ids: tuple[str, ...] = ()
    """The user-ids that messages may have (526 for others); empty for any user-id, or none."""
    forward: bool = False
    """Accept messages for other agents, and forward them."""
    requester: str = ""
    """The name of this manager's client agent, never changed; empty for `origin` and `manager_service`."""
    offered: Capabilities = OFFERED
    """The capabilities that this manager offers as a server."""
    proposed: Capabilities = PROPOSED
    """The capabilities that this manager asks for as a client."""
    peers: tuple[Peer, ...] = ()
    """Servers with settings of their own, or from which messages are fetched."""
    retry_ladder: tuple[Duration, ...] = RETRY_LADDER
    """The time until a failed request is sent again, for each try; the last one repeats."""
    response_time: Duration = MINUTE
    """How long a response may take, in addition to the time that the server may wait for messages."""
    batch_bytes: int = 4 * 1024 * 1024
    """A batch is closed when its bodies have this many bytes."""
    missing_queue_time: Duration = field(default=Duration(10 * MINUTE))
    """How long messages are retried to a queue that the peer does not have, before they are given up."""
    forget_after: Duration = field(default=Duration(5 * MINUTE))
    """The time after which an idle channel of this client is deleted on both sides, and its session ends."""

    def __post_init__(self) -> None:
        for name in ("response_time", "batch_bytes", "forget_after"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, it must be at least 1")
        if not self.retry_ladder or min(self.retry_ladder) < 1:
            raise UsageError("retry_ladder needs at least one span, each of a microsecond or more")
        for peer in self.peers:
            if peer.exchange and not peer.pull:
                raise UsageError(f"exchange with {peer.responder} needs pull = true")

    def next_hop(self, agent: str) -> str:
        """Return the responder for messages to an agent: the agent, or one that passes them on."""
        passing = (peer.responder for peer in self.peers if peer.passes_on(agent))
        return next(passing, agent)

    def peer(self, responder: str) -> Peer:
        """Return the settings for a responder."""
        for peer in self.peers:
            if peer.responder == responder:
                return peer
        return Peer(responder=responder)
