"""An application on another machine sends orders and fetches replies over HTTPR, each exactly once."""

from __future__ import annotations

import tempfile
from pathlib import Path

from local_server import free_ports, server

import reliquary

ORDERS = ("two lamps", "a chair", "nine spoons")


def main(folder: Path) -> None:
    ports = free_ports()
    url = f"http://127.0.0.1:{ports[0]}"
    with reliquary.agent(folder / "till", url, name="till-7/app", fetch=("replies",), retry=(0.5, 1)) as till:
        for order in ORDERS:
            till.send("orders", order)
        print(f"the till sent {till.status().waiting} orders; the shop is down")
        with server(folder / "shop", ports, queues="orders,replies") as shop:
            till.flush(timeout=60)  # returns when the shop has committed all of them
            for _ in ORDERS:
                message = shop.queue("orders").receive()
                shop.queue("replies").send(f"{message.text}: sold" if message else "an order is missing")
            for _ in ORDERS:
                with till.receive("replies", timeout=60) as reply:
                    print(f"the till received: {reply.text}" if reply else "a reply is missing")
                    till.send("orders", "thank you")  # leaves with the end of the block
            till.flush(timeout=60)
            print(f"the shop has {shop.queue('orders').info().messages} thanks")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
