"""Send two messages, look at them, receive them."""

from __future__ import annotations

import sys
import tempfile

import reliquary


def main(target: str) -> None:
    with reliquary.connect(target) as qm:
        orders = qm.create_queue("example-first", exist_ok=True)
        orders.send("one apple", label="order")
        orders.send("two pears, at once", label="order", priority=7, expires=3600)

        for message in orders.browse():
            print(f"waiting: {message.text} (priority {message.priority})")
        while (taken := orders.receive()) is not None:
            print(f"received: {taken.text}")
        qm.delete_queue("example-first")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else folder)
