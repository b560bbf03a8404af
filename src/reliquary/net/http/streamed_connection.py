"""Implements a connection of the client for bodies that need not fit into memory.

    request   head | piece | piece | ...        each waits until there is room for it
    answer    begun | taken | taken | ended     its sink gets every part while it arrives

Requests of one tick of the loop, or during the reading of answers, leave in one write.
A sink can pause the connection: bytes that were read before still come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, Protocol

from reliquary.net.http.client_connection import ClientConnection
from reliquary.net.http.failures import BadResponse, ConnectionLost, RequestFailed
from reliquary.net.http.headers import Headers
from reliquary.net.tcp.unsent import unsent_bytes

UNSENT_BYTES: Final = 1024 * 1024
"""The number of unsent bytes above which no more may be written."""
GATHERED_BYTES: Final = 64 * 1024
"""The number of gathered bytes at which they are written at once."""


class AnswerSink(Protocol):
    """Takes one answer; it ends with `ended` or with `failed`, after which nothing comes."""

    def begun(self, status: int, headers: Headers) -> None:
        """Take the status and the header fields of the response."""

    def taken(self, data: bytes) -> None:
        """Take a part of the body."""

    def ended(self) -> None:
        """Record that the answer is complete."""

    def failed(self, why: RequestFailed) -> None:
        """Record that the answer was cut off, never came, or is not HTTP."""


class StreamedConnection(ClientConnection):
    """The protocol between one socket and the sinks that wait for answers."""

    __slots__ = ("_gathered", "_gathered_bytes", "_is_fed", "_room", "_soon", "has_room", "is_reading")

    def __init__(self, head_bytes: int, soon: Callable[[Callable[[], None]], object]) -> None:
        """`soon` calls a function at the end of this tick: `call_soon` of the loop."""
        super().__init__(head_bytes, 0, _forget)
        self.is_reading = True
        self.has_room = True
        """Whether more may be sent now."""
        self._room: asyncio.Future[None] | None = None
        """A future that is done when there is room again; None if no task waits for room."""
        self._gathered: list[bytes] = []
        """Requests that were submitted and not written yet."""
        self._gathered_bytes = 0
        self._is_fed = False
        """Whether answers are being read; requests of this time are written after them."""
        self._soon = soon

    # Sending.

    def ask(self, data: bytes, sink: AnswerSink) -> None:
        """Send a request, or the beginning of one."""
        assert self._transport is not None, "a request goes over a connection that is open"
        assert self.usable, "a request goes over a connection that is good"
        self._waiting.append(sink)
        self._gathered.append(data)
        self._gathered_bytes += len(data)
        if self._gathered_bytes >= GATHERED_BYTES:
            self._flush()
        elif len(self._gathered) == 1 and not self._is_fed:
            self._soon(self._flush)

    def _flush(self) -> None:
        """Write the gathered requests; a lost connection drops them, because its sinks have failed."""
        gathered, self._gathered, self._gathered_bytes = self._gathered, [], 0
        if gathered and self.usable and self._transport is not None:
            self._transport.write(gathered[0] if len(gathered) == 1 else b"".join(gathered))

    def write(self, data: bytes) -> None:
        """Send more of the latest request; a lost connection drops the bytes."""
        self._flush()
        if self.usable and self._transport is not None:
            self._transport.write(data)

    async def room(self) -> None:
        """Wait until more may be sent; ConnectionLost if the connection ends before."""
        if not self.has_room:
            if self._room is None:
                self._room = asyncio.get_running_loop().create_future()
            await self._room
        if not self.usable:
            raise ConnectionLost("the connection ended while a request was sent", began=False)

    @property
    def unsent(self) -> int:
        """The number of written bytes that have not reached the peer's system yet."""
        return 0 if self._transport is None else self._gathered_bytes + unsent_bytes(self._transport)

    def pause_writing(self) -> None:
        """Record that the peer takes bytes more slowly than they are sent."""
        self.has_room = False

    def resume_writing(self) -> None:
        """Record that the peer has taken most of the unsent bytes."""
        self.has_room = True
        room, self._room = self._room, None
        if room is not None and not room.done():
            room.set_result(None)

    def cut(self, why: RequestFailed) -> None:
        """Close now; every waiting sink fails with `why`."""
        super().cut(why)
        self.resume_writing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, and set the limit of its buffer."""
        super().connection_made(transport)
        assert self._transport is not None, "it was made just now"
        self._transport.set_write_buffer_limits(high=UNSENT_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the waiting sinks, except one that ends with the connection."""
        super().connection_lost(exc)
        self.resume_writing()

    # Receiving.

    def data_received(self, data: bytes) -> None:
        """Read a part of an answer, or several; requests that are made because of them leave in one write."""
        self._is_fed = True
        super().data_received(data)
        self._is_fed = False
        if self._gathered:
            self._flush()

    def read_on(self, wanted: bool) -> None:
        """Continue to read, or stop reading."""
        if wanted is self.is_reading or self._transport is None or self._transport.is_closing():
            return
        self.is_reading = wanted
        if wanted:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    # These are called for each answer, so they repeat code of the base class in place of calls.

    def on_headers_complete(self) -> None:
        """Process the end of the head; an interim one is ignored."""
        self._in_body = self._moved = True
        self._fed = 0
        status = self._parser.get_status_code()
        if status >= 200 and self._waiting:
            self._waiting[0].begun(status, self._headers)

    def on_body(self, data: bytes) -> None:
        """Pass on a part of the body; after a cut it is dropped."""
        self._fed = 0
        self._moved = True
        if self._waiting:
            self._waiting[0].taken(data)

    def on_message_complete(self) -> None:
        """Pass on the end of an answer; an interim answer (1xx), or any answer after a cut, is ignored."""
        if not self.usable:
            return
        if 100 <= self._parser.get_status_code() < 200:
            self._pass_over()
            return
        if not self._waiting:
            raise BadResponse("the peer sent an answer to no request")
        if self._parser.should_keep_alive():
            self._answer()
        else:
            self.usable = False  # before the sink is called, so that nothing more is sent over it
            self._answer()
            self.cut(ConnectionLost("the peer closes the connection after an earlier answer", began=False))

    def _answer(self) -> None:
        sink: AnswerSink = self._waiting.popleft()
        self._interim = 0
        self.used = True
        self._began = False
        self._next_answer()
        sink.ended()

    def _fail(self, answer: Any, why: RequestFailed) -> None:
        sink: AnswerSink = answer
        sink.failed(why)


def _forget(connection: ClientConnection) -> None:
    """Do nothing, because the sinks report the end of a streamed connection to its owner."""
