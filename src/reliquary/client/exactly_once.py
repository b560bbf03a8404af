"""Receives, writes to a database and sends exactly once, in spite of crashes.

    once = qm.exactly_once(connection, owner="billing")
    async with once.step() as step:
        order = await orders.receive(timeout=5)
        if order is None:
            step.cancel()
        else:
            await connection.execute("INSERT INTO bills ...")
            await bills.send(bill_for(order))

A step is a transaction of the queue manager that the database decides:

    1  receive and send                in a transaction with the name of the application (`owner`)
    2  prepare it                      from here on the manager waits for the decision, also after a crash
    3  commit the database             the business rows and the transaction's id: this is the decision
    4  commit the transaction          the decision takes effect in the queues

A recovery (`recover`) that finds a prepared transaction of this owner after a crash looks for its id in
the database: with it the transaction is committed, without it aborted.  Before it is aborted, the
recovery writes "aborted" under this key, so that a slow instance can no longer decide otherwise: its
commit fails, and its step has no effect.

Two-phase commit in the database (PREPARE TRANSACTION) is not needed: there is one database, and its
own commit is the decision.  An owner belongs to one database; instances that share the database may
share the owner.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

from reliquary.base.chance import new_guid
from reliquary.client.decisions import Decisions, done
from reliquary.client.errors import BadRequest, NotFound, ReliquaryError, TransactionEnded
from reliquary.client.patience import to_the_end
from reliquary.net.chance import SystemChance

if TYPE_CHECKING:
    from reliquary.client.manager import AsyncManager
    from reliquary.client.transaction import AsyncTransaction

Ask = Callable[[Coroutine[Any, Any, Any]], Any]
"""Asks the manager; without `await` the answer is there at once."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """The transactions that a crash had left open, and their outcomes."""

    committed: list[str] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)
    contradicted: list[str] = field(default_factory=list)
    """The database committed and an administrator aborted these: this has to be repaired manually.
    """


class AsyncExactlyOnce:
    """The steps of one application with one database; made by `AsyncManager.exactly_once`."""

    def __init__(
        self,
        manager: AsyncManager,
        connection: Any,
        owner: str,
        timeout: float = 60,
        ask: Ask = lambda work: work,
    ) -> None:
        if not owner:
            raise BadRequest(
                "INVALID_PARAMETER",
                "owner is empty: a recovery finds the transactions of an owner by its name",
            )
        self._manager = manager
        self._decisions = Decisions(connection, owner)
        self._owner = owner
        self._timeout = timeout
        self._ask = ask
        self._recovered = False
        self._ended: list[str] = []
        """Transactions that were decided and committed here.

        Their rows are deleted with the next decision.
        """

    def step(self) -> AsyncStep:
        """Return a block that takes effect exactly once as a whole; the first block recovers."""
        return AsyncStep(self)

    async def recover(self) -> Recovered:
        """End the transactions that a crash interrupted between prepare and commit.

        Run it at the start, or let the first step do it.  It may run beside
        instances that are at work: a step that was prepared and not yet decided is undone, and its
        message comes again.
        """
        await self._decisions.make_table()
        decided = await self._decisions.committed()  # before the manager is asked for its open transactions
        open_now = await done(self._ask(self._manager.transactions(self._owner)))
        found = Recovered()
        for each in open_now:
            if each.prepared:
                committed = await self._bring_to_its_end(each.id)
                (found.committed if committed else found.aborted).append(each.id)
        ended = set(decided) - {each.id for each in open_now}
        found.contradicted.extend([each for each in sorted(ended) if await self._was_aborted(each)])
        await self._decisions.forget(ended - set(found.contradicted))
        self._recovered = True
        return found

    async def _was_aborted(self, transaction: str) -> bool:
        try:
            info = await done(self._ask(self._manager.transaction_info(transaction)))
        except NotFound:  # it ended so long ago that its outcome is not needed any more
            return False
        return bool(info.stage == "aborted")

    async def _bring_to_its_end(self, transaction: str) -> bool:
        """Perform the decision of the database; return whether that is a commit."""
        if await self._decisions.outcome_of(transaction):
            await done(self._ask(self._manager.commit(transaction)))
            return True
        with suppress(TransactionEnded):  # another instance was faster
            await done(self._ask(self._manager.abort(transaction)))
        return False

    # -- a step

    async def begin(self) -> AsyncTransaction:
        """Return a transaction with the own name, after a recovery if one is needed."""
        if not self._recovered:
            await self.recover()
        identifier = str(new_guid(SystemChance()))
        transaction = self._manager.transaction(self._timeout, id=identifier, owner=self._owner)
        await done(self._ask(transaction.begin()))
        return transaction

    async def end(self, transaction: AsyncTransaction) -> None:
        """Prepare the transaction, store the decision in the database, then commit."""
        try:
            await done(self._ask(transaction.prepare()))
            await self._decisions.decide(transaction.id, self._ended)
        except BaseException as why:
            await self.undo(transaction, why)
            raise
        try:
            await self._decisions.commit()
        except Exception:
            self._recovered = False
            if not await self._bring_to_its_end(transaction.id):
                raise
        else:
            await self._commit(transaction)
        self._ended = [transaction.id]

    async def _commit(self, transaction: AsyncTransaction) -> None:
        try:
            await done(self._ask(transaction.commit()))
        except ReliquaryError as why:
            self._recovered = False
            why.add_note(
                f"the database has committed; the next step brings {transaction.id} to its end first"
            )
            raise

    async def undo(self, transaction: AsyncTransaction, error: BaseException | None = None) -> None:
        """Abort the step; a failure of the abort is added as a note to the error that caused it."""
        for work in (self._decisions.rollback, lambda: done(self._ask(transaction.abort()))):
            try:
                await work()
            except TransactionEnded:
                continue
            except Exception as why:
                if error is None:
                    raise
                self._recovered = False
                error.add_note(f"and transaction {transaction.id} could not be undone at once: {why}")


class AsyncStep:
    """A step: every send, receive and move of the manager inside its block is part of it."""

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

    async def __aenter__(self) -> AsyncStep:
        self._transaction = await self._once.begin()
        self._transaction.join()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._transaction is not None
        self._transaction.part()
        if error is None and not self._cancelled:
            await to_the_end(self._once.end(self._transaction))
        else:
            await to_the_end(self._once.undo(self._transaction, error))
