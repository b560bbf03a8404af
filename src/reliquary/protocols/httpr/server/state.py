"""Defines the volatile state of the server agent."""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.protocols.httpr.server.channel import Connection, ServerChannel


@dataclass(slots=True)
class ServerState:
    """The server's part of HTTPR's state."""

    channels: dict[int, ServerChannel] = field(default_factory=dict)
    """The channels by the numbers of their rows."""
    sessions: dict[str, int] = field(default_factory=dict)
    """The number of the channel of each session, by SessionId."""
    connections: dict[int, Connection] = field(default_factory=dict)
    """Open connections, by their numbers."""
    waiting_pulls: dict[int, None] = field(default_factory=dict)
    """The numbers of channels whose PULL waits for messages, the longest wait first."""
    watched: frozenset[int] = frozenset()
    """The queues that the queue manager was last asked to watch for these PULLs."""
