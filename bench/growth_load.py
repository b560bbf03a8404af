"""The load of the growth benchmark, in a process of its own: each connection sends one and receives one.

Reads one JSON line of settings, runs, writes one JSON line of figures.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from itertools import count
from time import perf_counter

import msgspec
import uvloop

from bench.connection import Connection

API = "/api/v1/queues/{}/{}"
TOGETHER = 100
"""Connections that are opened at once."""


class Settings(msgspec.Struct):
    """The address of the server and the size of the load."""

    host: str
    port: int
    queues: list[str]
    connections: int
    body_bytes: int
    messages: int


async def run(settings: Settings) -> dict[str, float]:
    """Send and receive all messages, the queues in turn; the clock runs while all connections stand."""
    request = json.dumps({"body": base64.b64encode(os.urandom(settings.body_bytes)).decode()}).encode()
    numbers, received = count(), 0

    async def pairs(connection: Connection) -> None:
        # Each connection sends to a queue before it receives from it, so there is always a message.
        nonlocal received
        while (number := next(numbers)) < settings.messages:
            queue = settings.queues[number % len(settings.queues)]
            await connection.request(API.format(queue, "messages"), request)
            answer = await connection.request(API.format(queue, "receive"), b"{}")
            received += len(answer) > settings.body_bytes

    connections: list[Connection] = []
    while len(connections) < settings.connections:
        wanted = min(TOGETHER, settings.connections - len(connections))
        opening = [Connection.open(settings.host, settings.port) for _ in range(wanted)]
        connections += await asyncio.gather(*opening)
    start = perf_counter()
    await asyncio.gather(*map(pairs, connections))
    elapsed = perf_counter() - start
    for connection in connections:
        connection.close()
    assert received == settings.messages, f"{received} of {settings.messages} messages came back"
    return {"elapsed": elapsed, "messages": received}


def _main() -> None:
    settings = msgspec.json.decode(sys.stdin.readline(), type=Settings)
    print(json.dumps(uvloop.run(run(settings))), flush=True)


if __name__ == "__main__":
    _main()
