"""Tests a queue manager on a folder: started when it is opened, released when it is closed or cannot
start."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from uuid import UUID

import pytest

from reliquary.base.faults import StartFailed, StoreDamage, StoreFailure
from reliquary.base.hresult import HResult
from reliquary.base.time import Duration, seconds
from reliquary.engine.open import OpenedEngine, open_engine, open_in_memory
from reliquary.net.clock import RealClock
from reliquary.protocols.standard import standard
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.events import (
    Answer,
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    PauseQueue,
    PrepareTransaction,
    Received,
    ReceiveMessages,
    ResumeQueue,
    SendMessages,
)
from reliquary.queueing.model.message import Delivery, Message
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.tables import ONLY, PAST_THE_END
from reliquary.sim.chance import SeededChance
from reliquary.store import Changes, RocksDisk, backup, restore, tables_in


async def opened_at(folder: Path, *, quota: int | None = None) -> OpenedEngine:
    chance = SeededChance(1)
    return await open_engine(folder, clock=RealClock(), chance=chance, computer_name="HOST", quota=quota)


def stands(opened: OpenedEngine) -> ManagerState:
    return opened.state.manager.state


def test_the_manager_is_ready_when_it_is_opened_and_its_start_is_on_disk(tmp_path: Path) -> None:
    async def story() -> None:
        opened = await opened_at(tmp_path)
        assert stands(opened) is ManagerState.READY
        assert opened.state.identity().computer_name == "HOST"
        assert opened.engine.syncs.count >= 1
        await opened.close()
        assert stands(opened) is ManagerState.STOPPED

    asyncio.run(story())


def test_a_second_start_finds_what_the_first_one_left(tmp_path: Path) -> None:
    async def first() -> None:
        opened = await opened_at(tmp_path)
        await opened.engine.ask(lambda to: CreateQueue(to, "orders"))
        message = Message(body=b"a", delivery=Delivery.RECOVERABLE)
        await opened.engine.ask(lambda to: SendMessages(to, "orders", (message,)))
        await opened.close()

    async def second() -> None:
        opened = await opened_at(tmp_path, quota=77)
        answer = await opened.engine.ask(lambda to: ReceiveMessages(to, "orders"))
        assert isinstance(answer, Received)
        assert [delivered.message.body for delivered in answer.messages] == [b"a"]
        assert opened.state.identity().quota == 77
        await opened.close()

    asyncio.run(first())
    asyncio.run(second())


def test_a_folder_in_use_is_refused_and_stays_with_its_owner(tmp_path: Path) -> None:
    async def story() -> None:
        opened = await opened_at(tmp_path)
        with pytest.raises(StoreFailure, match="in use"):
            await opened_at(tmp_path)
        answer = await opened.engine.ask(lambda to: CreateQueue(to, "orders"))
        assert isinstance(answer, Answer)
        assert answer.status is HResult.OK
        await opened.close()

    asyncio.run(story())


def test_a_start_that_fails_says_why_and_releases_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = StoreFailure("full", "the disk is full")

    def sync(_: RocksDisk) -> None:
        raise failure

    async def story() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(RocksDisk, "sync", sync)
            with pytest.raises(StoreFailure, match="full"):
                await opened_at(tmp_path)
        opened = await opened_at(tmp_path)
        await opened.close()

    asyncio.run(story())


def test_a_store_that_had_a_manager_never_opens_without_it(tmp_path: Path) -> None:
    async def story() -> None:
        opened = await opened_at(tmp_path)
        mine = opened.state.identity().identifier
        assert opened.disk.owner == mine
        await opened.close()
        disk = RocksDisk(tmp_path, tables_in(tmp_path))
        record = disk.get("manager", ONLY)
        assert record is not None
        for table in disk.tables:  # as if all rows had been in a log that is gone
            disk.apply(Changes(ranges=[(table, b"", PAST_THE_END)]))
        disk.close()
        for _ in range(2):
            with pytest.raises(StoreDamage, match=f"it belongs to manager {mine}, and has none"):
                await opened_at(tmp_path)
        disk = RocksDisk(tmp_path, tables_in(tmp_path))
        disk.apply(Changes({"manager": {ONLY: record}}))
        disk.belongs_to(UUID(int=7))
        disk.close()
        with pytest.raises(StoreDamage, match=f"it belongs to manager {UUID(int=7)}, and has {mine}"):
            await opened_at(tmp_path)

    asyncio.run(story())


def test_an_older_copy_of_the_folder_begins_a_new_era_once(tmp_path: Path) -> None:
    async def one_life(*, expected: int) -> None:
        opened = await opened_at(tmp_path / "data")
        era = opened.state.identity().era
        assert (0 if era is None else era.number) == expected
        await opened.engine.ask(lambda to: CreateQueue(to, f"orders{len(opened.state.queues)}"))
        await opened.close()

    async def story() -> None:
        await one_life(expected=0)
        shutil.copytree(tmp_path / "data", tmp_path / "copy")
        await one_life(expected=0)
        await one_life(expected=0)
        for number in (1, 2):
            shutil.rmtree(tmp_path / "data")
            shutil.copytree(tmp_path / "copy", tmp_path / "data")
            await one_life(expected=1)
            await one_life(expected=1)
            assert not (tmp_path / "data" / "RESTORED").exists(), number

    asyncio.run(story())


def test_the_moment_of_the_witness_ends_the_older_era(tmp_path: Path) -> None:
    async def story() -> None:
        opened = await opened_at(tmp_path / "data")
        backup(opened.disk, tmp_path / "backup")
        await opened.close()
        shutil.rmtree(tmp_path / "data")
        restore(tmp_path / "backup", tmp_path / "data", SeededChance(2))
        os.utime(tmp_path / "data.witness", (1_700_000_000, 1_700_000_000))
        opened = await opened_at(tmp_path / "data")
        era = opened.state.identity().era
        assert era is not None
        assert era.alive_until == 1_700_000_000_000_000
        await opened.close()

    asyncio.run(story())


def test_a_witness_may_be_in_another_folder(tmp_path: Path) -> None:
    async def story() -> None:
        opened = await open_engine(
            tmp_path / "data",
            clock=RealClock(),
            chance=SeededChance(1),
            computer_name="HOST",
            witness=tmp_path / "kept" / "number",
        )
        await opened.close()
        assert not (tmp_path / "kept").exists(), "where it cannot be written, nothing is said"

    asyncio.run(story())


def test_a_backup_belongs_to_the_manager_too(tmp_path: Path) -> None:
    async def story() -> None:
        opened = await opened_at(tmp_path / "store")
        backup(opened.disk, tmp_path / "backup")
        mine = opened.state.identity().identifier
        await opened.close()
        again = await opened_at(tmp_path / "backup")
        assert again.disk.owner == mine
        await again.close()

    asyncio.run(story())


def test_a_message_to_the_loop_back_comes_in_again_and_waits_there_while_it_is_paused(tmp_path: Path) -> None:
    looped = r"DIRECT=OS:loopback\private$\orders"
    message = Message(body=b"a", delivery=Delivery.RECOVERABLE)

    async def first() -> None:
        opened = await opened_at(tmp_path)
        await opened.engine.ask(lambda to: CreateQueue(to, "orders"))
        await opened.engine.ask(lambda to: SendMessages(to, looped, (message,)))
        answer = await opened.engine.ask(lambda to: ReceiveMessages(to, "orders", timeout=seconds(30)))
        assert isinstance(answer, Received)
        assert [delivered.message.body for delivered in answer.messages] == [b"a"]
        await opened.engine.ask(lambda to: PauseQueue(to, looped))
        await opened.engine.ask(lambda to: SendMessages(to, looped, (message,)))
        await opened.close()

    async def second() -> None:
        opened = await opened_at(tmp_path)
        answer = await opened.engine.ask(lambda to: ReceiveMessages(to, "orders"))
        assert answer == Answer(HResult.IO_TIMEOUT, HResult.IO_TIMEOUT.sentence)
        await opened.engine.ask(lambda to: ResumeQueue(to, looped))
        answer = await opened.engine.ask(lambda to: ReceiveMessages(to, "orders", timeout=seconds(30)))
        assert isinstance(answer, Received)
        await opened.close()

    asyncio.run(first())
    asyncio.run(second())


THEIRS = UUID(int=7)


async def leave_in_doubt(folder: Path) -> None:
    opened = await opened_at(folder)
    await opened.engine.ask(lambda to: BeginTransaction(to, identifier=THEIRS))
    await opened.engine.ask(lambda to: PrepareTransaction(to, THEIRS, single_phase=False))
    await opened.ready()
    await opened.close()


async def opened_with_a_wait(folder: Path, wait: Duration) -> OpenedEngine:
    return await open_engine(
        folder, clock=RealClock(), chance=SeededChance(2), computer_name="HOST", in_doubt_wait=wait
    )


@pytest.mark.spec("DM-096", "DM-121")
def test_a_manager_that_waits_for_outcomes_is_open_before_it_is_ready(tmp_path: Path) -> None:
    async def story() -> None:
        await leave_in_doubt(tmp_path)
        opened = await opened_with_a_wait(tmp_path, seconds(60))
        assert stands(opened) is ManagerState.INITIALIZING
        await opened.settled()
        await opened.engine.ask(lambda to: CommitTransaction(to, THEIRS))
        await opened.ready()
        assert stands(opened) is ManagerState.READY
        await opened.close()

    asyncio.run(story())


@pytest.mark.spec("DM-123")
def test_a_manager_without_the_outcomes_names_the_transactions(tmp_path: Path) -> None:
    async def wait_in_vain() -> None:
        opened = await opened_with_a_wait(tmp_path, seconds(0.001))
        try:
            await opened.ready()
        finally:
            await opened.close()

    async def story() -> None:
        await leave_in_doubt(tmp_path)
        with pytest.raises(StartFailed, match=str(THEIRS)):
            await wait_in_vain()
        await (await opened_at(tmp_path)).close()

    asyncio.run(story())


def test_a_start_that_the_manager_refuses_releases_the_folder(tmp_path: Path) -> None:
    async def story() -> None:
        with pytest.raises(StartFailed, match="wait"):
            await opened_with_a_wait(tmp_path, Duration(-1))
        await (await opened_at(tmp_path)).close()

    asyncio.run(story())


def test_the_directory_settings_are_requested_after_the_folder_is_locked(tmp_path: Path) -> None:
    asked: list[bool] = []

    def integrate() -> Integration:
        asked.append((tmp_path / "data" / "FORMAT").exists())
        return Integration(servers=("dc1",))

    async def scene() -> None:
        opened = await open_engine(
            tmp_path / "data",
            clock=RealClock(),
            chance=SeededChance(1),
            computer_name="HERE",
            domain="shop.example",
            integrate=integrate,
        )
        record = opened.state.identity()
        assert (record.directory_integrated, record.directory_servers) == (True, ("dc1",))
        assert record.qualified_computer_name == "HERE.shop.example"
        assert record.last_domain is not None
        await opened.close()

    asyncio.run(scene())
    assert asked == [True]


def test_a_manager_in_memory_works_and_forgets() -> None:
    async def story() -> None:
        for _ in range(2):
            manager = await open_in_memory(
                clock=RealClock(), chance=SeededChance(1), computer_name="HOST", protocols=standard()
            )
            await manager.ready()
            assert manager.state.identity().computer_name == "HOST"
            assert set(manager.machines) >= {each.name for each in standard()}
            answer = await manager.engine.ask(lambda to: CreateQueue(to, "orders"))
            assert isinstance(answer, Answer)
            assert answer.status is HResult.OK
            await manager.settled()
            await manager.close()
            assert manager.state.manager.state is ManagerState.STOPPED

    asyncio.run(story())
