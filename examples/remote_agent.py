"""An application on another machine: it has a folder and a server's address, and each message travels once.

    till ----- orders, over HTTPR -----> shop
         <---- replies -----------------

The till sends three orders while the shop is down.  Then the shop opens, finds each of them once, and
replies; the till receives the replies in transactions, and sends its thanks in the same ones.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import reliquary

ORDERS = ("two lamps", "a chair", "nine spoons")


def free_ports() -> tuple[int, int]:
    """Two ports that nobody uses at the moment."""
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


@contextmanager
def server(folder: Path, ports: tuple[int, int]) -> Iterator[reliquary.Manager]:
    """A server on a folder, while it runs."""
    settings = {
        "RELIQUARY_FOLDER": str(folder),
        "RELIQUARY_DATA_PORT": str(ports[0]),
        "RELIQUARY_CONTROL_PORT": str(ports[1]),
        "RELIQUARY_QUEUES": "orders,replies",
    }
    command = [sys.executable, "-m", "reliquary.server"]
    environment = {name: text for name, text in os.environ.items() if not name.startswith("RELIQUARY_")}
    with subprocess.Popen(command, env=environment | settings, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if "/receive" in line:  # the last line of its welcome
                    break
            address = f"http://127.0.0.1:{ports[0]}"
            with reliquary.connect(address, control=f"http://127.0.0.1:{ports[1]}") as manager:
                yield manager
        finally:
            process.terminate()


def main(folder: Path) -> None:
    ports = free_ports()
    with reliquary.agent(
        folder / "till",
        f"http://127.0.0.1:{ports[0]}",
        name="till-7/app",  # the shop knows it as httpr://till-7/app, for all time
        fetch=("replies",),
        retry=(0.5, 1),
    ) as till:
        for order in ORDERS:
            till.send("orders", order)
        print(f"the till sent {till.status().waiting} orders; the shop is closed")

        with server(folder / "shop", ports) as shop:
            till.flush(timeout=60)
            print("the shop is open, and has committed all of them")
            for _ in ORDERS:
                message = shop.queue("orders").receive()
                assert message is not None, "an order is missing"
                shop.queue("replies").send(f"{message.text}: sold")
            assert shop.queue("orders").receive() is None, "an order came twice"

            for _ in ORDERS:
                with till.receive("replies", timeout=60) as reply:
                    assert reply is not None, "a reply is missing"
                    print(f"the till received: {reply.text}")
                    till.send("orders", "thank you")  # leaves with the end of the block
            till.flush(timeout=60)
            print(f"the shop has {shop.queue('orders').info().messages} thanks")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
