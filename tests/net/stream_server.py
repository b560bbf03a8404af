"""A TCP server for a test that plays the peer with asyncio's streams, and that ends with the test.

`asyncio.start_server` runs each coroutine handler as a task without an awaiter.  A task that still runs when
the loop ends is cancelled, and Python 3.12.1 reports that as an error.  Here the server owns its tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def stream_server(handle: Handler, limit: int = 1 << 16) -> AsyncIterator[int]:
    """Run `handle` for each connection to a free port of 127.0.0.1; yield the port.

    A connection is closed when its handler returns, or when its client has closed it.  A handler that still
    runs at the end of the block is cancelled; any other exception of a handler is raised there.
    """
    tasks: list[asyncio.Task[None]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                await handle(reader, writer)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        finally:
            writer.transport.abort()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.ensure_future(serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=limit)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
