"""A harness for the endpoint of a protocol: a real queue manager, and a scripted machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Generic, TypeVar

from reliquary.base.time import Instant, seconds
from reliquary.base.turn import Event, Machine, Signal, Turn
from reliquary.engine.core import Core
from reliquary.engine.loop import Engine
from reliquary.net.clock import RealClock
from reliquary.net.http import Listener
from reliquary.queueing.manager import QueueManager
from reliquary.queueing.model.events import StartManager, StopManager
from reliquary.queueing.model.tables import TABLES
from reliquary.store import MemoryDisk, StagedRows


class Chance:
    """Random bits from a fixed seed: every run has equal ids."""

    def __init__(self) -> None:
        self._random = Random(1)

    def bits(self, count: int) -> int:
        return self._random.getrandbits(count)


class UnsignalledMachine:
    """The methods of every scripted machine, which gets no signals and keeps no state."""

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        raise AssertionError(f"an unexpected signal came to the machine: {signal} at {now}")

    def settle(self) -> None:
        """Do nothing: this machine keeps no state between turns."""


MachineT = TypeVar("MachineT", bound=Machine)


class EndpointHarness(Generic[MachineT]):
    """An engine with a scripted machine; a subclass sets `listener`, which gets a free port."""

    listener: Listener

    def __init__(self, machine: MachineT, takes: tuple[type[Event], ...], started: bool = True) -> None:
        disk = MemoryDisk(TABLES)
        self.rows = StagedRows(disk)
        manager = QueueManager(self.rows, Chance())
        self.state = manager.state
        self.machine = machine
        core = Core(disk, self.rows)
        core.add(manager)
        core.add(machine, takes=takes)
        self.engine = Engine(core, disk, RealClock())
        self.started = started
        self.port = 0

    async def open(self) -> None:
        self.engine.start()
        if self.started:
            self.engine.submit(StartManager("HERE"))
        _, self.port = await self.listener.listen()

    async def close(self) -> None:
        await self.listener.drain(seconds(0.001))
        await self.engine.stop(StopManager() if self.started else None)


Harness = TypeVar("Harness", bound=EndpointHarness)  # type: ignore[type-arg]


@asynccontextmanager
async def opened(harness: Harness) -> AsyncIterator[Harness]:
    """Open a harness for the test."""
    await harness.open()
    try:
        yield harness
    finally:
        await harness.close()
