"""Tests the exporter beside a running engine: files are written, rows are deleted, and failures are
logged."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from reliquary.engine.history import Exporter, HistoryOptions, NotExported
from reliquary.engine.open import OpenedEngine, open_engine
from reliquary.net.clock import RealClock
from reliquary.queueing.model.events import CreateQueue, ReceiveMessages, SendMessages
from reliquary.queueing.model.message import Delivery, Message
from reliquary.sim.chance import SeededChance
from reliquary.store.history.export import last_in
from reliquary.store.history.folder import Kept, files_in

Scene = Callable[[OpenedEngine, Exporter], Awaitable[None]]


def play(tmp_path: Path, *scenes: Scene, store: str = "store", seed: int = 1, every: float = 3600) -> None:
    """Run each scene in a process of its own, all over one store."""

    async def lives() -> None:
        for scene in scenes:
            opened = await open_engine(
                tmp_path / store,
                clock=RealClock(),
                chance=SeededChance(seed),
                computer_name="HERE",
                history=HistoryOptions(tmp_path / "history", every),
            )
            assert opened.history is not None
            await opened.engine.ask(lambda to: CreateQueue(to, "orders"))
            try:
                await scene(opened, opened.history)
            finally:
                await opened.close()

    asyncio.run(asyncio.wait_for(lives(), 60))


async def send(opened: OpenedEngine, count: int = 1) -> None:
    message = Message(body=b"x", delivery=Delivery.RECOVERABLE)
    await opened.engine.ask(lambda to: SendMessages(to, "orders", (message,) * count))


def numbers(folder: Path) -> list[int]:
    tables = [pq.read_table(file.path, partitioning=None) for file in files_in(folder)]
    return [number for table in tables for number in table.column("event_id").to_pylist()]


def test_what_has_happened_is_in_files_when_an_export_is_answered(tmp_path: Path) -> None:
    async def first(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened, 3)
        assert exporter.status().pending == 3
        [file] = await exporter.export_now()
        assert (file.first, file.last) == (1, 3)
        status = exporter.status()
        assert (status.last, status.exported, status.pending, status.pending_bytes) == (3, 3, 0, 0)
        assert (status.files, status.bytes, status.error) == (1, file.size, "")
        assert status.oldest == status.newest == file.hour
        assert await exporter.export_now() == []
        await send(opened)

    async def second(opened: OpenedEngine, exporter: Exporter) -> None:
        assert exporter.status().files == 2  # the stop has written the second one
        await opened.engine.ask(lambda to: ReceiveMessages(to, "orders"))
        await exporter.export_now()
        assert numbers(tmp_path / "history") == [1, 2, 3, 4, 5]

    play(tmp_path, first, second)


def test_the_exporter_exports_at_intervals(tmp_path: Path) -> None:
    async def scene(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened)
        while exporter.status().pending:
            await opened.settled()
        assert numbers(tmp_path / "history") == [1]

    play(tmp_path, scene, every=0.1)


def test_a_stop_exports_the_end_and_the_next_process_goes_on_behind_it(tmp_path: Path) -> None:
    async def first(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened, 2)
        assert numbers(tmp_path / "history") == []

    async def second(opened: OpenedEngine, exporter: Exporter) -> None:
        assert numbers(tmp_path / "history") == [1, 2]
        assert exporter.status().pending == 0
        await send(opened)

    play(tmp_path, first, second)
    assert numbers(tmp_path / "history") == [1, 2, 3]


def test_a_stop_that_cannot_export_leaves_the_end_to_the_next_process(tmp_path: Path) -> None:
    async def first(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened, 2)
        shutil.rmtree(tmp_path / "history")
        (tmp_path / "history").write_text("a file where the folder was")

    async def second(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened)

    play(tmp_path, first)
    (tmp_path / "history").unlink()
    play(tmp_path, second)
    assert numbers(tmp_path / "history") == [1, 2, 3]


def test_a_file_whose_rows_are_still_there_is_not_written_again(tmp_path: Path) -> None:
    async def first(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened, 2)
        with pytest.MonkeyPatch.context() as killed:  # before it can
            killed.setattr(exporter, "_forget", lambda _: None)
            await exporter.export_now()
        assert exporter.status().exported == 0

    async def second(opened: OpenedEngine, exporter: Exporter) -> None:
        assert exporter.status().exported == 2
        await send(opened)
        await exporter.export_now()
        assert numbers(tmp_path / "history") == [1, 2, 3]

    play(tmp_path, first, second)


def test_a_folder_that_cannot_be_written_is_reported_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "history").write_text("a file, no folder")

    async def scene(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened, 2)
        with pytest.raises(NotExported, match="history"):
            await exporter.export_now()
        assert "history" in exporter.status().error
        assert "history: events cannot be exported" in caplog.text
        assert exporter.status().pending == 2
        (tmp_path / "history").unlink()
        await exporter.export_now()
        assert exporter.status().error == ""
        assert numbers(tmp_path / "history") == [1, 2]

    play(tmp_path, scene)


def test_the_folder_of_another_manager_is_left_alone(tmp_path: Path) -> None:
    async def one(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened)
        await exporter.export_now()

    async def other(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened)
        with pytest.raises(NotExported, match="choose another folder"):
            await exporter.export_now()

    play(tmp_path, one)
    play(tmp_path, other, store="another", seed=2)
    assert numbers(tmp_path / "history") == [1]


def test_a_store_from_an_old_backup_uses_no_event_number_twice(tmp_path: Path) -> None:
    async def story(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened)
        await exporter.export_now()
        await send(opened, 2)
        await exporter.export_now()

    async def before(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened)
        await exporter.export_now()

    async def after(opened: OpenedEngine, exporter: Exporter) -> None:
        assert exporter.status().last >= last_in(tmp_path / "history", opened.state.identity().identifier)
        await send(opened)
        await exporter.export_now()

    play(tmp_path, before, store="old")  # the manager of this seed, at an earlier time
    for file in files_in(tmp_path / "history"):
        file.path.unlink()
    play(tmp_path, story, store="new")
    play(tmp_path, after, store="old")
    found = numbers(tmp_path / "history")
    assert found == [1, 2, 3, 4, 5]
    events = pq.read_table(files_in(tmp_path / "history")[-1].path, partitioning=None).column("event")
    assert events.to_pylist() == ["gap", "accepted"]


def test_files_are_copied_where_they_are_wanted_once(tmp_path: Path) -> None:
    async def scene(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened)
        [file] = await exporter.export_now(tmp_path / "lake")
        assert file.path.is_relative_to(tmp_path / "lake")
        assert await exporter.export_now(tmp_path / "lake") == []
        await send(opened)
        assert len(await exporter.export_now(tmp_path / "lake")) == 1
        assert numbers(tmp_path / "lake") == numbers(tmp_path / "history") == [1, 2]
        (tmp_path / "taken").write_text("")
        with pytest.raises(NotExported, match="nothing can be copied to"):
            await exporter.export_now(tmp_path / "taken")

    play(tmp_path, scene)


def test_files_that_are_too_many_go_after_their_rows(tmp_path: Path) -> None:
    async def first(opened: OpenedEngine, exporter: Exporter) -> None:
        await send(opened)
        await exporter.export_now()

    async def second(opened: OpenedEngine, exporter: Exporter) -> None:
        exporter.options = HistoryOptions(tmp_path / "history", 3600, Kept(bytes=0))
        await send(opened)
        await exporter.export_now()
        assert numbers(tmp_path / "history") == [2]
        assert exporter.status().files == 1

    play(tmp_path, first, second)
