"""Open a queue manager on a folder: disk, rows, machine, core and engine, started and ready.

The server and the in-process client both begin here, so both keep the same promises.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_DNS, uuid5

from msgspec.structs import replace

from reliquary.base.chance import Chance
from reliquary.base.faults import StartFailed
from reliquary.base.hresult import HResult
from reliquary.base.time import Duration
from reliquary.engine.core import Core
from reliquary.engine.history import Exporter, HistoryOptions
from reliquary.engine.loop import Clock, Engine
from reliquary.engine.server_list import FindServers, ServerList
from reliquary.engine.unplugged import unplugged
from reliquary.protocols.httpr import machine as httpr_machine
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.httpr.state import State as HttprState
from reliquary.protocols.httpr.tables import TABLES as HTTPR_TABLES
from reliquary.protocols.srmp import machine, tables
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import State as SrmpState
from reliquary.queueing.directory.integration import Integration
from reliquary.queueing.events import Answer, AwaitDisk, StartManager, StopManager
from reliquary.queueing.history.events import ResumeHistory
from reliquary.queueing.manager import HEARS, QueueManager
from reliquary.queueing.state import State
from reliquary.queueing.tables import TABLES
from reliquary.queueing.travel.loopback import Loopback
from reliquary.store import RocksDisk, StagedRows

ALL_TABLES: Final = TABLES + tables.TABLES + HTTPR_TABLES
"""What a folder holds."""


@dataclass(frozen=True, slots=True)
class OpenedEngine:
    """A running queue manager; `engine` takes events, `state` is for views, to be read only."""

    engine: Engine
    state: State
    srmp: SrmpState
    httpr: HttprState
    disk: RocksDisk
    history: Exporter | None
    """None where the history is off."""
    started: asyncio.Future[object]
    """The answer of the start: it comes when the manager is ready, or cannot be."""

    async def settled(self) -> None:
        """Return when all that can be seen now is on disk."""
        await self.engine.ask(AwaitDisk)

    async def ready(self) -> None:
        """Return when the manager is ready; StartFailed says why it cannot be."""
        _check(await asyncio.shield(self.started))

    async def close(self) -> None:
        """Finish all that was submitted, tell those who wait, let go of the folder."""
        if self.history is not None:
            await self.history.stop()
        await self.engine.stop(StopManager())


async def open_engine(
    folder: str | Path,
    *,
    clock: Clock,
    chance: Chance,
    computer_name: str,
    quota: int | None = None,
    hardened_security: bool | None = None,
    first_list: bytes = b"",
    in_doubt_wait: Duration = Duration(0),  # noqa: B008 - a number
    domain: str = "",
    integrate: Callable[[], Integration] | None = None,
    find_servers: FindServers = tuple,
    srmp: SrmpSettings | None = None,
    srmp_http_support: bool | None = None,
    httpr: HttprSettings | None = None,
    history: HistoryOptions | None = None,
) -> OpenedEngine:
    """Open a folder, or make it a store; the manager is started when this returns.

    `integrate` says how the manager takes part in a directory; it is asked in a thread, once the
    folder is ours.  `find_servers` is asked again, in a thread, when its list has become old.

    `srmp` and `httpr` are settings for messages by HTTP; they go nowhere until somebody with a network puts
    himself among the engine's performers, and tells the machines where they are `Addressed`.  New queues let
    anonymous senders in where there is `srmp_http_support`; None leaves it as it was.

    With `history`, what happens to messages is told and exported to files.

    It is ready then too, unless `in_doubt_wait` lets it wait for the outcome of transactions; then
    `ready` tells.  A StoreFailure, StoreDamage or StartFailed says why it cannot be had; the folder
    is let go of then.
    """
    disk = RocksDisk(folder, ALL_TABLES)
    try:
        rows = StagedRows(disk)
        server_list = ServerList(find_servers)
        heard = frozenset((*Loopback.HEARS, *ServerList.HEARS, *machine.HEARS, *httpr_machine.HEARS))
        manager = QueueManager(rows, chance, heard=heard, history=history is not None)
        by_http = Srmp(rows, srmp or SrmpSettings())
        in_batches = Httpr(rows, httpr or HttprSettings())
        core = Core(disk, rows)
        core.add(manager, hears=HEARS)
        core.add(Loopback(), hears=Loopback.HEARS)
        core.add(by_http, hears=machine.HEARS, takes=machine.TAKES, timers=machine.TIMERS)
        core.add(
            in_batches,
            hears=httpr_machine.HEARS,
            takes=httpr_machine.TAKES,
            timers=httpr_machine.TIMERS,
        )
        core.add(server_list, hears=ServerList.HEARS)
        directory = await asyncio.to_thread(integrate) if integrate else None
    except BaseException:
        disk.close()
        raise
    engine = Engine(core, disk, clock)
    exporter = None if history is None else Exporter(engine, manager.state, disk, clock, history)
    engine.performers |= unplugged(engine)
    server_list.submit = engine.submit
    start = StartManager(
        computer_name,
        quota=quota,
        hardened_security=hardened_security,
        srmp_http_support=srmp_http_support,
        dns_domain=domain,
        machine_domain=uuid5(NAMESPACE_DNS, domain) if domain else None,
        directory=directory,
        first_list=first_list,
        signs=srmp is not None and srmp.trust.signer is not None,
        in_doubt_wait=in_doubt_wait,
    )
    in_files = 0
    if exporter is not None:
        record = manager.state.record
        in_files = await asyncio.to_thread(exporter.first_look, record.identifier if record else None)
    started = await _start(engine, start, in_files)
    if exporter is not None:
        exporter.start()
    return OpenedEngine(engine, manager.state, by_http.state, in_batches.state, disk, exporter, started)


async def _start(engine: Engine, start: StartManager, in_files: int) -> asyncio.Future[object]:
    """Start, and wait until the start is on disk; its answer may take longer."""
    loop = asyncio.get_running_loop()
    failed: asyncio.Future[object] = loop.create_future()
    answered: asyncio.Future[object] = loop.create_future()
    usual = engine.on_failure
    engine.on_failure = failed.set_exception
    engine.start()
    engine.submit(ResumeHistory(in_files))
    engine.submit(replace(start, to=engine.caller(answered.set_result)))
    on_disk = asyncio.ensure_future(engine.ask(AwaitDisk))
    try:
        await asyncio.wait((on_disk, failed), return_when=asyncio.FIRST_COMPLETED)
        if failed.done():
            await failed
        if answered.done():
            _check(answered.result())
    except BaseException:
        on_disk.cancel()
        await engine.stop()
        raise
    engine.on_failure = usual
    return answered


def _check(answer: object) -> None:
    assert isinstance(answer, Answer), f"no answer: {answer!r}"
    if answer.status is not HResult.OK:
        raise StartFailed(answer.why)
