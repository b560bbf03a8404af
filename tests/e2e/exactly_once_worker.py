"""A worker that bills orders exactly once, and stops at a named point to be killed there.

python exactly_once_worker.py DATABASE DATA CONTROL TOTAL [POINT]

It works until the database has TOTAL bills.  At the point it says so and waits for a line; then it
goes on, if it is still there.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from typing import Any

import reliquary
from reliquary.client.transaction import AsyncTransaction

POINTS = ("received", "written", "sent", "prepared", "decided", "decision on disk", "committed")
POLL = 0.05
"""Seconds that a receive waits: an order of a dead worker comes back when its transaction ends."""
TIMEOUT = 1.0
"""Seconds after which the transaction of a dead worker ends, if it was not prepared."""


class Worker:
    """The worker: it stops once at the point that the test names."""

    def __init__(self, point: str) -> None:
        self._point = point
        self._prepared = False

    def reach(self, point: str) -> None:
        """Stop here once, if this is the point."""
        if point == self._point:
            self._point = ""
            print(f"at {point}", flush=True)  # noqa: T201 - the test listens
            sys.stdin.readline()

    def watch(self) -> None:
        """Let the steps between the block and its end be points too."""
        usual_prepare, usual_commit = AsyncTransaction.prepare, AsyncTransaction.commit

        async def prepare(transaction: AsyncTransaction) -> None:
            await usual_prepare(transaction)
            self._prepared = True
            self.reach("prepared")

        async def commit(transaction: AsyncTransaction) -> None:
            await usual_commit(transaction)
            self.reach("committed")

        setattr(AsyncTransaction, "prepare", prepare)  # noqa: B010 - a method is not assigned
        setattr(AsyncTransaction, "commit", commit)  # noqa: B010

    def committing(self, usual: Callable[[], None]) -> None:
        """Commit the database, and stop before or after it if that is the point."""
        if self._prepared:
            self.reach("decided")
        usual()
        if self._prepared:
            self.reach("decision on disk")


def connect(database: str, worker: Worker) -> Any:
    """Connect to SQLite by the path of a file, else to PostgreSQL."""
    if database.endswith(".sqlite"):

        class Lite(sqlite3.Connection):
            def commit(self) -> None:
                worker.committing(super().commit)

        return sqlite3.connect(database, factory=Lite)
    import psycopg

    class Postgres(psycopg.Connection[Any]):
        def commit(self) -> None:
            worker.committing(super().commit)

    return Postgres.connect(database)


def main(database: str, data: str, control: str, total: int, point: str = "") -> None:
    """Write a bill for every order, until `total` orders are done."""
    worker = Worker(point)
    worker.watch()
    connection = connect(database, worker)
    mark = "?" if isinstance(connection, sqlite3.Connection) else "%s"
    cursor = connection.cursor()
    with reliquary.connect(data, control=control) as qm:
        orders, bills = qm.queue("orders"), qm.queue("bills")
        once = qm.exactly_once(connection, owner="billing", timeout=TIMEOUT)
        once.recover()
        while cursor.execute("SELECT count(*) FROM bills") and cursor.fetchone()[0] < total:
            connection.rollback()
            with once.step() as step:
                order = orders.receive(timeout=POLL)
                if order is None:
                    step.cancel()
                    continue
                worker.reach("received")
                cursor.execute(f"INSERT INTO bills (name) VALUES ({mark})", (order.text,))
                worker.reach("written")
                bills.send(order.text)
                worker.reach("sent")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), *sys.argv[5:])
