"""The load that all queues share: what counts, and when it ends."""

from __future__ import annotations

import asyncio

from bench.load import Run, Settings, body_of, percentiles
from tests.net.http.harness import tick


class Queue:
    """An endpoint in memory whose requests take no time; it keeps what was asked of it."""

    def __init__(self) -> None:
        self.waiting = self.held = self.removed = self.closed = 0
        self.stamp = 0

    async def producer(self, settings: Settings) -> Queue:
        self.in_flight = settings.in_flight
        return self

    async def consumer(self, settings: Settings, number: int) -> Queue:
        return self

    async def send(self, stamp: int) -> None:
        self.waiting, self.stamp = self.waiting + self.in_flight, stamp
        await tick()

    async def receive(self) -> tuple[int, int]:
        await self.finish()
        self.held = min(self.waiting, 64)
        self.waiting -= self.held
        await tick()
        return self.held, self.stamp

    async def finish(self) -> None:
        self.removed, self.held = self.removed + self.held, 0

    def close(self) -> None:
        self.closed += 1


def settings(**more: object) -> Settings:
    given: dict[str, object] = {"producers": 1, "in_flight": 10, "consumers": 1, "seconds": 0.01} | more
    return Settings("host", 1, "orders", **given)  # type: ignore[arg-type]


def test_a_load_of_some_time_ends_when_all_was_received() -> None:
    queue = Queue()
    figures = asyncio.run(Run(settings(), queue).run())
    assert figures["sent"] == figures["acknowledged_in_all"] == queue.removed
    assert queue.removed > 0
    assert queue.closed == 2


def test_a_load_of_some_messages_sends_no_more() -> None:
    queue = Queue()
    figures = asyncio.run(Run(settings(messages=40, consume=False), queue).run())
    assert (figures["sent"], figures["acknowledged"], queue.waiting) == (40, 0, 40)
    figures = asyncio.run(Run(settings(messages=40, produce=False), queue).run())
    assert (figures["sent"], figures["acknowledged"], queue.removed) == (0, 40, 40)


def test_a_producer_pauses_between_its_requests() -> None:
    queue = Queue()
    figures = asyncio.run(Run(settings(messages=30, consume=False, pause=0.01), queue).run())
    assert figures["sent"] == 30
    assert float(str(figures["elapsed"])) >= 0.03


def test_the_least_the_middle_and_the_tail_are_milliseconds() -> None:
    times = [each * 1_000_000 for each in range(200, 0, -1)]
    assert percentiles(times) == {"least_ms": 1, "p50_ms": 101, "p99_ms": 199}
    assert percentiles([]) == {"least_ms": 0, "p50_ms": 0, "p99_ms": 0}


def test_a_body_has_the_size_that_is_asked_for() -> None:
    assert len(body_of(settings())) == 1024
