"""What one client may cost: every number here bounds memory, sockets or time.

A client that goes beyond one is told which, with the limit and the value, and is then cut off.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.base.faults import UsageError
from reliquary.base.time import MINUTE, Duration, seconds
from reliquary.net.tcp.connections import LINGER_TIME, UNREAD_TIME
from reliquary.net.tcp.descriptors import SPARE


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of a listener."""

    head_bytes: int = 64 * 1024
    """Request line and headers; also trailers, or chunk framing without a byte of body."""
    headers: int = 100
    body_bytes: int = 64 * 1024 * 1024
    pipelined: int = 256
    """Requests of one connection without an answer; at this number its reading stops."""
    connections: int = 10_000
    spare: int = SPARE
    """Descriptors that clients leave to other listeners, besides those for files."""
    head_time: Duration = field(default=seconds(30))
    """From the first byte of a request to the end of its head; also for the TLS handshake."""
    body_time: Duration = MINUTE
    """From the head to the end of the body, and longer by what came at `body_rate`."""
    body_rate: int = 16 * 1024
    """Bytes a second that a body must keep up once `body_time` is over."""
    idle_time: Duration = field(default=seconds(120))
    unread_time: Duration = UNREAD_TIME
    """How long a client may take no byte of the answers that wait for it."""
    linger_time: Duration = LINGER_TIME
    """How long a refused client is heard out, so that it can read why before it is reset."""

    def __post_init__(self) -> None:
        for name in ("head_bytes", "headers", "body_bytes", "pipelined", "connections", "head_time",
                     "body_time", "body_rate", "idle_time", "unread_time", "linger_time"):  # fmt: skip
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, it must be at least 1")
