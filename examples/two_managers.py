"""Two queue managers: a stream of orders leaves while its receiver is down, and arrives once and in order.

    shop ----- transactional messages, over HTTP -----> warehouse
         <---- stream receipts ------------------------

The shop takes ten orders while the warehouse is down, and is restarted itself.  Then the warehouse
starts, and finds all of them in their order.
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

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


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
        "RELIQUARY_SRMP_RETRANSMISSION": "1",  # after a failure, try again soon
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
    shop, warehouse = folder / "shop", folder / "warehouse"
    shop_ports, warehouse_ports = free_ports(), free_ports()
    orders = f"DIRECT=HTTP://localhost:{warehouse_ports[0]}/msmq/private$/orders"

    with server(warehouse, warehouse_ports) as manager:
        manager.create_queue("orders", transactional=True)
    print("the warehouse has a queue, and is down")

    with server(shop, shop_ports) as manager:
        for word in WORDS:
            with manager.transaction():
                manager.queue(orders).send(f"order {word}")
        print(f"the shop sent {len(WORDS)} orders, and stops")

    with server(shop, shop_ports) as manager:
        print(f"the shop is up again, {manager.outgoing_queue(orders).messages} orders wait")
        with server(warehouse, warehouse_ports) as there:
            for _ in WORDS:
                message = there.queue("orders").receive(timeout=60)
                assert message is not None, "an order is missing"
                print(f"the warehouse received: {message.text}")
            assert there.queue("orders").receive() is None, "an order came twice"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        main(Path(temporary))
