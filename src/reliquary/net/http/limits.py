"""Defines the limits of one client for memory, sockets and time.

A client that exceeds one gets an answer with the limit and the value, and is then disconnected.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reliquary.base.faults import UsageError
from reliquary.base.time import MINUTE, Duration, seconds
from reliquary.net.tcp.connections import LINGER_TIME, UNREAD_TIME
from reliquary.net.tcp.descriptors import SPARE


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a listener."""

    head_bytes: int = 64 * 1024
    """The limit of the request line and headers; also of trailers, and of chunk framing without body bytes.
    """
    headers: int = 100
    body_bytes: int = 64 * 1024 * 1024
    pipelined: int = 256
    """The most requests of one connection without an answer; at this number, reading stops."""
    connections: int = 10_000
    spare: int = SPARE
    """Descriptors that clients leave to other listeners, besides those for files."""
    head_time: Duration = field(default=seconds(30))
    """The time from the first byte of a request to the end of its head, and for the TLS handshake."""
    body_time: Duration = MINUTE
    """The time from the head to the end of the body; it grows by the time that the bytes take at
    `body_rate`.
    """
    body_rate: int = 16 * 1024
    """The bytes a second of a body after the end of `body_time`."""
    idle_time: Duration = field(default=seconds(120))
    unread_time: Duration = UNREAD_TIME
    """The time for which a client may take no byte of the answers that wait for it."""
    linger_time: Duration = LINGER_TIME
    """The time for which input of a refused client is read and dropped, so that it can read the
    refusal before a reset.
    """

    def __post_init__(self) -> None:
        for name in ("head_bytes", "headers", "body_bytes", "pipelined", "connections", "head_time",
                     "body_time", "body_rate", "idle_time", "unread_time", "linger_time"):  # fmt: skip
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}, it must be at least 1")
