"""A small protocol of lines over TCP: echo, open and close names, wait for an answer.

hello      --> hello
open NAME  --> opened NAME      the name is open until it is closed, or the connection ends
close NAME --> closed NAME
wait       --> (nothing yet)    the test answers with `answer`
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from reliquary.base.time import Duration, seconds
from reliquary.net.clock import RealClock
from reliquary.net.tcp.accepted import AcceptedConnection
from reliquary.net.tcp.acceptor import Acceptor
from reliquary.net.tcp.connections import Connections
from tests.net.stream_client import StreamClient, connected


class Lines(Connections["LineConnection"]):
    """What the connections share: the names that are open anywhere, and the lines that came."""

    def __init__(self, most: int, idle_time: Duration, now: int) -> None:
        super().__init__(most, idle_time, now)
        self.open: list[tuple[int, str]] = []
        """Open lines, each with the number of its connection."""
        self.came: list[str] = []


class LineConnection(AcceptedConnection):
    """The connection of one client."""

    shared: Lines

    def __init__(self, shared: Lines) -> None:
        super().__init__(shared)
        self._rest = b""
        self._waiting = 0

    def feed(self, data: bytes | memoryview) -> None:
        self.idle_since = self.shared.now
        *lines, self._rest = (self._rest + bytes(data)).split(b"\n")
        for line in lines:
            self._take(line.decode())

    def _take(self, line: str) -> None:
        self.shared.came.append(line)
        command, _, name = line.partition(" ")
        if command == "open":
            here = (self.number, name)
            self.shared.open.append(here)
            self.opened_objects.keep(name, lambda: self.shared.open.remove(here))
            self.say(f"opened {name}")
        elif command == "close":
            self.shared.open.remove((self.number, name))
            self.opened_objects.release(name)
            self.say(f"closed {name}")
        elif command == "wait":
            self._waiting += 1
        else:
            self.say(line)

    def answer(self) -> None:
        """Answer a client that waits."""
        self._waiting -= 1
        self.say("answer")
        if self.shared.draining:
            self.finish()

    def say(self, line: str) -> None:
        assert self._transport is not None
        self._transport.write(line.encode() + b"\n")

    def refuse(self, why: str) -> None:
        self.say(f"refused: {why}")
        self.close()

    def is_idle(self) -> bool:
        return not self._waiting


class Client(StreamClient):
    """A client that reads and writes lines."""

    def send(self, line: str) -> None:
        self._writer.write(line.encode() + b"\n")

    async def read(self) -> str:
        """Return the next line; empty at the end."""
        return (await self._reader.readline()).decode().rstrip("\n")

    async def ask(self, line: str) -> str:
        self.send(line)
        return await self.read()


@asynccontextmanager
async def accepting(most: int = 10, idle_time: float = 60) -> AsyncIterator[tuple[Acceptor, Lines]]:
    """Yield an acceptor that does not listen yet; it is drained at the end."""
    clock = RealClock()
    lines = Lines(most, seconds(idle_time), clock.monotonic())
    acceptor = Acceptor(lambda: LineConnection(lines), lines, clock=clock, handshake_time=seconds(1))
    try:
        yield acceptor, lines
    finally:
        await acceptor.drain(seconds(0.001))
        assert acceptor.connections == 0


def client_of(port: int) -> AbstractAsyncContextManager[Client]:
    """Return a client of a port."""
    return connected(Client, port)
