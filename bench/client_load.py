"""The load of the client benchmark, in a process of its own: tasks that send a message and receive one.

    raw     requests whose bytes are ready, over bare connections: what a message needs on the wire
    async   the client with `await`, in tasks
    sync    the client without `await`, in threads

Reads one JSON line of settings, runs, writes one JSON line of figures.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, process_time

import msgspec
import uvloop

import reliquary
from bench.connection import Connection

BODY = bytes(range(256)) * 4
PATIENCE = 10
"""Seconds that a receive waits; each task sends before it receives, so a message is always there."""


class Settings(msgspec.Struct):
    """The client to measure, and the size of the load."""

    kind: str
    host: str
    port: int
    tasks: int
    messages: int
    """The number of messages of each task."""

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://{self.host}:{self.port}"


class Receipt(msgspec.Struct):
    """The fields of an answer that the bare requests need."""

    receipt: str


_receipt = msgspec.json.Decoder(Receipt).decode


async def _raw(settings: Settings) -> None:
    """Send, receive on trial, acknowledge, as the client does so that no lost answer loses a message."""
    connection = await Connection.open(settings.host, settings.port)
    message = b'{"body":"%b"}' % base64.b64encode(BODY)
    wanted = b'{"timeout":%d,"hold":30}' % PATIENCE
    for _ in range(settings.messages):
        await connection.request("/api/v1/queues/bench/messages", message)
        receipt = _receipt(await connection.request("/api/v1/queues/bench/receive", wanted)).receipt
        await connection.request(f"/api/v1/receipts/{receipt}", b"{}")
    connection.close()


async def _run_raw(settings: Settings) -> float:
    start = perf_counter()
    await asyncio.gather(*(_raw(settings) for _ in range(settings.tasks)))
    return perf_counter() - start


async def _run_async(settings: Settings) -> float:
    async with reliquary.connect_async(settings.url) as manager:
        queue = manager.queue("bench")

        async def work() -> None:
            for _ in range(settings.messages):
                await queue.send(BODY)
                assert await queue.receive(timeout=PATIENCE) is not None

        start = perf_counter()
        await asyncio.gather(*(work() for _ in range(settings.tasks)))
        return perf_counter() - start


def _run_sync(settings: Settings) -> float:
    with reliquary.connect(settings.url) as manager, ThreadPoolExecutor(settings.tasks) as threads:

        def work(_: int) -> None:
            queue = manager.queue("bench")
            for _ in range(settings.messages):
                queue.send(BODY)
                assert queue.receive(timeout=PATIENCE) is not None

        start = perf_counter()
        list(threads.map(work, range(settings.tasks)))
        return perf_counter() - start


def main() -> None:
    """Run the load that the settings ask for."""
    settings = msgspec.json.decode(sys.stdin.readline(), type=Settings)
    if settings.kind == "raw":
        elapsed = uvloop.run(_run_raw(settings))
    elif settings.kind == "async":
        elapsed = uvloop.run(_run_async(settings))
    else:
        elapsed = _run_sync(settings)
    print(json.dumps({"elapsed": elapsed, "cpu": process_time()}), flush=True)


if __name__ == "__main__":
    main()
