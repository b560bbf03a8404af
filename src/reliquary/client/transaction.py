"""Provides transactions: the sends, receives and moves of a block take effect together, or not at all.

    async with qm.transaction():
        message = await orders.receive(timeout=5)
        await bills.send(bill_for(message))

Inside the block every send, receive and move of this manager joins automatically, also in tasks that
are started there; peeks and browses never do.  The block commits at its end, and aborts after an
exception.  `tx.queue(name)` names a queue that is in the transaction in every use.
"""

from __future__ import annotations

from contextvars import ContextVar
from types import TracebackType
from typing import TYPE_CHECKING, Final

from reliquary.client.errors import BadRequest, ReliquaryError

if TYPE_CHECKING:
    from reliquary.client.manager import AsyncManager
    from reliquary.client.queue import AsyncQueue

_entered: Final[ContextVar[tuple[AsyncTransaction, ...]]] = ContextVar("reliquary.transactions", default=())
"""The entered blocks, the innermost last."""


def current(manager: AsyncManager) -> AsyncTransaction | None:
    """Return the innermost transaction of this manager whose block was entered."""
    return next((one for one in reversed(_entered.get()) if one.manager is manager), None)


class AsyncTransaction:
    """A transaction, begun when its block is entered."""

    def __init__(
        self,
        manager: AsyncManager,
        timeout: float,
        id: str | None = None,  # noqa: A002 - the word of the API
        owner: str = "",
    ) -> None:
        self.manager = manager
        self._timeout = timeout
        self._given = id
        self._owner = owner
        self._id: str | None = None
        self._prepared = False
        self._ended = False

    @property
    def id(self) -> str:
        """The id of the transaction, as in `reliquary transaction list`."""
        if self._id is None:
            raise BadRequest("INVALID_PARAMETER", "the transaction has not begun: enter its block first")
        return self._id

    def queue(self, name: str) -> AsyncQueue:
        """Return a queue whose sends, receives and moves are in this transaction."""
        return self.manager.queue(name, transaction=self)

    async def begin(self) -> None:
        """Begin the transaction; the beginning of the block also does that."""
        if self._id is not None:
            raise BadRequest("INVALID_PARAMETER", "a transaction can begin only once: create a new one")
        self._id = await self.manager.transport.begin(self._timeout, self._given, self._owner)

    async def prepare(self) -> None:
        """Store all its work on disk.  From now on no time-out ends it, only commit or abort.

        After this, a commit whose answer is lost on the way can be found out; without it the
        commit raises OutcomeUnknown.
        """
        await self.manager.transport.prepare(self.id)
        self._prepared = True

    async def commit(self) -> None:
        """Commit the transaction now, before the end of the block."""
        await self.manager.transport.commit(self.id, prepared=self._prepared)
        self._ended = True

    async def abort(self) -> None:
        """Abort the transaction before the end of its block."""
        await self.manager.transport.abort(self.id)
        self._ended = True

    def join(self) -> None:
        """Add all requests of this manager to the transaction from now on."""
        _entered.set((*_entered.get(), self))

    def part(self) -> None:
        """Stop adding requests of this manager to the transaction."""
        _entered.set(tuple(one for one in _entered.get() if one is not self))

    async def end(self, error: BaseException | None) -> None:
        """Commit if there is no error, otherwise abort."""
        if self._ended:
            return
        if error is None:
            await self.commit()
            return
        try:
            await self.abort()
        except ReliquaryError as why:  # the error of the block is raised
            error.add_note(f"and the transaction {self.id} could not be aborted: {why}")

    async def __aenter__(self) -> AsyncTransaction:
        await self.begin()
        self.join()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.part()
        await self.end(error)
