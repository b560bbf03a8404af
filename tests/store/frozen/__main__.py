"""Write a store with a row of each kind that a queue manager keeps, and pack it."""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

import reliquary
from reliquary.store.format import VERSION

LARGE = "large " * 1000


def write(folder: Path) -> None:
    """Write the store: plain, large, moved, delayed and journaled messages, and a prepared transaction."""
    with reliquary.connect(folder / "live") as manager:
        orders = manager.create_queue("orders", journaling=True)
        manager.create_queue("other")
        manager.create_queue("strict", transactional=True)
        for text in ("plain", LARGE, "moved", "journaled"):
            orders.send(text, label=text[:10], priority=4)
        orders.send("urgent", priority=7, tag=7)
        orders.send("later", delay=10**8)
        moved = next(message for message in orders.browse() if message.text == "moved")
        orders.move(moved, "other")
        received = orders.receive()
        assert received is not None
        with manager.transaction() as transaction:
            transaction.queue("strict").send("committed")
        with manager.transaction() as transaction:
            transaction.queue("strict").send("prepared")
            taken = transaction.queue("orders").receive()
            assert taken is not None
            transaction.prepare()
            manager.backup(str(folder / "copy"))


def main() -> None:
    """Pack the store of the current format into the file of its number."""
    target = Path(__file__).parent / f"format-{VERSION}.tar.xz"
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        with tarfile.open(target, "w:xz") as packed:
            packed.add(Path(folder) / "copy", arcname="store")
    sys.stdout.write(f"{target.name}: {target.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
