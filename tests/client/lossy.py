"""A proxy that loses requests or answers on purpose: the test decides about each by its path."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import urlsplit

from tests.net.stream_server import stream_server


class ProxyAction(Enum):
    """What becomes of one exchange."""

    PASS = "pass"
    LOSE_REQUEST = "the server never sees it"
    LOSE_ANSWER = "the server has done it, the client never gets the answer"


@dataclass
class Lossy:
    """Where the proxy listens, what it does next, and what went through."""

    target: str
    address: str = ""
    actions: list[tuple[str, ProxyAction]] = field(default_factory=list)
    """Ends of paths and their outcomes; each is used once, in this order."""
    seen: list[str] = field(default_factory=list)

    def lose(self, ending: str, action: ProxyAction = ProxyAction.LOSE_ANSWER) -> None:
        """Let the next request whose path ends like this have this outcome."""
        self.actions.append((ending, action))

    def action(self, path: str) -> ProxyAction:
        """Return what becomes of a request."""
        self.seen.append(path)
        if self.actions and self.actions[0][0] in path:
            return self.actions.pop(0)[1]
        return ProxyAction.PASS

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection of a client, with one to the server."""
        parts = urlsplit(self.target)
        upstream_reader, upstream_writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            while request := await _message(reader):
                action = self.action(request.split(b" ", 2)[1].decode())
                if action is ProxyAction.LOSE_REQUEST:
                    return
                upstream_writer.write(request)
                answer = await _message(upstream_reader)
                if action is ProxyAction.LOSE_ANSWER:
                    return
                writer.write(answer)
        finally:
            upstream_writer.close()


async def _message(reader: asyncio.StreamReader) -> bytes:
    """Return one request or answer, or nothing at the end; ours carry a Content-Length or no body."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    return head + await reader.readexactly(length)


@asynccontextmanager
async def lossy(target: str) -> AsyncIterator[Lossy]:
    """Yield a proxy in front of a server."""
    proxy = Lossy(target)
    async with stream_server(proxy.serve) as port:
        proxy.address = f"http://127.0.0.1:{port}"
        yield proxy
