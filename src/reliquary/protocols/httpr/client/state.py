"""Defines the volatile state of the client agent."""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.protocols.httpr.client.channel import ClientChannel


@dataclass(slots=True)
class ClientState:
    """The client's part of HTTPR's state."""

    channels: dict[int, ClientChannel] = field(default_factory=dict)
    """The channels by the numbers of their rows."""
    by_name: dict[tuple[str, str], int] = field(default_factory=dict)
    """The number of each client channel, by its name and responder."""
    by_queue: dict[int, int] = field(default_factory=dict)
    """The number of the channel that carries an outgoing queue."""
    online: bool = True
    """The queue manager may send."""
