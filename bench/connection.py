"""A connection for load: as little work as HTTP/1.1 allows, so that the server is what is measured."""

from __future__ import annotations

import asyncio
from typing import cast

_LAST_CHUNK = b"\r\n0\r\n\r\n"


class Connection(asyncio.Protocol):
    """One request at a time; the body of an answer has a Content-Length, or comes in chunks."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._answer: asyncio.Future[bytes] | None = None
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def open(cls, host: str, port: int) -> Connection:
        """Connect to a server and return the connection."""
        _, connection = await asyncio.get_running_loop().create_connection(cls, host, port)
        return connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport of the new connection."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Collect the bytes of an answer until it is complete."""
        self._received += data
        head = self._received.find(b"\r\n\r\n")
        if head < 0:
            return
        body = body_of(self._received, head)
        if body is None:
            return
        status = int(self._received[9:12])
        self._received.clear()
        assert self._answer is not None
        answer, self._answer = self._answer, None
        if status >= 300:
            answer.set_exception(RuntimeError(f"{status}: {body.decode(errors='replace')}"))
        else:
            answer.set_result(body)

    def connection_lost(self, why: Exception | None) -> None:
        """Fail the request that waits for an answer."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(why or ConnectionError("the server closed the connection"))

    def request(self, path: str, *parts: bytes, fields: str = "") -> asyncio.Future[bytes]:
        """Send a POST with these header fields; the future is its answer's body."""
        length = sum(map(len, parts))
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{fields}Content-Length: {length}\r\n\r\n".encode()
        assert self._transport is not None
        self._answer = self._loop.create_future()
        self._transport.writelines([head, *parts])
        return self._answer

    def close(self) -> None:
        """Close the connection at once."""
        assert self._transport is not None
        self._transport.abort()


def body_of(received: bytearray, head: int) -> bytes | None:
    """Return the body of an answer with a head of this length; None until all of it has come."""
    fields = bytes(received[:head]).lower()
    if b"transfer-encoding: chunked" in fields:
        return _joined(received, head + 4) if received.endswith(_LAST_CHUNK) else None
    length = _length(fields)
    return bytes(received[head + 4 : head + 4 + length]) if len(received) >= head + 4 + length else None


def _joined(received: bytearray, start: int) -> bytes | None:
    """Return the chunks as one body; bytes that only look like the last chunk are not the end."""
    parts: list[bytearray] = []
    while (line := received.find(b"\r\n", start)) >= 0:
        length = int(received[start:line], 16)
        if not length:
            return b"".join(parts)
        parts.append(received[line + 2 : line + 2 + length])
        start = line + 2 + length + 2
    return None


def _length(head: bytes) -> int:
    """Return the length of the body; an answer without one has none."""
    _, found, rest = head.partition(b"content-length:")
    return int(rest.partition(b"\r\n")[0]) if found else 0
