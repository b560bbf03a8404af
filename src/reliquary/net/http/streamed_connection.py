"""A connection of the client whose bodies need not fit into memory.

    request   head | piece | piece | ...        each waits until there is room for it
    answer    begun | taken | taken | ended     its sink gets every part while it arrives

A sink that has enough for now lets the connection pause: what was read already still comes.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, Protocol

from reliquary.net.http.client_connection import ClientConnection
from reliquary.net.http.failures import ConnectionLost, RequestFailed

UNSENT_BYTES: Final = 1024 * 1024
"""With so many bytes unsent there is no room for more."""


class AnswerSink(Protocol):
    """Takes one answer; it ends with `ended` or with `failed`, and nothing comes after that."""

    def begun(self, status: int) -> None:
        """The head is here."""

    def taken(self, data: bytes) -> None:
        """A part of the body."""

    def ended(self) -> None:
        """The answer is whole."""

    def failed(self, why: RequestFailed) -> None:
        """It will not be."""


class StreamedConnection(ClientConnection):
    """The protocol between one socket and the sinks that wait for answers."""

    __slots__ = ("_reading", "_room")

    def __init__(self, head_bytes: int) -> None:
        super().__init__(head_bytes, 0, _forget)
        self._reading = True
        self._room: asyncio.Future[None] | None = None
        """Not None while there is no room."""

    # Out.

    def ask(self, data: bytes, sink: AnswerSink) -> None:
        """Send a request, or the beginning of one."""
        self.send(data, sink)  # type: ignore[arg-type]  # whoever waits here is a sink

    def write(self, data: bytes) -> None:
        """Send more of the latest request; into a connection that is gone, nothing."""
        if self.usable and self._transport is not None:
            self._transport.write(data)

    @property
    def has_room(self) -> bool:
        """Whether more may be sent now."""
        return self._room is None

    async def room(self) -> None:
        """Wait until more may be sent; ConnectionLost when the connection ends before."""
        if self._room is not None:
            await self._room
        if not self.usable:
            raise ConnectionLost("the connection ended while a request was sent", began=False)

    def pause_writing(self) -> None:
        """The peer does not take what we send as fast as we do."""
        if self._room is None:
            self._room = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """It has taken most of it."""
        room, self._room = self._room, None
        if room is not None and not room.done():
            room.set_result(None)

    def cut(self, why: RequestFailed) -> None:
        """Close now; every sink is told why."""
        super().cut(why)
        self.resume_writing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connected."""
        super().connection_made(transport)
        assert self._transport is not None, "it was made just now"
        self._transport.set_write_buffer_limits(high=UNSENT_BYTES)

    def connection_lost(self, exc: Exception | None) -> None:
        """Sinks that wait will get no more, except one whose end is the end of the connection."""
        super().connection_lost(exc)
        self.resume_writing()

    # Back.

    def read_on(self, wanted: bool) -> None:
        """Go on reading, or leave what comes where it is."""
        if wanted is self._reading or self._transport is None or self._transport.is_closing():
            return
        self._reading = wanted
        if wanted:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def on_headers_complete(self) -> None:
        """The head has ended; an interim one is passed over."""
        super().on_headers_complete()
        status = self._parser.get_status_code()
        if status >= 200 and self._waiting:
            self._waiting[0].begun(status)

    def on_body(self, data: bytes) -> None:
        """A part of the body; after a cut, nobody wants it."""
        self._fed = 0
        self._moved = True
        if self._waiting:
            self._waiting[0].taken(data)

    def on_message_complete(self) -> None:
        """The answer is whole; after a cut nobody waits for more."""
        if self.usable:
            super().on_message_complete()

    def _answer(self) -> None:
        sink: AnswerSink = self._waiting.popleft()
        self.used = True
        self._began = False
        self._next_answer()
        sink.ended()

    def _fail(self, answer: Any, why: RequestFailed) -> None:
        sink: AnswerSink = answer
        sink.failed(why)


def _forget(connection: ClientConnection) -> None:
    """Its sinks tell its owner all that he needs."""
