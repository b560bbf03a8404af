"""A connection of a load to a peer: it cuts bytes into frames and wakes what waits for them.

A link is a producer or a consumer, so at most one coroutine waits on it.  What all peers share is here; a
peer adds how its frames end, what they mean, and the bytes that it sends.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self, cast

from bench.load import Settings, body_of

BATCH = 64
"""Messages that a consumer takes at once."""
PATIENCE = 0.25
"""Seconds that an empty receive waits."""
STAMP = 20
"""Digits of the time at the start of each body."""


class Link(asyncio.Protocol, ABC):
    """One connection to a peer."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.arrived: list[bytes] = []
        """Bodies, or their first bytes, that no receive has handed out yet."""
        self._rest = body_of(settings)[STAMP:]
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._ready: Callable[[], bool] = bool
        self._waiter: asyncio.Future[None] | None = None
        self._failure: Exception | None = None

    @classmethod
    async def open(cls, settings: Settings) -> Self:
        """Connect and go through what the protocol begins with."""
        loop = asyncio.get_running_loop()
        _, link = await loop.create_connection(lambda: cls(settings), settings.host, settings.port)
        await link.greet()
        return link

    # ------------------------------------------------------------------ what a peer adds

    @abstractmethod
    async def greet(self) -> None:
        """Exchange the first messages of the protocol."""

    @abstractmethod
    async def create(self) -> None:
        """Make the queue of the benchmark."""

    @abstractmethod
    async def start_producing(self) -> None:
        """Make this link a producer."""

    @abstractmethod
    async def start_consuming(self, number: int) -> None:
        """Make this link a consumer."""

    @abstractmethod
    async def publish(self, body: bytes) -> None:
        """Send one request of messages with this body, and wait until all of them are confirmed."""

    @abstractmethod
    async def fetch(self) -> None:
        """Acknowledge what came before and wait a while for more, which are then in `arrived`."""

    @abstractmethod
    def take_frame(self, data: bytearray, start: int) -> int:
        """Process the frame that starts at `start` and return where it ends; 0 when it is not whole yet."""

    # ------------------------------------------------------------- what a load asks for

    async def send(self, stamp: int) -> None:
        """Send one request of messages that carry this time."""
        await self.publish(b"%020d" % stamp + self._rest)

    async def receive(self) -> tuple[int, int]:
        """Acknowledge what came before and receive more."""
        await self.fetch()
        arrived, self.arrived = self.arrived, []
        return len(arrived), int(arrived[0][:STAMP]) if arrived else 0

    async def finish(self) -> None:
        """Do nothing: after the empty receive that ends each load, no message is locked."""

    def close(self) -> None:
        """Close the connection at once."""
        assert self._transport is not None
        self._transport.abort()

    # ---------------------------------------------------------------- bytes and waiting

    def write(self, data: bytes) -> None:
        """Send these bytes to the server."""
        assert self._transport is not None
        self._transport.write(data)

    async def until(self, ready: Callable[[], bool]) -> None:
        """Wait until frames have made this true."""
        if self._failure is not None:
            raise self._failure
        if not ready():
            self._ready, self._waiter = ready, asyncio.get_running_loop().create_future()
            await self._waiter

    async def some_arrive(self) -> None:
        """Wait until messages have come, or a while."""
        try:
            await asyncio.wait_for(self.until(lambda: bool(self.arrived)), PATIENCE)
        except TimeoutError:
            self._waiter = None

    def fail(self, why: str) -> None:
        """Raise this error in the coroutine that waits: the peer refused a request."""
        self._failure = RuntimeError(why)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(self._failure)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport of the new connection."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Process all frames that are whole, then wake the coroutine that waits for them."""
        self._received += data
        start = 0
        while end := self.take_frame(self._received, start):
            start = end
        del self._received[:start]
        self.answer()
        if self._waiter is not None and not self._waiter.done() and self._ready():
            self._waiter.set_result(None)

    def answer(self) -> None:
        """Send what the frames of one read call for; most protocols leave that to the load."""

    def connection_lost(self, why: Exception | None) -> None:
        """Report to the coroutine that waits that the peer closed the connection."""
        self.fail(str(why or "the peer closed the connection"))
