"""Tests questions to an engine: none waits for ever, and a cancelled one takes no message along."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import reliquary
from reliquary import AsyncManager, OperationCancelled, StoreUnusable
from reliquary.client.local import LocalTransport
from tests.client.conftest import Play
from tests.client.served import turn


def local(manager: AsyncManager) -> LocalTransport:
    assert isinstance(manager.transport, LocalTransport)
    return manager.transport


def test_a_cancelled_receive_takes_no_message(play: Play) -> None:
    async def scene(qm: AsyncManager) -> None:
        orders = await qm.create_queue("orders")
        waiting = asyncio.create_task(orders.receive(timeout=None))
        while not (await orders.info()).readers_waiting:
            pass
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        while (await orders.info()).readers_waiting:
            pass
        await orders.send("x")
        message = await orders.receive()
        assert message is not None
        assert message.text == "x"

    play(scene)


@pytest.mark.parametrize("turns", range(12))
def test_whenever_a_receive_is_cancelled_the_message_is_had_or_still_there(
    tmp_path: Path, turns: int
) -> None:
    async def scene() -> None:
        async with reliquary.connect_async(tmp_path / "data") as qm:
            orders = await qm.create_queue("orders")
            got: list[str] = []

            async def reader() -> None:
                message = await orders.receive(timeout=None)
                assert message is not None
                got.append(message.text)
                await asyncio.Event().wait()

            task = asyncio.create_task(reader())
            await turn()
            sending = asyncio.create_task(orders.send("precious"))
            await turn(turns)
            task.cancel()
            await asyncio.wait([task, sending])
            assert task.cancelled()
            left = [message.text async for message in orders.browse()]
            assert got + left == ["precious"]

    asyncio.run(scene())


def test_closing_ends_every_wait(tmp_path: Path) -> None:
    async def scene() -> None:
        qm = await reliquary.connect_async(tmp_path / "data")
        orders = await qm.create_queue("orders")
        waiting = asyncio.create_task(orders.receive(timeout=None))
        await turn()
        await qm.close()
        with pytest.raises(OperationCancelled):
            await waiting
        with pytest.raises(StoreUnusable, match="closed"):
            await orders.send("x")

    asyncio.run(scene())


def test_a_disk_that_fails_is_reported_to_every_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        qm = await reliquary.connect_async(tmp_path / "data")
        orders = await qm.create_queue("orders")
        waiting = asyncio.create_task(orders.receive(timeout=None))
        await turn()
        disk = local(qm).opened.disk

        def fail() -> None:
            raise OSError("no more")

        monkeypatch.setattr(disk, "sync", fail)
        with pytest.raises(StoreUnusable, match="no more") as raised:
            await orders.send("x")
        assert raised.value.code == "STORE_FAILED"
        with pytest.raises(StoreUnusable):
            await waiting
        with pytest.raises(StoreUnusable):
            await orders.send("y")
        monkeypatch.undo()
        await qm.close()

    asyncio.run(scene())


def test_under_pressure_questions_wait_their_turn(tmp_path: Path) -> None:
    async def scene() -> None:
        async with reliquary.connect_async(tmp_path / "data") as qm:
            orders = await qm.create_queue("orders")
            engine = local(qm).opened.engine
            engine.on_pressure(True)
            sending = asyncio.create_task(orders.send("x"))
            await turn(100)
            assert not sending.done()
            engine.on_pressure(False)
            assert (await sending).lookup_id

    asyncio.run(scene())
