"""Ten orders are sent while their receiver is down; each arrives once and in order, over SRMP."""

from __future__ import annotations

import tempfile
from pathlib import Path

from local_server import free_ports, server

import reliquary

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def main(folder: Path) -> None:
    shop, warehouse = (folder / "shop", free_ports()), (folder / "warehouse", free_ports())
    orders = f"DIRECT=HTTP://localhost:{warehouse[1][0]}/msmq/private$/orders"
    with server(*warehouse) as manager:
        manager.create_queue("orders", transactional=True)
    print("the warehouse has a queue, and is down")
    with server(*shop, srmp_retransmission="1") as manager:
        for word in WORDS:
            with manager.transaction():
                manager.queue(orders).send(f"order {word}")
        print(f"the shop sent {len(WORDS)} orders, and stops")
    with server(*shop, srmp_retransmission="1") as manager, server(*warehouse) as there:
        print(f"both are up, {manager.outgoing_queue(orders).messages} orders wait or are on their way")
        receive(there.queue("orders"))


def receive(queue: reliquary.Queue) -> None:
    for _ in WORDS:
        message = queue.receive(timeout=60)
        print(f"the warehouse received: {message.text}" if message else "an order is missing")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
