"""Sets TCP keepalive, which detects that the peer of a silent connection has crashed."""

from __future__ import annotations

import asyncio
import socket
from typing import Final

KEEPALIVE: Final = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 6),
)
"""The options with which the system probes after a minute of silence, and gives up a minute later."""


def keep_alive(transport: asyncio.BaseTransport) -> None:
    """Let the system probe a silent peer."""
    underlying = transport.get_extra_info("socket")
    if underlying is not None:
        for option in KEEPALIVE:
            underlying.setsockopt(*option)
