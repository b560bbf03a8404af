"""Open a queue manager on a folder, or in memory: disk, rows, machines, core and engine, started and ready.

    Protocol, Protocol, ... --> tables of the disk, machines of the core, carriers and readers of the manager

The server and the in-process client both begin here, so both keep the same promises.  No protocol is known by
name here: what one brings along is in its `Protocol`.
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

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class RunningManager:
    """A running queue manager; `engine` takes events, `state` is for views, to be read only."""

    engine: Engine
    state: State
    machines: Mapping[str, Machine]
    """The machines of the protocols, by the names of the protocols."""
    started: asyncio.Future[object]
    """The answer of the start: it comes when the manager is ready, or cannot be."""

    def machine(self, kind: type[Kind]) -> Kind:
        """Return the machine of this class, for views, to be read only."""
        return next(each for each in self.machines.values() if isinstance(each, kind))

    async def settled(self) -> None:
        """Return when all that can be seen now is on disk."""
        await self.engine.ask(AwaitDisk)

    async def ready(self) -> None:
        """Return when the manager is ready; StartFailed says why it cannot be."""
        _check(await asyncio.shield(self.started))

    async def close(self) -> None:
        """Finish all that was submitted, tell those who wait, let go of the disk."""
        await self.engine.stop(StopManager())


@dataclass(frozen=True, slots=True)
class OpenedEngine(RunningManager):
    """A running queue manager on a folder."""

    disk: RocksDisk
    history: Exporter | None
    """None where the history is off."""

    async def close(self) -> None:
        """Finish all that was submitted, tell those who wait, let go of the folder."""
        if self.history is not None:
            await self.history.stop()
        await RunningManager.close(self)


async def open_in_memory(
    *, clock: Clock, chance: Chance, computer_name: str, protocols: Sequence[Protocol]
) -> RunningManager:
    """Start a queue manager that keeps nothing: it has no folder, and all it knows ends with it."""
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
    """Open a folder, or make it a store; the manager is started when this returns.

    `integrate` says how the manager takes part in a directory; it is asked in a thread, once the
    folder is ours.  `find_servers` is asked again, in a thread, when its list has become old.

    `protocols` run beside the manager; a folder that was opened with a protocol is always opened with it.
    Their messages go nowhere until an endpoint with a network puts itself among the engine's performers.
    New queues let anonymous senders in where there is `http_support`; None leaves it as it was.

    `witness` is a file outside the folder that tells when the folder is an older copy; without it, it lies
    beside the folder.

    With `history`, what happens to messages is told and exported to files.

    It is ready then too, unless `in_doubt_wait` lets it wait for the outcome of transactions; then
    `ready` tells.  A StoreFailure, StoreDamage or StartFailed says why it cannot be had; the folder
    is let go of then.
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
            also_heard=ServerList.HEARS,
            sizes=sizes,
            history=history is not None,
        )
        core.add(server_list, hears=ServerList.HEARS)
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
    """Refuse a store that had a manager and lost it: another one would begin with empty queues."""
    found = None if state.manager.record is None else state.manager.record.identifier
    if disk.owner is not None and disk.owner != found:
        now = "has none" if found is None else f"has {found}"
        raise StoreDamage(f"{disk.folder} is damaged: it belongs to manager {disk.owner}, and {now}")


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
