"""Provides a cursor: a position that one reader moves through a queue.

async with queue.cursor() as cursor:
    async for message in cursor:            # peek first, then peek next
        if message.label == "urgent":
            await cursor.receive()          # takes the message under the cursor
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING

from reliquary.client.errors import BadRequest
from reliquary.client.leaving import let_go
from reliquary.client.message import Message
from reliquary.client.records import Peek, Receive

if TYPE_CHECKING:
    from reliquary.client.queue import AsyncOpenQueue


class AsyncCursor:
    """A cursor on an open queue; `owned` closes the queue with it."""

    def __init__(self, queue: AsyncOpenQueue, *, owned: bool = True) -> None:
        self._queue = queue
        self._owned = owned
        self._cursor: str | None = None
        self._on_message = False
        """Whether the cursor is on a message that was returned; otherwise it is before the next one."""

    @property
    def id(self) -> str:
        """The id of the open cursor at the manager."""
        if self._cursor is None:
            raise BadRequest("INVALID_PARAMETER", "the cursor is not open: enter its block first")
        return self._cursor

    async def peek(self, timeout: float | None = 0) -> Message | None:  # noqa: ASYNC109
        """Return the message under the cursor; if there is none yet, the next one."""
        return await self._peek(timeout, step=False)

    async def next(self, timeout: float | None = 0) -> Message | None:  # noqa: ASYNC109
        """Step to the next message and return it; None if none comes in time."""
        return await self._peek(timeout, step=self._on_message)

    async def _peek(self, timeout: float | None, *, step: bool) -> Message | None:  # noqa: ASYNC109
        ask = Peek(timeout=timeout, handle=self._queue.handle, cursor=self.id, next=step)
        received = await self._queue.manager.transport.peek(self._queue.name, ask)
        self._on_message = bool(received.messages)
        return received.messages[0] if received.messages else None

    async def receive(self, timeout: float | None = 0) -> Message | None:  # noqa: ASYNC109
        """Receive the message under the cursor; if there is none, the next one."""
        queue = self._queue
        ask = Receive(timeout=timeout, transaction=queue.inside(), handle=queue.handle, cursor=self.id)
        received = await queue.manager.transport.receive(queue.name, ask)
        self._on_message = False
        return received.messages[0] if received.messages else None

    async def __aiter__(self) -> AsyncIterator[Message]:
        while (message := await self.next()) is not None:
            yield message

    async def open(self) -> None:
        """Open the object; the beginning of the block also does that."""
        if self._owned:
            await self._queue.open_now()
        self._cursor = await self._queue.manager.transport.open_cursor(self._queue.handle)

    async def close(self) -> None:
        """Close the object; the end of the block also does that."""
        cursor, self._cursor = self.id, None
        if self._owned:
            await self._queue.close()
        else:
            await self._queue.manager.transport.close_cursor(cursor)

    async def __aenter__(self) -> AsyncCursor:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await let_go(self.close, error)
