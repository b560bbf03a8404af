"""The load of the queue benchmark, in a process of its own: producers, consumers, a stopwatch.

Reads one JSON line of settings, runs, writes one JSON line of figures.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from time import perf_counter_ns

import msgspec
import uvloop

from bench.connection import Connection

API = "/api/v1/queues/{}/{}"


class Settings(msgspec.Struct):
    """One shape of load."""

    host: str
    port: int
    queue: str
    producers: int
    in_flight: int
    consumers: int
    seconds: float
    body_bytes: int = 1024
    messages: int = 0
    """Not 0: stop after so many instead of after some time."""
    produce: bool = True
    consume: bool = True


class Label(msgspec.Struct):
    """What the stopwatch needs of a received message."""

    label: str


class Received(msgspec.Struct):
    """An answer to a receive."""

    messages: list[Label]
    receipt: str | None = None


class Run:
    """The figures of one run."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.confirms: list[int] = []
        self.journeys: list[int] = []
        self.sent = 0
        self.acknowledged = 0
        self.stopped = False
        self._decode = msgspec.json.Decoder(Received).decode
        body = base64.b64encode(bytes(range(256)) * (settings.body_bytes // 256)).decode()
        self._head, self._tail = b'{"label":"', f'","body":"{body}"}}'.encode()

    def _request(self) -> bytes:
        message = self._head + str(perf_counter_ns()).encode() + self._tail
        if self.settings.in_flight == 1:
            return message
        return b"[" + b",".join([message] * self.settings.in_flight) + b"]"

    async def produce(self, path: str) -> None:
        """Send, wait for the confirm, send again."""
        connection = await Connection.open(self.settings.host, self.settings.port)
        goal = self.settings.messages
        while not self.stopped and not (goal and self.sent >= goal):
            self.sent += self.settings.in_flight
            start = perf_counter_ns()
            await connection.request(path, self._request())
            self.confirms.append(perf_counter_ns() - start)
        connection.close()

    async def consume(self, path: str) -> None:
        """Receive with a hold; the next request acknowledges, and so does a last one of its own."""
        connection = await Connection.open(self.settings.host, self.settings.port)
        receipt, held = None, 0
        goal = self.settings.messages
        while not goal or self.acknowledged < goal:
            request: dict[str, object] = {"count": 64, "timeout": 0.25, "hold": 30}
            if receipt:
                request["acknowledge"] = receipt
            answer = self._decode(await connection.request(path, json.dumps(request).encode()))
            self.acknowledged += held
            now = perf_counter_ns()
            self.journeys += [now - int(message.label) for message in answer.messages[:1]]
            receipt, held = answer.receipt, len(answer.messages)
            if not held and (self.stopped or not self.settings.produce):
                break
        if receipt:
            await connection.request(f"/api/v1/receipts/{receipt}", b"{}")
            self.acknowledged += held
        connection.close()

    async def run(self) -> dict[str, object]:
        """Everybody at once, then the figures."""
        settings = self.settings
        send = API.format(settings.queue, "messages")
        receive = API.format(settings.queue, "receive")
        start = perf_counter_ns()
        readers = [self.consume(receive) for _ in range(settings.consumers)] if settings.consume else []
        writers = [self.produce(send) for _ in range(settings.producers)] if settings.produce else []
        everybody = asyncio.gather(*readers, *writers)
        if not settings.messages:
            await asyncio.wait([everybody], timeout=settings.seconds)
            done, elapsed = self.acknowledged, perf_counter_ns() - start
            self.stopped = True
            await everybody
        else:
            await everybody
            done, elapsed = max(self.acknowledged, 0), perf_counter_ns() - start
        return {
            "elapsed": elapsed / 1e9,
            "acknowledged": done,
            "acknowledged_in_all": self.acknowledged,
            "sent": self.sent,
            "confirm": percentiles(self.confirms),
            "journey": percentiles(self.journeys),
        }


def percentiles(times: list[int]) -> dict[str, float]:
    """The middle and the tail, in milliseconds."""
    ordered = sorted(times) or [0]
    return {
        "p50_ms": ordered[len(ordered) // 2] / 1e6,
        "p99_ms": ordered[len(ordered) * 99 // 100] / 1e6,
    }


async def _main() -> None:
    settings = msgspec.json.decode(sys.stdin.readline(), type=Settings)
    print(json.dumps(await Run(settings).run()), flush=True)


if __name__ == "__main__":
    uvloop.run(_main())
