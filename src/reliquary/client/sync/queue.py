"""Provides the blocking versions of `AsyncQueue` and `AsyncOpenQueue`, which send and receive messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Unpack

from reliquary.client.leaving import let_go
from reliquary.client.message import Body, Message, OutgoingMessage, SendOptions, Sent
from reliquary.client.queue import AsyncOpenQueue, AsyncQueue
from reliquary.client.records import Access, QueueOptions, Seek, Share
from reliquary.client.sync.consumer import Consumer
from reliquary.client.sync.cursor import Cursor
from reliquary.client.sync.portal import Portal
from reliquary.views.queues import QueueInfo


class Queue:
    """Does the work of `AsyncQueue` without `await`."""

    def __init__(self, portal: Portal, inner: AsyncQueue) -> None:
        self._portal = portal
        self._inner = inner

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def name(self) -> str:
        """The name with which this object was made."""
        return self._inner.name

    # -- messages

    def send(self, body: Body | OutgoingMessage, **options: Unpack[SendOptions]) -> Sent:
        """Send one message; it is on disk when this returns, unless `durable` is False."""
        return self._portal.call(self._inner.send(body, **options))

    def send_many(
        self, bodies: Iterable[Body | OutgoingMessage], **options: Unpack[SendOptions]
    ) -> list[Sent]:
        """Send several messages in one request: all of them or none.  `options` are for each of them."""
        return self._portal.call(self._inner.send_many(bodies, **options))

    def request(
        self,
        body: Body | OutgoingMessage,
        answers: str,
        timeout: float | None = 30,
        **options: Unpack[SendOptions],
    ) -> Message | None:
        """Send one message and wait for the reply to it in the queue `answers`; None when none comes.

        The receiver answers with `qm.reply(message, ...)`.  Many callers may share a queue of answers.
        """
        return self._portal.call(self._inner.request(body, answers, timeout, **options))

    def receive(self, timeout: float | None = 0) -> Message | None:
        """Receive the first message; None if none comes in `timeout` seconds.

        A timeout of None has no limit.
        """
        return self._portal.call(self._inner.receive(timeout))

    def receive_many(self, count: int, timeout: float | None = 0) -> list[Message]:
        """Receive up to `count` messages, and wait only for the first."""
        return self._portal.call(self._inner.receive_many(count, timeout))

    def peek(self, timeout: float | None = 0) -> Message | None:
        """Return the first message without removing it."""
        return self._portal.call(self._inner.peek(timeout))

    def lookup(self, lookup_id: int, seek: Seek = "current", *, receive: bool = False) -> Message | None:
        """Return the message at a position, or next to it; None if there is none.  `receive` removes it."""
        return self._portal.call(self._inner.lookup(lookup_id, seek, receive=receive))

    def browse(self, after: int | None = None) -> Iterator[Message]:
        """Yield all messages in order without removing them, after a position if one is given."""
        for page in self._portal.iterate(self._inner.pages(after)):
            yield from page

    def move(self, message: Message | int, target: str) -> None:
        """Move a message, or the one with this lookup id, into another queue, such as `orders;retry`."""
        self._portal.call(self._inner.move(message, target))

    def reject(self, message: Message | int) -> None:
        """Refuse a waiting message: it is removed, and becomes a dead letter if its sender asked for that."""
        self._portal.call(self._inner.reject(message))

    def poison(self) -> Queue:
        """Return the subqueue for messages that were returned too often; it exists after the first one."""
        return Queue(self._portal, self._inner.poison())

    def return_poison(self, *messages: Message | int) -> int:
        """Move these poison messages, or all of them, back into this queue; return their number."""
        return self._portal.call(self._inner.return_poison(*messages))

    def consume(self, batch: int = 64, hold: float = 30, timeout: float | None = None) -> Consumer:
        """Receive messages one after another, each at least once; see `AsyncConsumer`."""
        return Consumer(self._portal, self._inner.consume(batch, hold, timeout))

    # -- open queues and cursors

    def open(self, access: Access = "receive", share: Share = "deny-none", lease: float = 60) -> OpenQueue:
        """Keep the queue open: `with queue.open(share="deny-receive") as alone: ...`."""
        return OpenQueue(self._portal, self._inner.open(access, share, lease))

    def cursor(self, access: Access = "receive") -> Cursor:
        """Return a cursor: `with queue.cursor() as cursor: ...`."""
        return Cursor(self._portal, self._inner.cursor(access))

    # -- the queue itself

    def info(self) -> QueueInfo:
        """Return the settings and totals of the queue."""
        return self._portal.call(self._inner.info())

    def change(self, **options: Unpack[QueueOptions]) -> QueueInfo:
        """Change settings of the queue; the others stay."""
        return self._portal.call(self._inner.change(**options))

    def purge(self) -> int:
        """Remove all its messages, and return their number."""
        return self._portal.call(self._inner.purge())

    def delete(self) -> int:
        """Delete the queue, and return the number of its messages."""
        return self._portal.call(self._inner.delete())


class OpenQueue(Queue):
    """Does the work of AsyncOpenQueue: a queue that is open during its block."""

    def __init__(self, portal: Portal, inner: AsyncOpenQueue) -> None:
        super().__init__(portal, inner)
        self._opened = inner

    def __enter__(self) -> OpenQueue:
        self._portal.call(self._opened.open_now())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal.call(let_go(self._opened.close, error))
