"""Accepts connections of any protocol: sockets, the sweep, pause, the orderly stop.

    listen --> accept --> stop_accepting --> drain: idle connections close at once, the others
                                              after their answers, the rest is cut

An acceptor may listen at several addresses.  There are no timers for single connections: once a second
a sweep checks every connection.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Duration
from reliquary.net.clock import RealClock
from reliquary.net.tcp.connections import Connections

BACKLOG: Final = 2048


class Acceptor:
    """Accepts the connections of one protocol and closes them."""

    def __init__(
        self,
        connect: Callable[[], asyncio.BaseProtocol],
        shared: Connections[Any],
        *,
        clock: RealClock,
        tls: ssl.SSLContext | None = None,
        handshake_time: Duration,
    ) -> None:
        """`connect` makes the protocol of each new connection, which enters `shared`.

        With `tls`, all addresses of `listen` use TLS.
        """
        self._connect = connect
        self._connections = shared
        self._clock = clock
        self._tls = tls
        self._handshake = handshake_time / SECOND
        self._servers: list[asyncio.AbstractServer] = []
        self._paths: list[Path] = []
        self._timer: asyncio.TimerHandle | None = None

    async def listen(
        self, host: str = "127.0.0.1", port: int = 0, *, tls: ssl.SSLContext | None = None
    ) -> tuple[str, int]:
        """Accept on a TCP address, and return the bound one; OSError when it cannot be bound.

        `tls` makes this address use TLS if others of the acceptor do not.
        """
        server = await asyncio.get_running_loop().create_server(
            self._connect, host, port, backlog=BACKLOG, **self._secured(tls or self._tls)
        )
        self._begin(server)
        bound = server.sockets[0].getsockname()
        return bound[0], bound[1]

    async def listen_unix(self, path: str | Path) -> None:
        """Accept on a unix socket; its file is removed by `stop_accepting`."""
        server = await asyncio.get_running_loop().create_unix_server(
            self._connect, str(path), backlog=BACKLOG, **self._secured(self._tls)
        )
        self._begin(server)
        self._paths.append(Path(path))

    def _secured(self, tls: ssl.SSLContext | None) -> dict[str, Any]:
        """Return the arguments of asyncio for TLS; there are none without it."""
        return {} if tls is None else {"ssl": tls, "ssl_handshake_timeout": self._handshake}

    def _begin(self, server: asyncio.AbstractServer) -> None:
        if self._connections.draining:
            server.close()
            raise UsageError("this listener was stopped and cannot listen again: make a new one")
        self._servers.append(server)
        if self._timer is None:
            self._tick()

    def _tick(self) -> None:
        self.sweep(self._clock.monotonic())
        self._timer = asyncio.get_running_loop().call_later(1, self._tick)

    def sweep(self, now: int) -> None:
        """Close clients that exceeded a time limit; `now` is in microseconds of the monotonic clock."""
        self._connections.now = now
        for connection in list(self._connections.connections.values()):
            connection.sweep(now)

    @property
    def connections(self) -> int:
        """The number of clients that are connected."""
        return len(self._connections.connections)

    def cut(self, number: int) -> None:
        """Cut the connection of this number, if it still exists."""
        connection = self._connections.connections.get(number)
        if connection is not None:
            connection.abort()

    def pause(self) -> None:
        """Stop reading from all clients, because the engine is overloaded."""
        if not self._connections.paused:
            self._connections.paused = True
            for connection in list(self._connections.connections.values()):
                connection.pause()

    def resume(self) -> None:
        """Read from all clients again."""
        if self._connections.paused:
            self._connections.paused = False
            for connection in list(self._connections.connections.values()):
                connection.resume()

    def stop_accepting(self) -> None:
        """Accept no new connections; open ones continue."""
        for server in self._servers:
            server.close()
        for path in self._paths:
            with suppress(FileNotFoundError):
                path.unlink()
        self._servers.clear()
        self._paths.clear()

    async def drain(self, within: Duration) -> int:
        """Stop: answer received requests, close, and return how many connections had to be cut."""
        self.stop_accepting()
        self._connections.draining = True
        for connection in list(self._connections.connections.values()):
            connection.finish()
        await self._empty(within)
        left = list(self._connections.connections.values())
        for connection in left:
            connection.abort()
        await self._empty(Duration(SECOND))
        if self._timer is not None:
            self._timer.cancel()
        return len(left)

    async def _empty(self, within: Duration) -> None:
        """Wait until no connection is left, but at most `within`."""
        if not self._connections.connections:
            return
        gone = asyncio.Event()
        self._connections.on_empty = gone.set
        with suppress(TimeoutError):
            await asyncio.wait_for(gone.wait(), within / SECOND)
