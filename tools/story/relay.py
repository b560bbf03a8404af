"""The network between the managers of the story: a TCP relay whose link can be cut and restored.

    NORTH --> relay --> SOUTH     whole:   bytes pass in both directions
                                  one-way: what SOUTH sends is dropped, until the link is cut
                                  cut:     every connection was reset, and new connections are refused

The relay runs an event loop in a thread of its own, because the story itself waits for servers.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from types import TracebackType
from typing import Final, TypeVar

from tools.story.waiting import StoryFault

Address = tuple[str, int]
T = TypeVar("T")
PIECE: Final = 1 << 16
RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
"""SO_LINGER with a time of 0: closing the socket sends RST, as a peer sees it when a link breaks."""


class Relay:
    """Passes each connection to one of its addresses on to the target of that address."""

    def __init__(self, routes: Mapping[Address, Address]) -> None:
        self._routes = dict(routes)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="relay", daemon=True)
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._deaf: Address | None = None
        """The target that is sent nothing: no request, and no answer of another target."""
        self.broken = 0
        """Connections from clients that a cut has reset."""

    @property
    def is_cut(self) -> bool:
        """Return whether the relay refuses connections."""
        return not self._servers

    def cut(self) -> None:
        """Reset every connection, and refuse new ones until `restore`."""
        self._run(self._cut())

    def drop_all_to(self, target: Address) -> None:
        """Drop what goes to a target, and the answers to the clients of all others, until the link is cut."""
        self._deaf = target

    def restore(self) -> None:
        """Accept connections again, at all addresses; StoryFault when another process listens at one."""
        try:
            self._run(self._listen())
        except OSError as why:
            raise StoryFault(f"the link between the managers cannot listen: {why}") from why

    async def _listen(self) -> None:
        for (host, port), target in self._routes.items():
            self._servers.append(await asyncio.start_server(partial(self._accept, target), host, port))

    async def _cut(self) -> None:
        self._deaf = None
        for server in self._servers:
            server.close()
        self._servers.clear()
        connections = [task for task in self._tasks if not task.cancelling()]  # others were cut before
        self.broken += len(connections)
        for writer in self._writers:
            if writer.transport.is_closing():  # its socket may be closed already
                continue
            connection: socket.socket = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            writer.transport.abort()
        for task in connections:
            task.cancel()

    def _accept(self, target: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._serve(target, reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(
        self, target: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Relay one connection until both ends have closed it, or one of them is lost."""
        pair = [writer]
        self._writers.add(writer)
        try:
            far_reader, far_writer = await asyncio.open_connection(*target)
            pair.append(far_writer)
            self._writers.add(far_writer)
            await asyncio.gather(
                self._pass(reader, far_writer, lambda: self._deaf == target),
                self._pass(far_reader, writer, lambda: self._deaf not in (None, target)),
            )
        except OSError:
            pass  # the target listens no more, or an end was reset: the other end is aborted below
        finally:
            for each in pair:
                self._writers.discard(each)
                each.transport.abort()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_dropped: Callable[[], bool]
    ) -> None:
        """Pass bytes on in one direction until their sender ends it."""
        while data := await reader.read(PIECE):
            if not is_dropped():
                writer.write(data)
                await writer.drain()
        writer.write_eof()

    def _run(self, wanted: Coroutine[None, None, T]) -> T:
        """Run a coroutine in the thread of the relay, and return its result."""
        return asyncio.run_coroutine_threadsafe(wanted, self._loop).result()

    async def _end(self) -> None:
        await self._cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def __enter__(self) -> Relay:
        self._thread.start()
        self.restore()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
