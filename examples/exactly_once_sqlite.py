"""Receive an order, write its bill into SQLite, send it on: all three exactly once, after any crash."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import reliquary


def main(target: str, database: Path) -> None:
    with reliquary.connect(target) as qm, closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS bills (customer TEXT, amount INTEGER)")
        orders = qm.create_queue("example-orders", exist_ok=True)
        bills = qm.create_queue("example-bills", exist_ok=True)
        orders.send_many(["apples 3", "plums 7"])
        # A worker that was restarted finds its unfinished steps by the owner; one database, one owner.
        once = qm.exactly_once(connection, owner="example-billing")
        once.recover()
        for _ in range(2):
            with once.step():
                order = orders.receive()
                assert order is not None
                customer, amount = order.text.split()
                connection.execute("INSERT INTO bills VALUES (?, ?)", (customer, int(amount)))
                bills.send(f"{customer} owe {amount}")
        print("in the database:", connection.execute("SELECT * FROM bills").fetchall())
        print("in the queue:", [message.text for message in bills.browse()])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else f"{folder}/queues", Path(folder) / "business.sqlite")
