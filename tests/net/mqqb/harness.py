"""A network of MQQB on real sockets, with a list in place of an engine, and peers that are plain sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from reliquary.base.time import seconds
from reliquary.base.turn import Event
from reliquary.net.mqqb.network import Network
from reliquary.net.tcp.budget import Budget
from reliquary.protocols.mqqb.settings import MqqbSettings

HOST = "127.0.0.1"
E = TypeVar("E", bound=Event)


class Events:
    """The events that the network reported, in their order."""

    def __init__(self) -> None:
        self.seen: list[Event] = []
        self._changed = asyncio.Event()

    def submit(self, event: Event) -> None:
        self.seen.append(event)
        self._changed.set()

    def of(self, kind: type[E]) -> list[E]:
        return [each for each in self.seen if isinstance(each, kind)]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something that events lead to has happened."""
        while not condition():
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), 30)

    async def next(self, kind: type[E], count: int = 1) -> E:
        """Wait for this many events of a kind and return the last."""
        await self.until(lambda: len(self.of(kind)) >= count)
        return self.of(kind)[count - 1]


class Harness:
    """A network of MQQB that listens on a free port."""

    def __init__(self, network: Network, events: Events, port: int) -> None:
        self.network = network
        self.events = events
        self.port = port

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(HOST, self.port)


@asynccontextmanager
async def harness(
    settings: MqqbSettings = MqqbSettings(),  # noqa: B008 - it is frozen
    *,
    networks: tuple[str, ...] = ("127.0.0.0/8",),
    budget: Budget | None = None,
    **more: Any,
) -> AsyncIterator[Harness]:
    events = Events()
    network = Network(events.submit, settings, networks=networks, budget=budget, **more)
    _, port = await network.listen(HOST, 0)
    try:
        yield Harness(network, events, port)
    finally:
        network.stop_accepting()
        network.stop_dialing()
        await network.drain(seconds(1))
