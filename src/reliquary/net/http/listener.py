"""Implements the listener for HTTP/1.1: an acceptor whose connections pass requests to mounts."""

from __future__ import annotations

import ssl
from collections.abc import Sequence

from reliquary.net.clock import RealClock
from reliquary.net.http.connection import Connection
from reliquary.net.http.limits import Limits
from reliquary.net.http.mounts import Mount, Mounts
from reliquary.net.http.response import ResponseHeads
from reliquary.net.http.shared import Shared
from reliquary.net.tcp.acceptor import Acceptor
from reliquary.net.tcp.budget import Budget


class Listener(Acceptor):
    """Accepts connections and passes each request to the mount of its path."""

    def __init__(
        self,
        mounts: Sequence[Mount],
        *,
        limits: Limits | None = None,
        tls: ssl.SSLContext | None = None,
        clock: RealClock | None = None,
        budget: Budget | None = None,
    ) -> None:
        """`budget` is for all listeners of a server together."""
        limits, clock = limits or Limits(), clock or RealClock()
        self._shared = Shared(Mounts(mounts), limits, ResponseHeads(clock.now()), clock.monotonic(), budget)
        super().__init__(
            lambda: Connection(self._shared),
            self._shared,
            clock=clock,
            tls=tls,
            handshake_time=limits.head_time,
        )

    def forget_heads(self) -> None:
        """Let all connections authenticate their clients again, because the users have changed."""
        self._shared.known_heads.forget_routes()
        for connection in list(self._shared.connections.values()):
            connection.forget_heads()

    def sweep(self, now: int) -> None:
        """Close clients that exceeded a time limit, and renew the date of responses."""
        self._shared.heads.renew(self._clock.now())
        super().sweep(now)
