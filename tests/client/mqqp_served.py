"""A real server whose queues are read over MQQP, and a line to it that can be cut."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import reliquary
from reliquary import Manager
from reliquary.net.identity.users import User
from reliquary.protocols.mqqp.events import PortsKnown
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.server.mqqp import MqqpEndpoint
from reliquary.server.mqqp_options import MqqpOptions
from tests.client.served import Served, served


@dataclass(frozen=True)
class MqqpServed:
    """A running server, its manager over HTTP, and where MQQP is."""

    running: Served
    manager: Manager
    endpoint: MqqpEndpoint

    @property
    def port(self) -> int:
        """The port of both interfaces."""
        return self.endpoint.ports.handshake

    def read_at(self, port: int) -> None:
        """Let the server announce another port for reads: that of a proxy."""
        self.running.portal.call(self._tell(PortsKnown(port, port)))

    async def _tell(self, event: PortsKnown) -> None:
        self.endpoint.opened.engine.submit(event)

    def address(self, queue: str = "", port: int | None = None) -> str:
        """Return the URL that applications connect to."""
        return f"mqqp://127.0.0.1:{self.port if port is None else port}/{queue}"


@contextmanager
def mqqp_served(
    folder: Path, users: tuple[User, ...] = (), settings: MqqpSettings | None = None, token: str | None = None
) -> Iterator[MqqpServed]:
    """Run a server with MQQP at free ports while the block runs."""
    options = MqqpOptions(enabled=True, handshake_port=0, read_port=0, protocol=settings or MqqpSettings())
    with served(folder, users=users, tables=(options,)) as running:
        endpoint = next(each for each in running.server.endpoints if isinstance(each, MqqpEndpoint))
        with reliquary.connect(running.data, control=running.control, token=token) as manager:
            yield MqqpServed(running, manager, endpoint)


def wait_until(true: Callable[[], object]) -> None:
    """Wait in a thread until a condition is true."""
    pause = threading.Event()
    while not true():
        pause.wait(0.002)


@dataclass
class Line:
    """A proxy in front of a server, which cuts its connections after a number of bytes from the server."""

    target: int
    allowed: int
    port: int = 0
    passed: int = 0
    cuts: int = 0
    open: set[asyncio.Transport] = field(default_factory=set)

    def cut(self) -> None:
        """Cut all connections; new ones last."""
        self.cuts += 1
        self.allowed = 1 << 60
        for transport in list(self.open):
            transport.abort()


class _Side(asyncio.Protocol):
    """One end of a connection: what comes in goes out at the other end."""

    def __init__(self, line: Line, other: _Side | None = None) -> None:
        self._line = line
        self._other = other
        self._early: list[bytes] = []
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._line.open.add(self.transport)
        if self._other is None:
            self._reaching = asyncio.ensure_future(self._reach())
        else:
            self._other.joined(self)

    async def _reach(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: _Server(self._line, self), "127.0.0.1", self._line.target)

    def joined(self, other: _Side) -> None:
        """Note that the other end is there."""
        self._other = other
        for data in self._early:
            other.send(data)

    def data_received(self, data: bytes) -> None:
        if self._other is None:
            self._early.append(data)
        else:
            self._other.send(data)

    def send(self, data: bytes) -> None:
        """Send bytes to the client."""
        assert self.transport is not None
        self.transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        assert self.transport is not None
        self._line.open.discard(self.transport)
        if self._other is not None and self._other.transport is not None:
            self._other.transport.close()


class _Server(_Side):
    """The end towards the server."""

    def data_received(self, data: bytes) -> None:
        rest = self._line.allowed - self._line.passed
        self._line.passed += len(data)
        if rest >= len(data):
            super().data_received(data)
        else:
            super().data_received(data[:rest])
            self._line.cut()


@asynccontextmanager
async def cut_after(target: int, allowed: int) -> AsyncIterator[Line]:
    """Yield a proxy to a server that is cut once, after `allowed` bytes from the server have passed."""
    line = Line(target, allowed)
    listener = await asyncio.get_running_loop().create_server(lambda: _Side(line), "127.0.0.1", 0)
    line.port = listener.sockets[0].getsockname()[1]
    try:
        yield line
    finally:
        listener.close()
        line.cut()
