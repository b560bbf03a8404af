"""A worker with asyncio: each message is processed at least once, and one that fails is put aside."""

from __future__ import annotations

import asyncio
import sys
import tempfile

import reliquary


def work(message: reliquary.Message) -> None:
    if not message.text.isdigit():
        raise ValueError(f"{message.text!r} is not a number")
    print(f"{message.text} squared is {int(message.text) ** 2}")


async def main(target: str) -> None:
    async with reliquary.connect_async(target) as qm:
        numbers = await qm.create_queue("example-numbers", exist_ok=True)
        failed = await qm.create_queue("example-failed", exist_ok=True)
        await numbers.send_many(["1", "2", "three", "4"])

        # timeout=0 ends the loop when the queue is empty; without it the worker waits for more.
        async with numbers.consume(timeout=0) as messages:
            async for message in messages:
                try:
                    work(message)
                except ValueError as why:
                    await failed.send(message.body, label=str(why)[:249], correlation=message.id)

        async for message in failed.browse():
            print(f"put aside: {message.text} ({message.label})")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else folder))
