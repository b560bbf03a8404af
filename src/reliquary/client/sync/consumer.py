"""Receives messages one after another without `await`; a fetched message needs no call into the loop."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from reliquary.client.consumer import AsyncConsumer
from reliquary.client.message import Message
from reliquary.client.sync.portal import Portal


class Consumer:
    """Does the work of AsyncConsumer: `with queue.consume() as messages: for message in messages: ...`."""

    def __init__(self, portal: Portal, inner: AsyncConsumer) -> None:
        self._portal = portal
        self._inner = inner
        self._in_block = False

    def __iter__(self) -> Iterator[Message]:
        try:
            while True:
                message = self._inner.take()
                if message is not None:
                    yield message
                elif not self._portal.call(self._inner.fetch()):
                    return
        finally:
            if not self._in_block:
                self._portal.call(self._inner.close())

    def reject(self) -> None:
        """Refuse the current message: it leaves the queue, and becomes a dead letter if it asked for that."""
        self._portal.call(self._inner.reject())

    def __enter__(self) -> Consumer:
        self._in_block = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal.call(self._inner.leave(error))
