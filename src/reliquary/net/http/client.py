"""Implements a small HTTP client with a pool of connections.

    request --> room on a connection --> one write --> the answer's future
                |  idle: the last one given back
                |  none idle and fewer than `connections`: a new one
                |  else, with `pipelined` above 1, the least busy
                '  else wait in line

A request that was sent may have been performed even without an answer.  So nothing is sent twice, with
one exception: on a connection that was used before, the peer may have closed it during the send.  If no
byte of an answer came and the caller marked the request as idempotent, it is sent again.  In all other
cases the caller gets `ConnectionLost` and decides.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from types import TracebackType
from urllib.parse import urlsplit

from reliquary.base.faults import UsageError
from reliquary.base.time import MINUTE, SECOND, Duration, seconds
from reliquary.net.http.client_connection import ClientConnection, Response, fail
from reliquary.net.http.dialing import DialLimits, dial
from reliquary.net.http.failures import ConnectFailed, ConnectionLost, TimedOut
from reliquary.net.http.request_head import encode_request
from reliquary.net.tcp.dialing import ServerAddress


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """The limits of a client."""

    connections: int = 32
    pipelined: int = 1
    """The most requests in flight on one connection; above 1, a failure also fails the requests behind it."""
    head_bytes: int = 64 * 1024
    """The limit of the head of an answer that does not come in one read."""
    body_bytes: int = 64 * 1024 * 1024
    connect_time: Duration = field(default=seconds(10))
    idle_time: Duration = MINUTE
    """A connection that was idle for this time is not used again: the peer may be about to close it."""


class HttpClient:
    """Requests to one server: `http://host:port`, `https://host:port`, or a unix socket under either name."""

    def __init__(
        self,
        url: str,
        *,
        tls: ssl.SSLContext | None = None,
        unix: str | None = None,
        limits: ClientLimits | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise UsageError(f"the address {url!r} must be like http://host:port or https://host:port")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        context = (tls or ssl.create_default_context()) if parts.scheme == "https" else None
        self._address = ServerAddress(parts.hostname, port, context, unix)
        self._authority = parts.netloc.rpartition("@")[2].encode()
        self._prefix = parts.path.rstrip("/")
        self._limits = limits or ClientLimits()
        self._connections: set[ClientConnection] = set()
        self._idle: list[ClientConnection] = []
        self._opening = 0
        self._waiters: deque[asyncio.Future[ClientConnection | None]] = deque()
        self._closed = False
        self._all_gone: asyncio.Future[None] | None = None
        self._deadlines: dict[asyncio.Future[Response], tuple[float, ClientConnection]] = {}
        """The answers with a time limit. One timer serves all of them, because a timer for each is expensive.
        """
        self._timer: asyncio.TimerHandle | None = None
        self._due = inf
        """The time at which the timer fires; no deadline is earlier."""

    async def request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Sequence[tuple[bytes, bytes]] = (),
        timeout: Duration | None = None,  # noqa: ASYNC109 - the word of every HTTP client
        *,
        idempotent: bool = False,
    ) -> Response:
        """Send a request and wait for its answer; a `RequestFailed` has the reason for its absence.

        `timeout` is for all of it: the wait for a connection, connecting, sending and the answer.
        """
        data = encode_request(method, self._prefix + path, self._authority, tuple(headers), body)
        loop = asyncio.get_running_loop()
        deadline = None if timeout is None else loop.time() + timeout / SECOND
        alone = method == "HEAD"
        while True:
            connection = None if alone else self._pick(loop.time())
            if connection is None:
                connection = await self._obtain(deadline, alone)
            reused = connection.used
            try:
                return await self._exchange(connection, data, deadline)
            except ConnectionLost as lost:
                if lost.began or not reused or not idempotent:
                    raise

    async def _exchange(self, connection: ClientConnection, data: bytes, deadline: float | None) -> Response:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Response] = loop.create_future()
        if deadline is not None:
            self._deadlines[answer] = deadline, connection
            if deadline < self._due:
                self._set_timer(deadline)
        try:
            connection.send(data, answer)
            return await answer
        except asyncio.CancelledError:
            connection.cut(ConnectionLost("another request on this connection was cancelled", began=False))
            raise
        finally:
            if deadline is not None:
                del self._deadlines[answer]
            self._give_back(connection)

    # Deadlines of answers.

    def _set_timer(self, deadline: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = deadline
        self._timer = asyncio.get_running_loop().call_at(deadline, self._expire)

    def _expire(self) -> None:
        """Fail the answers whose time is over, and set the timer for the next ones."""
        reached, self._timer, self._due = self._due, None, inf
        for answer, (deadline, connection) in list(self._deadlines.items()):
            if deadline <= reached:
                _fail_late(connection, answer)
            elif deadline < self._due:
                self._set_timer(deadline)

    # Places on connections.

    def _pick(self, now: float) -> ClientConnection | None:
        """Return a connection with room that can be used at once."""
        if self._closed:
            raise UsageError("the client is closed")
        oldest = now - self._limits.idle_time / SECOND
        while self._idle:
            connection = self._idle.pop()
            if connection.usable and connection.idle_since >= oldest:
                connection.busy += 1
                return connection
            connection.cut(ConnectionLost("idle for too long", began=False))
        if self._limits.pipelined > 1 and not self._may_open():
            return self._pick_shared()
        return None

    def _pick_shared(self) -> ClientConnection | None:
        depth = self._limits.pipelined
        able = [one for one in self._connections if one.usable and one.busy < depth]
        if not able:
            return None
        connection = min(able, key=_busy)
        connection.busy += 1
        return connection

    def _may_open(self) -> bool:
        return len(self._connections) + self._opening < self._limits.connections

    async def _obtain(self, deadline: float | None, alone: bool) -> ClientConnection:
        """Wait for a connection with room and return it."""
        try:
            async with asyncio.timeout_at(deadline):
                return await (self._open_alone() if alone else self._next_slot())
        except TimeoutError as why:
            raise TimedOut("the time ran out before the request was sent", sent=False) from why

    async def _next_slot(self) -> ClientConnection:
        while True:
            connection = self._pick(asyncio.get_running_loop().time())
            if connection is None and self._may_open():
                connection = await self._open()
            if connection is None:
                connection = await self._wait_in_line()
            if connection is not None and connection.usable:
                return connection
            if connection is not None:  # it was lost between its assignment and its use
                connection.busy -= 1

    async def _wait_in_line(self) -> ClientConnection | None:
        """Wait in line; return a connection, or None when a new connection may be opened."""
        waiter: asyncio.Future[ClientConnection | None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._pass_on(waiter.result())
            raise

    def _give_back(self, connection: ClientConnection) -> None:
        connection.busy -= 1
        if not connection.usable or connection.without_bodies:
            return
        if self._waiters:
            self._offer(connection)
        if connection.busy == 0:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)

    def _offer(self, connection: ClientConnection) -> None:
        """Give the free slots of a connection to the callers that wait in line."""
        while connection.busy < self._limits.pipelined and self._hand_over(connection):
            connection.busy += 1

    def _hand_over(self, connection: ClientConnection | None) -> bool:
        """Assign a connection, or the permission to open one, to the first caller in line."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return True
        return False

    def _pass_on(self, connection: ClientConnection | None) -> None:
        if connection is None:
            self._hand_over(None)
        else:
            self._give_back(connection)

    # Connections.

    async def _open(self) -> ClientConnection:
        self._opening += 1
        try:
            connection = await self._connect(self._lost)
            if self._closed:
                connection.cut(ConnectionLost("the client was closed", began=False))
                raise ConnectFailed("the client was closed while it connected")
            self._connections.add(connection)
        except BaseException:
            self._hand_over(None)
            raise
        finally:
            self._opening -= 1
        connection.busy = 1
        self._offer(connection)
        return connection

    async def _open_alone(self) -> ClientConnection:
        """Open a connection for one HEAD request, outside the pool."""
        connection = await self._connect(_forget)
        connection.busy = 1
        connection.without_bodies = True
        return connection

    async def _connect(self, on_lost: _OnLost) -> ClientConnection:
        limits = self._limits
        costs = DialLimits(limits.head_bytes, limits.body_bytes, limits.connect_time)
        return await dial(self._address, costs, on_lost)

    def _lost(self, connection: ClientConnection) -> None:
        self._connections.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        self._hand_over(None)
        if self._all_gone is not None and not self._connections and not self._all_gone.done():
            self._all_gone.set_result(None)

    async def close(self) -> None:
        """Cut all connections; requests in flight are lost."""
        self._closed = True
        why = ConnectionLost("the client was closed", began=False)
        for connection in list(self._connections):
            connection.cut(why)
        while self._waiters:
            self._hand_over(None)
        if self._connections:
            self._all_gone = asyncio.get_running_loop().create_future()
            await self._all_gone

    async def __aenter__(self) -> HttpClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


_OnLost = Callable[[ClientConnection], None]


def _forget(connection: ClientConnection) -> None:
    """Do nothing, because a connection outside the pool is not counted."""


def _busy(connection: ClientConnection) -> int:
    return connection.busy


def _fail_late(connection: ClientConnection, answer: asyncio.Future[Response]) -> None:
    """Cut a connection after the time limit of a caller: the late answer would be taken for another one."""
    fail(answer, TimedOut("the time ran out before the answer came", sent=True))
    connection.cut(ConnectionLost("another request on this connection timed out", began=False))
