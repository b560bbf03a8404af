"""Provides the blocking version of `AsyncCursor`, which reads messages in order without `await`."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from reliquary.client.cursor import AsyncCursor
from reliquary.client.leaving import let_go
from reliquary.client.message import Message
from reliquary.client.sync.portal import Portal


class Cursor:
    """Does the work of AsyncCursor: `with queue.cursor() as cursor: for message in cursor: ...`."""

    def __init__(self, portal: Portal, inner: AsyncCursor) -> None:
        self._portal = portal
        self._inner = inner

    def peek(self, timeout: float | None = 0) -> Message | None:
        """Return the message under the cursor; if there is none yet, the next one."""
        return self._portal.call(self._inner.peek(timeout))

    def next(self, timeout: float | None = 0) -> Message | None:
        """Step to the next message and return it; None if none comes in time."""
        return self._portal.call(self._inner.next(timeout))

    def receive(self, timeout: float | None = 0) -> Message | None:
        """Receive the message under the cursor; if there is none, the next one."""
        return self._portal.call(self._inner.receive(timeout))

    def __iter__(self) -> Iterator[Message]:
        while (message := self.next()) is not None:
            yield message

    def __enter__(self) -> Cursor:
        self._portal.call(self._inner.open())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._portal.call(let_go(self._inner.close, error))
