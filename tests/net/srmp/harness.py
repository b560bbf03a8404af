"""A harness for SRMP on sockets: an endpoint, a machine with scripted answers, and peers that misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from reliquary.base.time import Duration, Instant, seconds
from reliquary.base.turn import Event, Reply, Turn
from reliquary.net.http import Limits, Listener, Mount
from reliquary.net.srmp.courier import Courier
from reliquary.net.srmp.receiving import Receiving, nothing
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import PostAnswer, PostArrived, PostEnded
from tests.net.endpoint_harness import EndpointHarness, UnsignalledMachine, opened
from tests.net.http.harness import until
from tests.net.stream_server import stream_server

LARGEST = 100_000


class ScriptedMachine(UnsignalledMachine):
    """Takes POSTs as a machine does, and answers 200 unless a test sets another answer."""

    def __init__(self) -> None:
        self.came: list[PostArrived] = []
        self.answer = PostAnswer(200)

    def handle(self, event: Event, now: Instant) -> Turn:
        del now
        assert isinstance(event, PostArrived)
        self.came.append(event)
        return Turn(effects=(Reply(event.to, self.answer),))


class ServedEndpoint(EndpointHarness[ScriptedMachine]):
    """An endpoint on a free port."""

    def __init__(self, started: bool = True) -> None:
        super().__init__(ScriptedMachine(), (PostArrived,), started)
        self.receiving = Receiving(self.engine, self.state, LARGEST)
        mounts = (self.receiving.mount(), Mount(prefix="", handler=nothing))
        self.listener = Listener(mounts, limits=Limits(body_bytes=10 * LARGEST))


def served_endpoint(started: bool = True) -> AbstractAsyncContextManager[ServedEndpoint]:
    """Return an endpoint that is open."""
    return opened(ServedEndpoint(started))


Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Peer:
    """A server that does on each connection what the next behaviour says; the last one is repeated."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self._behaviours = behaviours
        self.accepted = 0
        self.heads: list[bytes] = []
        """The heads of the POSTs that came, oldest first."""
        self.bodies: list[bytes] = []
        self.port = 0

    @property
    def server(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behaviour = self._behaviours[min(self.accepted, len(self._behaviours) - 1)]
        self.accepted += 1
        await behaviour(reader, writer)

    async def read(self, reader: asyncio.StreamReader) -> bytes:
        """Return the next POST; its body."""
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        length = next(int(line[15:]) for line in lines if line.lower().startswith(b"content-length:"))
        body = await reader.readexactly(length)
        self.heads.append(head)
        self.bodies.append(body)
        return body


@asynccontextmanager
async def peer(*behaviours: Callable[[Peer], Behaviour]) -> AsyncIterator[Peer]:
    """Yield a peer that listens and follows these behaviours."""
    made = Peer()
    made._behaviours = tuple(behaviour(made) for behaviour in behaviours)
    async with stream_server(made.serve) as made.port:
        yield made


def answering(*answers: bytes) -> Callable[[Peer], Behaviour]:
    """Return a handler that answers each POST in turn and then hangs up; without any it answers 200."""

    def behaviour(made: Peer) -> Behaviour:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if not answers:
                while True:
                    await made.read(reader)
                    writer.write(OK)
            for answer in answers:
                await made.read(reader)
                writer.write(answer)
            await writer.drain()

        return serve

    return behaviour


def silent(posts: int) -> Callable[[Peer], Behaviour]:
    """Reads this many POSTs, and says nothing until the other side hangs up."""

    def behaviour(made: Peer) -> Behaviour:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            del writer
            for _ in range(posts):
                await made.read(reader)
            await reader.read()

        return serve

    return behaviour


class CourierBench:
    """Sends POSTs by a courier, and notes how they ended."""

    def __init__(self, server: str, in_flight: int = 8, response_time: Duration = seconds(10)) -> None:  # noqa: B008
        self.ended: list[PostEnded] = []
        self.server = server
        self.courier = Courier(self.ended.append, in_flight=in_flight, response_time=response_time)

    def post(self, *numbers: int, session: int = 1, epoch: int = 0, body: bytes = b"") -> None:
        for number in numbers:
            self.courier.post(
                Post(
                    session,
                    epoch,
                    number,
                    self.server,
                    "beta.example",
                    "/msmq/private$/orders",
                    "text/xml",
                    body or b"body %d" % number,
                )
            )

    async def wait_for(self, count: int) -> None:
        await until(lambda: len(self.ended) >= count)

    @property
    def statuses(self) -> list[tuple[int, int]]:
        """LookupIdentifiers and statuses, in the order they ended."""
        return [(each.lookup_id, each.status) for each in self.ended]


@asynccontextmanager
async def courier_bench(server: str, **how: object) -> AsyncIterator[CourierBench]:
    """Yield a courier that is stopped at the end."""
    made = CourierBench(server, **how)  # type: ignore[arg-type]
    try:
        yield made
    finally:
        made.courier.stop()
