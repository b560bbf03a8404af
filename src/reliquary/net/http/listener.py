"""The data plane's listener: sockets, the sweep, rest and resume, the orderly stop.

    listen --> serving --> stop_accepting --> drain: idle connections close at once, the others
                                              after the answers they still get, the rest is cut

There are no timers for single requests: once a second one sweep looks at every connection.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Duration
from reliquary.net.clock import RealClock
from reliquary.net.http.connection import ENGINE, Connection
from reliquary.net.http.limits import Limits
from reliquary.net.http.responder import Handler
from reliquary.net.http.response import ResponseHeads
from reliquary.net.http.shared import Shared

BACKLOG = 2048


class Listener:
    """Accepts connections and hands their requests to one handler."""

    def __init__(
        self,
        handler: Handler,
        *,
        limits: Limits | None = None,
        tls: ssl.SSLContext | None = None,
        clock: RealClock | None = None,
    ) -> None:
        self._clock = clock or RealClock()
        self._shared = Shared(
            handler, limits or Limits(), ResponseHeads(self._clock.now()), self._clock.monotonic()
        )
        self._tls = tls
        self._servers: list[asyncio.AbstractServer] = []
        self._paths: list[Path] = []
        self._timer: asyncio.TimerHandle | None = None

    async def listen(self, host: str = "127.0.0.1", port: int = 0) -> tuple[str, int]:
        """Accept on a TCP address; the answer is the bound one.  OSError when it cannot be had."""
        server = await asyncio.get_running_loop().create_server(
            self._connect, host, port, ssl=self._tls, backlog=BACKLOG, ssl_handshake_timeout=self._handshake()
        )
        self._begin(server)
        bound = server.sockets[0].getsockname()
        return bound[0], bound[1]

    async def listen_unix(self, path: str | Path) -> None:
        """Accept on a unix socket; its file goes away with `stop_accepting`."""
        server = await asyncio.get_running_loop().create_unix_server(
            self._connect, str(path), ssl=self._tls, backlog=BACKLOG, ssl_handshake_timeout=self._handshake()
        )
        self._begin(server)
        self._paths.append(Path(path))

    def _handshake(self) -> float | None:
        return None if self._tls is None else self._shared.limits.head_time / SECOND

    def _connect(self) -> Connection:
        return Connection(self._shared)

    def _begin(self, server: asyncio.AbstractServer) -> None:
        if self._shared.draining:
            server.close()
            raise UsageError("a listener that was stopped listens no more")
        self._servers.append(server)
        if self._timer is None:
            self._tick()

    def _tick(self) -> None:
        self.sweep(self._clock.monotonic())
        self._timer = asyncio.get_running_loop().call_later(1, self._tick)

    def sweep(self, now: int) -> None:
        """Look for clients that used up a time; `now` is in microseconds of the monotonic clock."""
        self._shared.now = now
        self._shared.heads.renew(self._clock.now())
        for connection in list(self._shared.connections.values()):
            connection.sweep(now)

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._shared.connections)

    def cut(self, number: int) -> None:
        """Cut the connection of this number, if it is still there."""
        connection = self._shared.connections.get(number)
        if connection is not None:
            connection.abort()

    def pause(self) -> None:
        """Read nothing from anyone: what is above has enough to do."""
        if not self._shared.held:
            self._shared.held = True
            for connection in list(self._shared.connections.values()):
                connection.hold(ENGINE)

    def resume(self) -> None:
        """Read on."""
        if self._shared.held:
            self._shared.held = False
            for connection in list(self._shared.connections.values()):
                connection.release(ENGINE)

    def stop_accepting(self) -> None:
        """Take no new connections; those that are there go on."""
        for server in self._servers:
            server.close()
        for path in self._paths:
            with suppress(FileNotFoundError):
                path.unlink()
        self._servers.clear()
        self._paths.clear()

    async def drain(self, within: Duration) -> int:
        """Stop: answer what was asked, close; the number of connections that had to be cut."""
        self.stop_accepting()
        self._shared.draining = True
        for connection in list(self._shared.connections.values()):
            connection.finish()
        await self._empty(within)
        left = list(self._shared.connections.values())
        for connection in left:
            connection.abort()
        await self._empty(Duration(SECOND))
        if self._timer is not None:
            self._timer.cancel()
        return len(left)

    async def _empty(self, within: Duration) -> None:
        """Wait until no connection is left, but not for ever."""
        if not self._shared.connections:
            return
        gone = asyncio.Event()
        self._shared.on_empty = gone.set
        with suppress(TimeoutError):
            await asyncio.wait_for(gone.wait(), within / SECOND)
