"""A harness for HTTPR's courier: scripted servers, a store for large bodies, and a clock that a test sets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Duration, seconds
from reliquary.net.httpr.bodies import Stored
from reliquary.net.httpr.courier import Courier
from reliquary.protocols.httpr.codec.values import BatchLimits, Command, Outcome, RequestHeader
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import RequestFailed, ResponseArrived
from reliquary.queueing.model.events import Answer, PieceStored
from reliquary.queueing.model.message import Message
from tests.net.http.harness import until
from tests.net.stream_server import stream_server

LIMITS = BatchLimits(200_000_000, 1000)
NO_TIME = Duration(0)
Batch = tuple[Message, ...]


class BodyStore:
    """Bodies in memory; a test decides when a piece is stored, and whether."""

    def __init__(self, at_once: bool = True) -> None:
        self.at_once = at_once
        self.bodies: dict[int, list[bytes]] = {}
        self.dropped: list[int] = []
        self.due: list[tuple[int, bytes, Stored]] = []
        self.most_due = 0
        self._last = 0

    def read(self, spool: int, index: int) -> bytes:
        if spool not in self.bodies or index >= len(self.bodies[spool]):
            raise UsageError(f"the large body {spool} has no piece {index}")
        return self.bodies[spool][index]

    def store(self, spool: int, data: bytes, stored: Stored) -> None:
        self.due.append((spool, data, stored))
        self.most_due = max(self.most_due, len(self.due))
        if self.at_once:
            asyncio.get_running_loop().call_soon(self.settle)

    def settle(self, refuse: bool = False) -> None:
        """Store the first piece that is due, or say that it cannot be."""
        spool, data, stored = self.due.pop(0)
        if refuse:
            stored(Answer(HResult.INSUFFICIENT_RESOURCES, "full"))
            return
        if not spool:
            self._last += 1
            spool = self._last
        kept = self.bodies.setdefault(spool, [])
        kept.append(data)
        stored(PieceStored(HResult.OK, "", spool, len(kept), sum(map(len, kept))))

    def drop(self, spool: int) -> None:
        self.dropped.append(spool)
        del self.bodies[spool]


Behaviour = Callable[["Server", asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Does on each connection what the next behaviour says; the last one is repeated."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self._behaviours = behaviours
        self.accepted = 0
        self.gone = 0
        """The number of connections that ended."""
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        """The requests that came, oldest first, without HTTP's chunks."""
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behaviour = self._behaviours[min(self.accepted, len(self._behaviours) - 1)]
        self.accepted += 1
        try:
            await behaviour(self, reader, writer)
        finally:
            self.gone += 1

    async def read(self, reader: asyncio.StreamReader) -> bytes:
        """Return the next request; its body."""
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        self.heads.append(head)
        if b"transfer-encoding: chunked" in lines:
            body = b""
            while size := int(await reader.readuntil(b"\r\n"), 16):
                body += await reader.readexactly(size)
                await reader.readexactly(2)
            await reader.readexactly(2)
        else:
            length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
            body = await reader.readexactly(length)
        self.bodies.append(body)
        return body


@asynccontextmanager
async def serving(*behaviours: Behaviour) -> AsyncIterator[Server]:
    """Yield a server that listens and follows these behaviours."""
    made = Server(*behaviours)
    async with stream_server(made.serve, limit=1 << 20) as made.port:
        yield made
        await until(lambda: made.gone == made.accepted)


def http(body: bytes, *more: bytes, status: bytes = b"200 OK") -> bytes:
    """Return an HTTP response with this body."""
    head = b"\r\n".join([b"HTTP/1.1 " + status, b"content-length: %d" % len(body), *more])
    return head + b"\r\n\r\n" + body


def http_chunked(body: bytes, size: int) -> bytes:
    """Return an HTTP response whose body is in chunks of this size."""
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    chunks = b"".join([b"%x\r\n%b\r\n" % (len(part), part) for part in parts])
    return b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


def committed(number: int) -> bytes:
    """Return the answer to a PUSH."""
    return b"outcome:COMMIT\r\ncompleted:%016X\r\n\r\n" % number


def pulled(number: int, *bodies: bytes, last: bytes = b"payload-disposition:last\r\n") -> bytes:
    """Return the answer to a PULL."""
    messages = b"".join([b"message-size:%d\r\napp-x:1\r\n\r\n%b\r\n" % (len(body), body) for body in bodies])
    return b"transactionid:%016X\r\n\r\n" % number + messages + last


def answering(*answers: bytes) -> Behaviour:
    """Return a handler that answers each request in turn and then hangs up; without any it commits all."""

    async def behaviour(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = 0
        while not answers:
            await server.read(reader)
            number += 1
            writer.write(http(committed(number)))
        for answer in answers:
            await server.read(reader)
            writer.write(answer)
        await writer.drain()

    return behaviour


def silent(requests: int) -> Behaviour:
    """Reads this many requests, and says nothing until the other side hangs up."""

    async def behaviour(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del writer
        for _ in range(requests):
            await server.read(reader)
        await reader.read()

    return behaviour


def push(number: int) -> RequestHeader:
    """Return the header of a PUSH in a session."""
    return RequestHeader(command=Command.PUSH, session_id="1", transaction_id=number)


PULL = RequestHeader(command=Command.PULL, session_id="1", outcome=Outcome.COMMIT, completed=0)


class CourierBench:
    """Sends requests by a courier, and notes the event that ends each of them."""

    def __init__(self, server: str, response_time: Duration, body_store: BodyStore | None) -> None:
        self.reported: list[ResponseArrived | RequestFailed] = []
        self.url = f"{server}/httpr/orders"
        self.body_store = body_store or BodyStore()
        self.courier = Courier(self.reported.append, self.body_store, response_time=response_time)

    def push(self, *numbers: int, channel: int = 1, epoch: int = 1, messages: Batch = ()) -> None:
        for number in numbers:
            batch = messages or (Message(body=b"body %d" % number),)
            self.courier.send(SendRequest(channel, epoch, number, self.url, push(number), batch))

    def pull(self, number: int = 1, *, epoch: int = 1, wait: Duration = NO_TIME) -> None:
        self.courier.send(SendRequest(1, epoch, number, self.url, PULL, limits=LIMITS, wait=wait))

    async def wait_for(self, count: int) -> None:
        await until(lambda: len(self.reported) >= count)

    @property
    def ends(self) -> list[tuple[int, object]]:
        """The numbers of the requests that ended, with what was completed, or why not."""
        return [
            (each.number, each.failure if isinstance(each, RequestFailed) else each.header.completed)
            for each in self.reported
        ]


@asynccontextmanager
async def courier_bench(
    server: Server | str,
    response_time: Duration = seconds(60),  # noqa: B008
    body_store: BodyStore | None = None,
) -> AsyncIterator[CourierBench]:
    """Yield a courier that is stopped at the end."""
    made = CourierBench(
        server if isinstance(server, str) else f"http://127.0.0.1:{server.port}", response_time, body_store
    )
    try:
        yield made
    finally:
        made.courier.stop()
