"""Open a queue manager on a folder: disk, rows, machine, core and engine, started and ready.

The server and the in-process client both begin here, so both keep the same promises.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from reliquary.base.chance import Chance
from reliquary.engine.core import Core
from reliquary.engine.loop import Clock, Engine
from reliquary.queueing.events import CancelRead, StartManager, StopManager
from reliquary.queueing.loopback import Loopback
from reliquary.queueing.manager import HEARS, QueueManager
from reliquary.queueing.state import State
from reliquary.queueing.tables import TABLES
from reliquary.store import RocksDisk, StagedRows


@dataclass(frozen=True, slots=True)
class OpenedEngine:
    """A running queue manager; `engine` takes events, `state` is for views, to be read only."""

    engine: Engine
    state: State
    disk: RocksDisk

    async def settled(self) -> None:
        """Return when all that can be seen now is on disk: that is when a question is answered."""
        await self.engine.ask(lambda to: CancelRead(to, "system$;journal", 0))

    async def close(self) -> None:
        """Finish all that was submitted, tell those who wait, let go of the folder."""
        await self.engine.stop(StopManager())


async def open_engine(
    folder: str | Path, *, clock: Clock, chance: Chance, computer_name: str, quota: int | None = None
) -> OpenedEngine:
    """Open a folder, or make it a store; the manager is ready when this returns.

    A StoreFailure or StoreDamage says why it cannot be had; the folder is let go of then.
    """
    disk = RocksDisk(folder, TABLES)
    try:
        rows = StagedRows(disk)
        manager = QueueManager(rows, chance, heard=frozenset(Loopback.HEARS))
        core = Core(disk, rows)
        core.add(manager, hears=HEARS)
        core.add(Loopback(), hears=Loopback.HEARS)
    except BaseException:
        disk.close()
        raise
    engine = Engine(core, disk, clock)
    await _start(engine, StartManager(computer_name, quota=quota))
    return OpenedEngine(engine, manager.state, disk)


async def _start(engine: Engine, start: StartManager) -> None:
    """Start, and wait until the start is on disk: a question behind it is answered."""
    failed: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    usual = engine.on_failure
    engine.on_failure = failed.set_exception
    engine.start()
    engine.submit(start)
    answered = asyncio.ensure_future(engine.ask(lambda to: CancelRead(to, "system$;journal", 0)))
    try:
        await asyncio.wait((answered, failed), return_when=asyncio.FIRST_COMPLETED)
        if failed.done():
            await failed
    except BaseException:
        answered.cancel()
        await engine.stop()
        raise
    engine.on_failure = usual
