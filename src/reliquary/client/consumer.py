"""Receives messages one after another, each at least once.

    async with queue.consume() as messages:
        async for message in messages:
            handle(message)

Messages are fetched in advance and locked.  One is done when the next is requested, or when the block
ends without an exception; done messages are acknowledged with the next fetch, so there is one request
for each batch.  After an exception the current message and those fetched in advance return to the
queue, and only the current one counts as handed out.  When a process ends, its locks expire: then all
messages since the last fetch come again, and all count as handed out, so a handler must accept repeated
messages.

Without the block, `async for message in queue.consume()` cannot know whether the loop ended without an
error, so the current message always returns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reliquary.base.time import seconds
from reliquary.client.errors import BadRequest, NotOpen, TransactionEnded
from reliquary.client.leaving import let_go
from reliquary.client.message import Message, lookup_ids
from reliquary.client.records import Receive, Received
from reliquary.net.clock import RealClock

if TYPE_CHECKING:
    from reliquary.client.queue import AsyncQueue

EARLY: Final = 0.5
"""The part of the lock time after which done messages are acknowledged without waiting for the next fetch."""


class AsyncConsumer:
    """The messages of one queue, fetched in advance.

    It ends if none comes in `timeout` seconds, never for None.
    """

    def __init__(
        self, queue: AsyncQueue, batch: int, hold: float, timeout: float | None, handle: str | None
    ) -> None:
        self._queue = queue
        self._transport = queue.manager.transport
        self._hold = seconds(hold)
        self._ask = Receive(count=batch, hold=hold, timeout=timeout, handle=handle)
        self._clock = RealClock()
        self._receipt: str | None = None
        self._fetched = 0
        """The time when the batch came, on the monotonic clock."""
        self._ready: deque[Message] = deque()
        self._in_hand: Message | None = None
        self._done: list[Message] = []
        self._in_block = False

    # -- one message

    def take(self) -> Message | None:
        """Return the next fetched message, or None if `fetch` must be called first."""
        if self._in_hand is not None:
            self._done.append(self._in_hand)
            self._in_hand = None
        if not self._ready or (self._done and self._over(EARLY)):
            return None
        if self._over(1):  # the messages have returned, and another consumer may have them by now
            self._ready.clear()
            return None
        self._in_hand = self._ready.popleft()
        return self._in_hand

    def _over(self, part: float) -> bool:
        return self._clock.monotonic() - self._fetched >= self._hold * part

    async def fetch(self) -> bool:
        """Acknowledge done messages and fetch others if needed; return False at the end."""
        if self._ready:
            await self._acknowledge()
        if self._ready:
            return True
        received = await self._receive()
        self._fetched = self._clock.monotonic()
        self._receipt = received.receipt
        self._ready.extend(received.messages)
        return bool(received.messages)

    async def _receive(self) -> Received:
        ask, name = self._ask, self._queue.name
        if ask.handle is not None:  # its receipt is shared by all readers of the handle
            await self._acknowledge()
        if not self._done:
            return await self._transport.receive(name, ask)
        try:
            received = await self._transport.receive(name, replace(ask, acknowledge=self._receipt))
        except NotOpen:  # the lock expired: they come again
            received = await self._transport.receive(name, ask)
        self._done.clear()
        return received

    async def _acknowledge(self) -> None:
        if self._done and self._receipt is not None:
            try:
                await self._transport.end_read(self._receipt, lookup_ids(self._done), delete=True)
            except NotOpen:  # the lock expired earlier than expected: the others have returned too
                self._ready.clear()
            except TransactionEnded:
                pass
        self._done.clear()

    async def reject(self) -> None:
        """Refuse the current message: it leaves the queue, and becomes a dead letter if it asked for that.

        Its sender gets an acknowledgement if it asked for one.
        """
        if self._in_hand is None or self._receipt is None:
            raise BadRequest(
                "INVALID_PARAMETER", "no message is being processed: call reject inside the loop"
            )
        message, self._in_hand = self._in_hand, None
        await self._transport.end_read(self._receipt, [message.lookup_id], delete=True, reject=True)

    # -- the end

    async def close(self) -> None:
        """Acknowledge done messages, and return the others."""
        tried = [self._in_hand] if self._in_hand else []
        unseen = list(self._ready)
        self._in_hand = None
        self._ready.clear()
        await self._acknowledge()
        if self._receipt is None:
            return
        if tried:
            await self._transport.end_read(self._receipt, lookup_ids(tried), delete=False)
        if unseen:
            await self._transport.end_read(self._receipt, lookup_ids(unseen), delete=False, unseen=True)

    async def leave(self, error: BaseException | None) -> None:
        """Leave the block: without an error, the current message is done too."""
        if error is None and self._in_hand is not None:
            self._done.append(self._in_hand)
            self._in_hand = None
        await let_go(self.close, error)

    async def __aiter__(self) -> AsyncIterator[Message]:
        try:
            while True:
                message = self.take()
                if message is not None:
                    yield message
                elif not await self.fetch():
                    return
        finally:
            if not self._in_block:
                await self.close()

    async def __aenter__(self) -> AsyncConsumer:
        self._in_block = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.leave(error)
