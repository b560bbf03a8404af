"""Stores decisions about transactions in a table of an application's database.

    reliquary_outcomes
      transaction_id    the key: a transaction is decided once
      owner             the application
      outcome           committed, written with the business rows; aborted, written by a recovery
      decided           seconds since 1970

Any connection of DB-API 2.0 can be used, and any asynchronous one with these methods, whose results are
awaited.  A connection in autocommit mode is refused, because a decision must commit with its business rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from inspect import isawaitable
from typing import Any, Final

from reliquary.base.time import in_whole_seconds
from reliquary.client.errors import BadRequest, TransactionEnded
from reliquary.net.clock import RealClock

COMMITTED: Final = "committed"
ABORTED: Final = "aborted"
KEPT: Final = 30 * 86400
"""The seconds after which "aborted" of a recovery is deleted, because no decision is made that late."""
ATTEMPTS: Final = 3
"""How often a statement is tried while another instance of the application writes the row."""

_MARKS: Final = {"qmark": "?", "format": "%s", "pyformat": "%s"}
"""The parameter marks of statements, by the `paramstyle` of a database module."""


async def done(result: Any) -> Any:
    """Return the result of a call, awaited if the connection is asynchronous."""
    return await result if isawaitable(result) else result


class Decisions:
    """Reads and writes the decisions of one application in its database."""

    def __init__(self, connection: Any, owner: str) -> None:
        if _commits_by_itself(connection):
            raise BadRequest(
                "INVALID_PARAMETER",
                "the connection to the database is in autocommit mode, so a decision would not be committed"
                " together with its business rows: turn autocommit off",
            )
        self._connection = connection
        self._owner = owner
        self._mark = _mark_of(connection)

    async def make_table(self) -> None:
        """Create the table, if it is missing."""
        for attempt in range(ATTEMPTS):
            try:
                await self._execute(
                    "CREATE TABLE IF NOT EXISTS reliquary_outcomes (transaction_id VARCHAR(36) PRIMARY KEY,"
                    " owner VARCHAR(128) NOT NULL, outcome VARCHAR(9) NOT NULL, decided BIGINT NOT NULL)"
                )
                await self.commit()
            except Exception:  # another instance creates the table at this moment
                await self.rollback()
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                return

    async def decide(self, transaction: str, ended: Iterable[str]) -> None:
        """Record that this transaction commits, together with the business rows; `commit` makes it durable.

        The rows of transactions that have ended are deleted in this step.
        """
        try:
            await self._write(transaction, COMMITTED)
        except Exception as why:
            await self.rollback()
            if await self._read(transaction) == ABORTED:
                sentence = f"transaction {transaction} was given up by a recovery: nothing of it happened"
                raise TransactionEnded("TRANSACTION_SEQUENCE", sentence) from why
            raise
        await self._delete(ended)

    async def outcome_of(self, transaction: str) -> bool:
        """Return whether this transaction commits. Without a decision, an abort is decided now.

        It waits for a decision that is being written, because the key is unique.
        """
        for _ in range(ATTEMPTS - 1):
            try:
                return await self._outcome_of(transaction)
            except Exception:  # noqa: BLE001 - another instance has just written it; the last attempt decides
                continue
        return await self._outcome_of(transaction)

    async def _outcome_of(self, transaction: str) -> bool:
        await self.rollback()
        found = await self._read(transaction)
        if found is None:
            await self._write(transaction, ABORTED)
            found = ABORTED
        await self.commit()
        return found == COMMITTED

    async def committed(self) -> list[str]:
        """Return the transactions of this application that were decided and not yet forgotten."""
        rows = await self._execute(
            f"SELECT transaction_id FROM reliquary_outcomes WHERE owner = {self._mark}"
            f" AND outcome = '{COMMITTED}'",
            (self._owner,),
        )
        await self.rollback()
        return [row[0] for row in rows]

    async def forget(self, ended: Iterable[str]) -> None:
        """Remove the decisions of transactions that have ended, and old rows with the outcome "aborted"."""
        await self._delete(ended)
        await self._execute(
            f"DELETE FROM reliquary_outcomes WHERE outcome = '{ABORTED}' AND decided < {self._mark}",
            (_now() - KEPT,),
        )
        await self.commit()

    async def commit(self) -> None:
        """Commit the open transaction of the database connection."""
        await done(self._connection.commit())

    async def rollback(self) -> None:
        """Roll back the open transaction of the database connection."""
        await done(self._connection.rollback())

    # -- statements

    async def _write(self, transaction: str, outcome: str) -> None:
        await self._execute(
            "INSERT INTO reliquary_outcomes (transaction_id, owner, outcome, decided)"
            f" VALUES ({', '.join([self._mark] * 4)})",
            (transaction, self._owner, outcome, _now()),
        )

    async def _read(self, transaction: str) -> str | None:
        rows = await self._execute(
            f"SELECT outcome FROM reliquary_outcomes WHERE transaction_id = {self._mark}", (transaction,)
        )
        return rows[0][0] if rows else None

    async def _delete(self, transactions: Iterable[str]) -> None:
        for transaction in transactions:
            await self._execute(
                f"DELETE FROM reliquary_outcomes WHERE transaction_id = {self._mark}", (transaction,)
            )

    async def _execute(self, statement: str, parameters: Sequence[object] = ()) -> list[Any]:
        cursor = await done(self._connection.cursor())
        try:
            await done(cursor.execute(statement, parameters))
            return list(await done(cursor.fetchall())) if cursor.description else []
        finally:
            await done(cursor.close())


def _commits_by_itself(connection: Any) -> bool:
    autocommit = getattr(connection, "autocommit", None)
    if isinstance(autocommit, bool):
        return autocommit
    # sqlite3 before autocommit: without an isolation level it opens no transaction
    return hasattr(connection, "in_transaction") and getattr(connection, "isolation_level", "") is None


def _mark_of(connection: Any) -> str:
    """Return the parameter mark of the module that the connection comes from."""
    for kind in type(connection).__mro__:
        module = sys.modules.get(kind.__module__.partition(".")[0])
        style = getattr(module, "paramstyle", None)
        if style in _MARKS:
            return _MARKS[style]
    known = ", ".join(_MARKS)
    raise BadRequest(
        "INVALID_PARAMETER",
        f"{type(connection).__name__} comes from a module whose `paramstyle` is not one of {known}:"
        " use a connection of DB-API 2.0",
    )


def _now() -> int:
    return in_whole_seconds(RealClock().now())
