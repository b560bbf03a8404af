"""Opens a queue manager on a folder or in memory: disk, rows, machines, core and engine.

    Protocol, Protocol, ... --> tables of the disk, machines of the core, carriers and readers of the manager

The server and the in-process client both start a manager here, so both give equal guarantees.  This module
names no protocol: each protocol is described by its `Protocol`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar
from uuid import NAMESPACE_DNS, uuid5

from msgspec.structs import replace

from reliquary.base.chance import Chance
from reliquary.base.faults import StartFailed, StoreDamage
from reliquary.base.hresult import HResult
from reliquary.base.time import Duration
from reliquary.base.turn import Machine
from reliquary.engine.clock import Clock
from reliquary.engine.history import Exporter, HistoryOptions
from reliquary.engine.loop import Engine
from reliquary.engine.protocols import assemble, tables_of, unplugged
from reliquary.engine.server_list import FindServers, ServerList
from reliquary.queueing.history.events import ResumeHistory
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.events import Answer, AwaitDisk, StartManager, StopManager
from reliquary.queueing.model.protocol import Protocol
from reliquary.queueing.model.security.anonymous import EVERY_ACT, AnonymousAct
from reliquary.queueing.model.state import Sizes, State
from reliquary.queueing.travel.loopback import LOOPBACK
from reliquary.store import MemoryDisk, RocksDisk, StagedRows
from reliquary.store.witness import beside

BUILT_IN: Final = (LOOPBACK,)
"""The protocols that every manager has."""

MachineT = TypeVar("MachineT")


@dataclass(frozen=True, slots=True)
class RunningManager:
    """A running queue manager; `engine` takes events, `state` is for views, to be read only."""

    engine: Engine
    state: State
    machines: Mapping[str, Machine]
    """The machines of the protocols, by the names of the protocols."""
    started: asyncio.Future[object]
    """The answer to the start: it comes when the manager is ready, or when the start has failed."""

    def machine(self, kind: type[MachineT]) -> MachineT:
        """Return the machine of this class, for views, to be read only."""
        return next(each for each in self.machines.values() if isinstance(each, kind))

    async def settled(self) -> None:
        """Wait until every change that can be seen now is on disk."""
        await self.engine.ask(AwaitDisk)

    async def ready(self) -> None:
        """Wait until the manager is ready; StartFailed says why it cannot become ready."""
        _check(await asyncio.shield(self.started))

    async def close(self) -> None:
        """Finish all submitted events, answer the callers that wait, and close the disk."""
        await self.engine.stop(StopManager())


@dataclass(frozen=True, slots=True)
class OpenedEngine(RunningManager):
    """A running queue manager on a folder."""

    disk: RocksDisk
    history: Exporter | None
    """The exporter of the history; None if no history is kept."""

    async def close(self) -> None:
        """Finish all submitted events, answer the callers that wait, and release the folder."""
        if self.history is not None:
            await self.history.stop()
        await RunningManager.close(self)


async def open_in_memory(
    *, clock: Clock, chance: Chance, computer_name: str, protocols: Sequence[Protocol]
) -> RunningManager:
    """Start a queue manager without a folder: its state is lost when it is closed."""
    disk = MemoryDisk(tables_of(protocols))
    core, manager, machines = assemble(disk, StagedRows(disk), chance, (*BUILT_IN, *protocols))
    engine = Engine(core, disk, clock)
    engine.performers |= unplugged(engine, protocols)
    started = await _start(engine, StartManager(computer_name), 0)
    return RunningManager(engine, manager.state, machines, started)


async def open_engine(
    folder: str | Path,
    *,
    clock: Clock,
    chance: Chance,
    computer_name: str,
    quota: int | None = None,
    hardened_security: bool | None = None,
    first_list: bytes = b"",
    anonymous_may: AnonymousAct = EVERY_ACT,
    in_doubt_wait: Duration = Duration(0),  # noqa: B008 - a number
    domain: str = "",
    integrate: Callable[[], Integration] | None = None,
    find_servers: FindServers = tuple,
    protocols: Sequence[Protocol] = (),
    http_support: bool | None = None,
    history: HistoryOptions | None = None,
    sizes: Sizes = Sizes(),  # noqa: B008 - it is frozen
    witness: Path | None = None,
) -> OpenedEngine:
    """Open a folder, or create a store in it, and start its manager.

    `integrate` returns the settings of a manager that takes part in a directory; it is called in a thread,
    after the folder is locked.  `find_servers` is called in a thread whenever its list has become too old.

    `protocols` run beside the manager; a folder that was opened with a protocol is always opened with it.
    Their messages stay here until an endpoint with a network adds itself to the engine's performers.
    New queues allow anonymous senders if `http_support` is set; None leaves the setting unchanged.

    `witness` is a file outside the folder that shows whether the folder is an older copy of the store; if it
    is None, the file is beside the folder.

    With `history`, the events of messages are recorded and exported to files.

    The manager is ready when this returns, unless `in_doubt_wait` lets it wait for the outcomes of
    transactions: then `ready` waits for it.  A StoreFailure, StoreDamage or StartFailed says why the manager
    cannot be started; the folder is released then.
    """
    disk = RocksDisk(folder, tables_of(protocols), witness=witness or beside(Path(folder)))
    try:
        rows = StagedRows(disk)
        server_list = ServerList(find_servers)
        core, manager, machines = assemble(
            disk,
            rows,
            chance,
            (*BUILT_IN, *protocols),
            also_subscribed=ServerList.SIGNALS,
            sizes=sizes,
            history=history is not None,
        )
        core.add(server_list, signals=ServerList.SIGNALS)
        _check_owner(disk, manager.state)
        directory = await asyncio.to_thread(integrate) if integrate else None
    except BaseException:
        disk.close()
        raise
    engine = Engine(core, disk, clock)
    exporter = None if history is None else Exporter(engine, manager.state, disk, clock, history)
    engine.performers |= unplugged(engine, protocols)
    server_list.submit = engine.submit
    start = StartManager(
        computer_name,
        quota=quota,
        hardened_security=hardened_security,
        http_support=http_support,
        dns_domain=domain,
        machine_domain=uuid5(NAMESPACE_DNS, domain) if domain else None,
        directory=directory,
        first_list=first_list,
        anonymous_may=anonymous_may,
        signs=any(each.carrier is not None and each.carrier.signs for each in protocols),
        in_doubt_wait=in_doubt_wait,
        restoration=disk.restoration,
    )
    in_files = 0
    if exporter is not None:
        record = manager.state.manager.record
        in_files = await asyncio.to_thread(exporter.first_look, record.identifier if record else None)
    started = await _start(engine, start, in_files)
    disk.belongs_to(manager.state.identity().identifier)
    disk.restoration_begun()
    if exporter is not None:
        exporter.start()
    return OpenedEngine(engine, manager.state, machines, started, disk, exporter)


def _check_owner(disk: RocksDisk, state: State) -> None:
    """Refuse a store whose manager is lost: a new manager would start with empty queues."""
    found = None if state.manager.record is None else state.manager.record.identifier
    if disk.owner is not None and disk.owner != found:
        now = "has none" if found is None else f"has {found}"
        raise StoreDamage(f"{disk.folder} is damaged: it belongs to manager {disk.owner}, and {now}")


async def _start(engine: Engine, start: StartManager, in_files: int) -> asyncio.Future[object]:
    """Start the manager, and wait until the start is on disk; return the future of its answer."""
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
