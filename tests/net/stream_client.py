"""A client of a port, for tests that write and read its bytes themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar


class StreamClient:
    """A client on a real socket; each protocol adds how it writes and reads."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def close(self) -> None:
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            return


C = TypeVar("C", bound=StreamClient)


@asynccontextmanager
async def connected(kind: type[C], port: int) -> AsyncIterator[C]:
    """Yield a client of a port of the loopback; it is closed at the end."""
    client = kind(*await asyncio.open_connection("127.0.0.1", port))
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def opened(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Yield both halves of a connection to a port of the loopback; it is closed at the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        await StreamClient(reader, writer).close()
