"""Take an order and send its bill in one step: both happen, or neither."""

from __future__ import annotations

import sys
import tempfile

import reliquary


def bill(order: reliquary.Message) -> str:
    if "unicorn" in order.text:
        raise ValueError(f"{order.text} cannot be delivered")
    return f"bill for {order.text}"


def main(target: str) -> None:
    with reliquary.connect(target) as qm:
        orders = qm.create_queue("example-orders", exist_ok=True)
        bills = qm.create_queue("example-bills", exist_ok=True)
        orders.send_many(["one apple", "a unicorn"])

        for _ in range(2):
            try:
                with qm.transaction():
                    order = orders.receive()
                    assert order is not None
                    bills.send(bill(order), correlation=order.id)
            except ValueError as why:
                print(f"undone: {why}")

        print("bills:", [message.text for message in bills.browse()])
        print("still in orders:", [message.text for message in orders.browse()])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else folder)
