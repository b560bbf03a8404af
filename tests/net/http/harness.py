"""A harness for HTTP: both loops, a handler that answers on command, a recording transport, raw clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import uvloop

from reliquary.base.time import Instant, seconds
from reliquary.net.http import Handler, Limits, Listener, Mount, Request, Responder
from reliquary.net.http.connection import Connection
from reliquary.net.http.mounts import Mounts
from reliquary.net.http.response import ResponseHeads
from reliquary.net.http.shared import Shared
from reliquary.net.tcp.budget import Budget
from tests.net.stream_client import StreamClient, connected

NOON = Instant(1_700_000_000_000_000)


def play(scene: Callable[[], Awaitable[None]]) -> None:
    """Run a scene on uvloop and on asyncio; whatever reaches the loop's exception handler fails it."""
    for new_loop in (uvloop.new_event_loop, asyncio.new_event_loop):
        wrong: list[dict[str, object]] = []

        async def watched(wrong: list[dict[str, object]] = wrong) -> None:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
            await asyncio.wait_for(scene(), 20)

        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(watched())
        assert not wrong, wrong


async def tick(times: int = 1) -> None:
    """Let the event loop run this number of times."""
    for _ in range(times):
        turned = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(turned.set_result, None)
        await turned


async def until(true: Callable[[], object]) -> None:
    """Let the event loop run until a condition is true; `play` ends a test whose condition never is."""
    while not true():
        waited = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.001, waited.set_result, None)
        await waited


class ManualHandler:
    """A handler that notes who asked; the test answers when it likes."""

    def __init__(self) -> None:
        self.asked: list[tuple[Request, Responder]] = []

    def __call__(self, request: Request, responder: Responder) -> None:
        self.asked.append((request, responder))

    async def wait_for(self, count: int) -> None:
        await until(lambda: len(self.asked) >= count)

    def answer(self, number: int, body: bytes = b"") -> None:
        self.asked[number][1].respond(200, body or b"answer %d" % number)


def echo(request: Request, responder: Responder) -> None:
    """Answer with what was asked."""
    responder.respond(200, f"{request.method} {request.path} ".encode() + request.body, b"text/plain")


class RecordingTransport(asyncio.Transport):
    """A transport that shows what was done to it."""

    def __init__(self, *, tls: bool = False) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.reading = True
        self.closed = False
        self.aborted = False
        self.shut = False
        self.unsent = 0
        self._tls = tls

    @property
    def open(self) -> bool:
        return not self.closed

    def was_cut(self) -> bool:
        return self.aborted

    def reads(self) -> bool:
        return self.reading

    @property
    def sent(self) -> bytes:
        return b"".join(self.writes)

    def write(self, data: object) -> None:
        assert isinstance(data, bytes)
        assert not self.closed
        self.writes.append(data)

    def get_extra_info(self, name: str, default: object = None) -> object:
        return "a context" if name == "sslcontext" and self._tls else default

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return self.closed

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.limits = (high, low)

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True

    def can_write_eof(self) -> bool:
        return not self._tls

    def write_eof(self) -> None:
        self.shut = True

    def get_write_buffer_size(self) -> int:
        return self.unsent


def everywhere(handler: Handler) -> Mount:
    """Return the mount of a listener with one handler."""
    return Mount(prefix="", handler=handler)


def share(
    handler: Handler, limits: Limits | None = None, *mounts: Mount, budget: Budget | None = None
) -> Shared:
    """Return what the connections of one listener share, at time 0."""
    table = Mounts([everywhere(handler), *mounts])
    return Shared(table, limits or Limits(), ResponseHeads(NOON), 0, budget)


def connect(
    handler: Handler, limits: Limits | None = None, *mounts: Mount, tls: bool = False
) -> tuple[Connection, RecordingTransport]:
    """Return a connection on a recording transport, at time 0."""
    return connect_to(share(handler, limits, *mounts), tls=tls)


def connect_to(shared: Shared, *, tls: bool = False) -> tuple[Connection, RecordingTransport]:
    """Make one more connection of this listener."""
    connection, transport = Connection(shared), RecordingTransport(tls=tls)
    connection.connection_made(transport)
    return connection, transport


def post(path: str = "/q", body: bytes = b"hello", *more: str) -> bytes:
    """Return the bytes of a POST."""
    lines = [f"POST {path} HTTP/1.1", "Host: here", f"Content-Length: {len(body)}", *more, "", ""]
    return "\r\n".join(lines).encode() + body


def chunked(*parts: bytes, trailers: bytes = b"") -> bytes:
    """Return the bytes of a POST whose body comes in chunks."""
    head = b"POST /chunks HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"".join([b"%x\r\n%b\r\n" % (len(part), part) for part in parts])
    return head + chunks + b"0\r\n" + trailers + b"\r\n"


def bodies(sent: bytes) -> list[tuple[int, bytes]]:
    """Return the status and body of each response in what was sent."""
    found = []
    while sent:
        head, _, rest = sent.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        found.append((int(head.split(b" ")[1]), rest[:length]))
        sent = rest[length:]
    return found


class Wire(StreamClient):
    """A raw client on a real socket."""

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    def shut(self) -> None:
        self._writer.write_eof()

    async def read(self) -> tuple[int, bytes]:
        """Return the status and body of the next response."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
        return int(lines[0].split(b" ")[1]), await self._reader.readexactly(length)

    async def rest(self) -> bytes:
        """Return all bytes until the listener hangs up."""
        return await self._reader.read()


@asynccontextmanager
async def listening(
    handler: Handler, limits: Limits | None = None, *mounts: Mount
) -> AsyncIterator[tuple[Listener, int]]:
    """Yield a listener on a free port of the loopback; it is drained at the end, and nothing is left."""
    listener = Listener([everywhere(handler), *mounts], limits=limits)
    _, port = await listener.listen()
    try:
        yield listener, port
    finally:
        await listener.drain(seconds(0.001))
        assert listener.connections == 0


def wire(port: int) -> AbstractAsyncContextManager[Wire]:
    """Return a raw client of a port."""
    return connected(Wire, port)


def refusal(transport: RecordingTransport) -> tuple[int, str]:
    """Return the last answer: its status and its sentence."""
    status, body = bodies(transport.sent)[-1]
    assert b"connection: close" in transport.sent
    return status, json.loads(body)["error"]
