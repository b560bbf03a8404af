"""Provides a queue of a manager: it sends, receives, peeks and browses, and changes its settings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Final, Unpack

from reliquary.client import tracing
from reliquary.client.consumer import AsyncConsumer
from reliquary.client.cursor import AsyncCursor
from reliquary.client.errors import BadRequest, MessageNotFound, QueueNotFound
from reliquary.client.leaving import let_go
from reliquary.client.message import Body, Message, OutgoingMessage, SendOptions, Sent, outgoing
from reliquary.client.records import (
    Access,
    LookUp,
    Move,
    Peek,
    QueueOptions,
    Receive,
    Seek,
    Share,
)
from reliquary.client.request import request
from reliquary.client.transaction import AsyncTransaction, current
from reliquary.views.queues import QUEUE, QueueInfo

if TYPE_CHECKING:
    from reliquary.client.manager import AsyncManager

PAGE: Final = 100
"""The number of messages in one request of a browse."""
HOLD: Final = 30.0
"""The seconds in which a rejection must be complete."""


class AsyncQueue:
    """A queue by its name. Creating this object makes no request: the queue may not exist yet.

    In a block of `qm.transaction()`, sends, receives and moves are part of the transaction.
    """

    def __init__(self, manager: AsyncManager, name: str, transaction: AsyncTransaction | None = None) -> None:
        self.manager = manager
        self.name = name
        self._transaction = transaction
        self._handle: str | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def inside(self) -> str | None:
        """Return the transaction of a request, if there is one."""
        transaction = self._transaction or current(self.manager)
        return None if transaction is None else transaction.id

    # -- messages

    async def send(self, body: Body | OutgoingMessage, **options: Unpack[SendOptions]) -> Sent:
        """Send one message; it is on disk when this returns, unless `durable` is False."""
        return (await self._send([outgoing(body, **options)]))[0]

    async def send_many(
        self, bodies: Iterable[Body | OutgoingMessage], **options: Unpack[SendOptions]
    ) -> list[Sent]:
        """Send several messages in one request: all of them or none.  `options` are for each of them."""
        messages = [outgoing(body, **options) for body in bodies]
        return await self._send(messages) if messages else []

    async def _send(self, messages: list[OutgoingMessage]) -> list[Sent]:
        send = self.manager.transport.send
        if not tracing.is_active():
            return await send(self.name, messages, self.inside(), self._handle)
        with tracing.sending(self.name, messages) as traced:
            return await send(self.name, traced, self.inside(), self._handle)

    async def request(
        self,
        body: Body | OutgoingMessage,
        answers: str,
        timeout: float | None = 30,  # noqa: ASYNC109
        **options: Unpack[SendOptions],
    ) -> Message | None:
        """Send one message and wait for the reply to it in the queue `answers`; None when none comes.

            answer = await orders.request("how many?", answers="my-answers", timeout=5)

        The receiver answers with `qm.reply(message, ...)`.  Many callers may share a queue of
        answers: each takes its own. A late answer stays there; `expires` on both sides prevents that.
        """
        return await request(self, body, answers, timeout, **options)

    async def receive(self, timeout: float | None = 0) -> Message | None:  # noqa: ASYNC109
        """Receive the first message; None if none comes in `timeout` seconds.

        A timeout of None has no limit.
        """
        messages = await self.receive_many(1, timeout)
        return messages[0] if messages else None

    async def receive_many(
        self,
        count: int,
        timeout: float | None = 0,  # noqa: ASYNC109
    ) -> list[Message]:
        """Receive up to `count` messages, and wait only for the first."""
        ask = Receive(count=count, timeout=timeout, transaction=self.inside(), handle=self._handle)
        began = tracing.now() if tracing.is_active() else 0
        messages = (await self.manager.transport.receive(self.name, ask)).messages
        if began and messages:
            tracing.received(self.name, messages, began)
        return messages

    async def peek(self, timeout: float | None = 0) -> Message | None:  # noqa: ASYNC109
        """Return the first message without removing it."""
        received = await self.manager.transport.peek(self.name, Peek(timeout=timeout, handle=self._handle))
        return received.messages[0] if received.messages else None

    async def lookup(
        self, lookup_id: int, seek: Seek = "current", *, receive: bool = False
    ) -> Message | None:
        """Return the message at a position, or next to it; None if there is none.  `receive` removes it."""
        ask = LookUp(
            lookup_id=lookup_id,
            seek=seek,
            peek=not receive,
            transaction=self.inside() if receive else None,
            handle=self._handle,
        )
        try:
            return (await self.manager.transport.look_up(self.name, ask)).messages[0]
        except MessageNotFound:
            return None

    async def browse(self, after: int | None = None) -> AsyncIterator[Message]:
        """Yield all messages in order without removing them, after a position if one is given."""
        async for page in self.pages(after):
            for message in page:
                yield message

    async def pages(self, after: int | None = None) -> AsyncIterator[list[Message]]:
        """Yield lists of messages, as `browse` does, each from one request."""
        while True:
            page = (await self.manager.transport.browse(self.name, after, PAGE, self._handle)).messages
            if not page:
                return
            yield page
            after = page[-1].lookup_id

    async def move(self, message: Message | int, target: str) -> None:
        """Move a message, or the one with this lookup id, into another queue, such as `orders;retry`."""
        lookup_id = message if isinstance(message, int) else message.lookup_id
        ask = Move(lookup_id=lookup_id, target=target, transaction=self.inside(), handle=self._handle)
        await self.manager.transport.move(self.name, ask)

    async def reject(self, message: Message | int) -> None:
        """Refuse a waiting message: it is removed, and becomes a dead letter if its sender asked for that."""
        lookup_id = message if isinstance(message, int) else message.lookup_id
        ask = LookUp(lookup_id=lookup_id, peek=False, hold=HOLD, handle=self._handle)
        received = await self.manager.transport.look_up(self.name, ask)
        assert received.receipt is not None, "held messages have a receipt"
        await self.manager.transport.end_read(received.receipt, [lookup_id], delete=True, reject=True)

    def poison(self) -> AsyncQueue:
        """Return the subqueue for messages that were returned too often; it exists after the first one."""
        return AsyncQueue(self.manager, f"{self.name.partition(';')[0]};poison", self._transaction)

    async def return_poison(self, *messages: Message | int) -> int:
        """Move these poison messages, or all of them, back into this queue; return their number."""
        poison, count = self.poison(), 0
        places = [each if isinstance(each, int) else each.lookup_id for each in messages]
        try:
            if not messages:
                places = [each.lookup_id async for each in poison.browse()]
            for place in places:
                with suppress(MessageNotFound):  # another consumer was faster
                    await poison.move(place, self.name)
                    count += 1
        except QueueNotFound:  # no message was ever put aside
            return 0
        return count

    def consume(
        self,
        batch: int = 64,
        hold: float = 30,
        timeout: float | None = None,
    ) -> AsyncConsumer:
        """Receive messages one after another, each at least once; see `AsyncConsumer`."""
        if self.inside() is not None:
            raise BadRequest(
                "INVALID_PARAMETER",
                "consume acknowledges messages itself, so it cannot be used in a transaction",
            )
        return AsyncConsumer(self, batch, hold, timeout, self._handle)

    # -- open queues and cursors

    def open(
        self, access: Access = "receive", share: Share = "deny-none", lease: float = 60
    ) -> AsyncOpenQueue:
        """Keep the queue open: `async with queue.open(share="deny-receive") as alone: ...`."""
        return AsyncOpenQueue(self.manager, self.name, self._transaction, (access, share, lease))

    def cursor(self, access: Access = "receive") -> AsyncCursor:
        """Return a cursor: `async with queue.cursor() as cursor: ...`."""
        return AsyncCursor(self.open(access))

    # -- the queue itself

    async def info(self) -> QueueInfo:
        """Return the settings and totals of the queue."""
        return await self.manager.show_record(QUEUE, self.name)

    async def change(self, **options: Unpack[QueueOptions]) -> QueueInfo:
        """Change settings of the queue; the others stay."""
        return await self.manager.transport.change_queue(self.name, options)

    async def purge(self) -> int:
        """Remove all its messages, and return their number."""
        return await self.manager.transport.purge_queue(self.name)

    async def delete(self) -> int:
        """Delete the queue, and return the number of its messages."""
        return await self.manager.transport.delete_queue(self.name)


class AsyncOpenQueue(AsyncQueue):
    """A queue that is open during its block; it closes automatically if unused for its lease."""

    def __init__(
        self,
        manager: AsyncManager,
        name: str,
        transaction: AsyncTransaction | None,
        mode: tuple[Access, Share, float],
    ) -> None:
        super().__init__(manager, name, transaction)
        self._mode = mode

    @property
    def handle(self) -> str:
        """The id of the open handle at the manager."""
        if self._handle is None:
            raise BadRequest("INVALID_PARAMETER", "the queue is not open: enter its block first")
        return self._handle

    async def open_now(self) -> None:
        """Open the object; the beginning of the block also does that."""
        self._handle = await self.manager.transport.open(self.name, *self._mode)

    async def close(self) -> None:
        """Close the object; the end of the block also does that."""
        handle, self._handle = self.handle, None
        await self.manager.transport.close_handle(handle)

    def cursor(self, access: Access = "receive") -> AsyncCursor:
        """Return a cursor on this open queue, with the access of the queue."""
        del access
        return AsyncCursor(self, owned=False)

    async def __aenter__(self) -> AsyncOpenQueue:
        await self.open_now()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await let_go(self.close, error)
