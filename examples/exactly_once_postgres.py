"""Take an order, write its bill into PostgreSQL, send it on: all three exactly once, with asyncio.

python exactly_once_postgres.py "host=localhost dbname=shop" [http://127.0.0.1:8480]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile

import psycopg

import reliquary


async def main(database: str, target: str) -> None:
    async with (
        reliquary.connect_async(target) as qm,
        await psycopg.AsyncConnection.connect(database) as connection,
    ):
        await connection.execute("CREATE TABLE IF NOT EXISTS bills (customer TEXT, amount INTEGER)")
        await connection.commit()
        orders = await qm.create_queue("example-orders", exist_ok=True)
        bills = await qm.create_queue("example-bills", exist_ok=True)
        await orders.send_many(["apples 3", "plums 7"])

        # The name is how a restarted worker finds what it left behind; one database, one owner.
        once = qm.exactly_once(connection, owner="example-billing")
        while True:
            async with once.step() as step:
                order = await orders.receive()
                if order is None:
                    step.cancel()
                    break
                customer, amount = order.text.split()
                await connection.execute("INSERT INTO bills VALUES (%s, %s)", (customer, int(amount)))
                await bills.send(f"{customer} owe {amount}")

        found = await (await connection.execute("SELECT customer, amount FROM bills")).fetchall()
        print("in the database:", found)
        print("in the queue:", [message.text async for message in bills.browse()])
        for queue in (orders, bills):
            await queue.delete()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else folder))
