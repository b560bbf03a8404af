"""Works exactly once without `await`; the database is used only in the caller's thread.

with once.step() as step:
    order = orders.receive(timeout=5)
    ...
"""

from __future__ import annotations

from collections.abc import Coroutine
from inspect import iscoroutinefunction
from types import TracebackType
from typing import Any, TypeVar

from reliquary.client.errors import BadRequest
from reliquary.client.exactly_once import AsyncExactlyOnce, Recovered
from reliquary.client.manager import AsyncManager
from reliquary.client.sync.portal import Portal
from reliquary.client.transaction import AsyncTransaction

T = TypeVar("T")


class ExactlyOnce:
    """Does the work of AsyncExactlyOnce, for a connection without `await`."""

    def __init__(
        self, portal: Portal, manager: AsyncManager, connection: Any, owner: str, timeout: float = 60
    ) -> None:
        if iscoroutinefunction(getattr(connection, "commit", None)):
            raise BadRequest("INVALID_PARAMETER", "an asynchronous connection is for `connect_async`")
        self._inner = AsyncExactlyOnce(manager, connection, owner, timeout, portal.call)

    def step(self) -> Step:
        """Return a block that takes effect exactly once as a whole; the first block recovers."""
        return Step(self._inner)

    def recover(self) -> Recovered:
        """End the transactions that a crash interrupted between prepare and commit."""
        return _complete(self._inner.recover())


class Step:
    """Does the work of AsyncStep: `with once.step(): ...`."""

    def __init__(self, once: AsyncExactlyOnce) -> None:
        self._once = once
        self._transaction: AsyncTransaction | None = None
        self._cancelled = False

    @property
    def id(self) -> str:
        """The transaction's id, which the database will store."""
        if self._transaction is None:
            raise BadRequest("INVALID_PARAMETER", "the step has not begun: enter its block first")
        return self._transaction.id

    def cancel(self) -> None:
        """Abort the step at the end of the block, without an error."""
        self._cancelled = True

    def __enter__(self) -> Step:
        self._transaction = _complete(self._once.begin())
        self._transaction.join()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._transaction is not None
        self._transaction.part()
        if error is None and not self._cancelled:
            _complete(self._once.end(self._transaction))
        else:
            _complete(self._once.undo(self._transaction, error))


def _complete(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, because every answer is there at once."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise AssertionError("a step without `await` waits")
