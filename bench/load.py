"""Runs the load of the queue benchmark in a process of its own: producers, consumers, and their times.

Reads one JSON line of settings, runs, writes one JSON line of figures.
"""

from __future__ import annotations

import asyncio
import json
import sys
from time import perf_counter_ns, process_time
from typing import Protocol

import msgspec
import uvloop

from bench.connection import Connection

API = "/api/v1/queues/{}/{}"


class Settings(msgspec.Struct):
    """The address of the server and the shape of the load."""

    host: str
    port: int
    queue: str
    producers: int
    in_flight: int
    consumers: int
    seconds: float
    body_bytes: int = 1024
    messages: int = 0
    """Not 0: stop after this many messages instead of after some time."""
    pause: float = 0
    """Seconds from a confirm to the next request of a producer."""
    produce: bool = True
    consume: bool = True


class Producer(Protocol):
    """One connection that sends messages to a queue."""

    async def send(self, stamp: int) -> None:
        """Send one request of messages that carry this time, and wait until all of them are confirmed."""

    def close(self) -> None:
        """Close the connection of the producer."""


class Consumer(Protocol):
    """One connection that receives messages from a queue."""

    async def receive(self) -> tuple[int, int]:
        """Acknowledge what came before and receive more: how many messages, and the time in the first."""

    async def finish(self) -> None:
        """Acknowledge the messages that came last."""

    def close(self) -> None:
        """Close the connection of the consumer."""


class Endpoint(Protocol):
    """The way in which a load reaches the measured server."""

    async def producer(self, settings: Settings) -> Producer:
        """Open a connection that sends."""

    async def consumer(self, settings: Settings, number: int) -> Consumer:
        """Open a connection that receives; each has a number of its own."""


class Run:
    """The figures of one run."""

    def __init__(self, settings: Settings, endpoint: Endpoint) -> None:
        self.settings = settings
        self.endpoint = endpoint
        self.confirms: list[int] = []
        self.journeys: list[int] = []
        self.sent = 0
        self.acknowledged = 0
        self.stopped = False

    async def produce(self) -> None:
        """Send, wait for the confirm, send again."""
        producer = await self.endpoint.producer(self.settings)
        goal = self.settings.messages
        while not self.stopped and not (goal and self.sent >= goal):
            self.sent += self.settings.in_flight
            start = perf_counter_ns()
            await producer.send(start)
            self.confirms.append(perf_counter_ns() - start)
            if self.settings.pause:
                await asyncio.sleep(self.settings.pause)
        producer.close()

    async def consume(self, number: int) -> None:
        """Receive with a hold; the next request acknowledges, and so does a last one of its own."""
        consumer = await self.endpoint.consumer(self.settings, number)
        held = 0
        goal = self.settings.messages
        while not goal or self.acknowledged < goal:
            count, stamp = await consumer.receive()
            self.acknowledged += held
            held = count
            if held:
                self.journeys.append(perf_counter_ns() - stamp)
            elif self.stopped or not self.settings.produce:
                break
        await consumer.finish()
        self.acknowledged += held
        consumer.close()

    async def run(self) -> dict[str, object]:
        """Run all clients at once, then return the figures."""
        settings = self.settings
        start, used = perf_counter_ns(), process_time()
        readers = [self.consume(number) for number in range(settings.consumers)] if settings.consume else []
        writers = [self.produce() for _ in range(settings.producers)] if settings.produce else []
        clients = asyncio.gather(*readers, *writers)
        if not settings.messages:
            await asyncio.wait([clients], timeout=settings.seconds)
            done, elapsed = self.acknowledged, perf_counter_ns() - start
            self.stopped = True
            await clients
        else:
            await clients
            done, elapsed = max(self.acknowledged, 0), perf_counter_ns() - start
        return {
            "elapsed": elapsed / 1e9,
            "acknowledged": done,
            "acknowledged_in_all": self.acknowledged,
            "sent": self.sent,
            "processor_seconds": process_time() - used,
            "confirm": percentiles(self.confirms),
            "journey": percentiles(self.journeys),
        }


def percentiles(times: list[int]) -> dict[str, float]:
    """Return the least, the middle and the tail, in milliseconds."""
    ordered = sorted(times) or [0]
    return {
        "least_ms": ordered[0] / 1e6,
        "p50_ms": ordered[len(ordered) // 2] / 1e6,
        "p99_ms": ordered[len(ordered) * 99 // 100] / 1e6,
    }


_pack = msgspec.msgpack.Encoder().encode


class Label(msgspec.Struct):
    """The field of a received message that the measurement needs."""

    label: str


class Received(msgspec.Struct):
    """An answer to a receive."""

    messages: list[Label]
    receipt: str | None = None


PACKED = "Content-Type: application/msgpack\r\nAccept: application/msgpack\r\n"


class ApiProducer:
    """Sends through the API in MessagePack, as our client does; a request has one message or a list."""

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._connection = connection
        self._path = API.format(settings.queue, "messages")
        self._in_flight = settings.in_flight
        self._body = body_of(settings)

    async def send(self, stamp: int) -> None:
        """Send one request and wait for its answer."""
        message = _pack({"label": str(stamp), "body": self._body})
        if self._in_flight > 1:
            message = b"\xdc" + self._in_flight.to_bytes(2) + message * self._in_flight
        await self._connection.request(self._path, message, fields=PACKED)

    def close(self) -> None:
        self._connection.close()


class ApiConsumer:
    """Receives through the API, up to 64 messages at once."""

    _decode = msgspec.msgpack.Decoder(Received).decode

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._connection = connection
        self._path = API.format(settings.queue, "receive")
        self._receipt: str | None = None

    async def receive(self) -> tuple[int, int]:
        """Receive with a hold; the request acknowledges what came before."""
        request: dict[str, object] = {"count": 64, "timeout": 0.25, "hold": 30}
        if self._receipt:
            request["acknowledge"] = self._receipt
        answer = self._decode(await self._connection.request(self._path, _pack(request), fields=PACKED))
        self._receipt = answer.receipt
        return len(answer.messages), int(answer.messages[0].label) if answer.messages else 0

    async def finish(self) -> None:
        """Acknowledge the messages that came last."""
        if self._receipt:
            await self._connection.request(f"/api/v1/receipts/{self._receipt}", b"{}")

    def close(self) -> None:
        self._connection.close()


class Api:
    """The API of a server of ours."""

    async def producer(self, settings: Settings) -> ApiProducer:
        """Open a connection that sends."""
        return ApiProducer(await Connection.open(settings.host, settings.port), settings)

    async def consumer(self, settings: Settings, number: int) -> ApiConsumer:
        """Open a connection that receives."""
        return ApiConsumer(await Connection.open(settings.host, settings.port), settings)


def body_of(settings: Settings) -> bytes:
    """Return the body that every message of a load has."""
    return bytes(range(256)) * (settings.body_bytes // 256)


async def _main() -> None:
    settings = msgspec.json.decode(sys.stdin.readline(), type=Settings)
    print(json.dumps(await Run(settings, Api()).run()), flush=True)


if __name__ == "__main__":
    uvloop.run(_main())
