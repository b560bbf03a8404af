"""Provides transactions without `await`; a block belongs to the thread that entered it."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from reliquary.client.sync.portal import Portal
from reliquary.client.transaction import AsyncTransaction

if TYPE_CHECKING:
    from reliquary.client.sync.queue import Queue


class Transaction:
    """Does the work of AsyncTransaction: `with qm.transaction(): ...`."""

    def __init__(self, portal: Portal, inner: AsyncTransaction) -> None:
        self._portal = portal
        self._inner = inner

    @property
    def id(self) -> str:
        """The id of the transaction."""
        return self._inner.id

    def queue(self, name: str) -> Queue:
        """Return a queue whose sends, receives and moves are in this transaction."""
        from reliquary.client.sync.queue import Queue

        return Queue(self._portal, self._inner.queue(name))

    def prepare(self) -> None:
        """Store all its work on disk; from now on only commit or abort ends it."""
        self._portal.call(self._inner.prepare())

    def commit(self) -> None:
        """Commit the transaction now, before the end of the block."""
        self._portal.call(self._inner.commit())

    def abort(self) -> None:
        """Abort the transaction before the end of its block."""
        self._portal.call(self._inner.abort())

    def __enter__(self) -> Transaction:
        self._portal.call(self._inner.begin())
        self._inner.join()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.part()
        self._portal.call(self._inner.end(error))
