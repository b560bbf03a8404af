"""With asyncio and PostgreSQL: receive an order, write its bill, send it on, all three exactly once."""

from __future__ import annotations

import asyncio
import sys
import tempfile

import psycopg

import reliquary


async def main(database: str, target: str) -> None:
    connecting = psycopg.AsyncConnection.connect(database)
    async with reliquary.connect_async(target) as qm, await connecting as connection:
        await connection.execute("CREATE TABLE IF NOT EXISTS bills (customer TEXT, amount INTEGER)")
        await connection.commit()
        orders = await qm.create_queue("example-orders", exist_ok=True)
        bills = await qm.create_queue("example-bills", exist_ok=True)
        await orders.send_many(["apples 3", "plums 7"])
        # A worker that was restarted finds its unfinished steps by the owner; one database, one owner.
        once = qm.exactly_once(connection, owner="example-billing")
        await once.recover()
        for _ in range(2):
            async with once.step():
                order = await orders.receive()
                assert order is not None
                customer, amount = order.text.split()
                await connection.execute("INSERT INTO bills VALUES (%s, %s)", (customer, int(amount)))
                await bills.send(f"{customer} owe {amount}")
        print("in the queue:", [message.text async for message in bills.browse()])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit('usage: exactly_once_postgres.py "host=localhost dbname=shop" [http://127.0.0.1:8480]')
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else folder))
