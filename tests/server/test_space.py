"""Tests room on the disk: refused in time, taken again when there is enough."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event as Flag

import pytest

from reliquary.base.turn import Event, Warn
from reliquary.queueing.model.events import FlowControl
from reliquary.server import space
from reliquary.server.space import (
    LOW,
    MEGABYTE,
    OFTENEST,
    RESERVE,
    SELDOMEST,
    WHILE_REFUSING,
    Callbacks,
    Space,
    SpaceDecisions,
    SpaceWatch,
    Thresholds,
    judge,
    pause_before_next_look,
    space_of,
    thresholds,
)
from reliquary.store.reserve import NAME

AT = Thresholds(low=100, reserve=40)  # enough is 150, scarce is 25
TAKING, REFUSING = SpaceDecisions(False, True), SpaceDecisions(True, True)


@pytest.fixture(autouse=True)
def _defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the defaults of a server here, which tests/conftest.py takes away from all other tests."""
    monkeypatch.setattr(space, "LOW", LOW)
    monkeypatch.setattr(space, "RESERVE", RESERVE)


@pytest.mark.parametrize(
    ("room", "held", "before", "expected"),
    [
        pytest.param(1000, 40, TAKING, SpaceDecisions(False, True), id="much room"),
        pytest.param(100, 40, TAKING, SpaceDecisions(False, True), id="just enough"),
        pytest.param(99, 40, TAKING, SpaceDecisions(True, True), id="too little"),
        pytest.param(149, 40, REFUSING, SpaceDecisions(True, True), id="more, but not enough to begin again"),
        pytest.param(150, 40, REFUSING, SpaceDecisions(False, True), id="enough to begin again"),
        pytest.param(25, 40, REFUSING, SpaceDecisions(True, True), id="little"),
        pytest.param(
            24, 40, REFUSING, SpaceDecisions(True, False), id="so little that the reserve is needed"
        ),
        pytest.param(
            64, 0, REFUSING, SpaceDecisions(True, False), id="the room of the reserve is not taken back"
        ),
        pytest.param(189, 0, REFUSING, SpaceDecisions(False, False), id="enough for messages alone"),
        pytest.param(190, 0, REFUSING, SpaceDecisions(False, True), id="enough for messages and the reserve"),
        pytest.param(1000, 0, SpaceDecisions(), SpaceDecisions(False, True), id="a first start"),
        pytest.param(10, 0, SpaceDecisions(), SpaceDecisions(True, False), id="a first start on a full disk"),
    ],
)
def test_room_means(room: int, held: int, before: SpaceDecisions, expected: SpaceDecisions) -> None:
    assert judge(AT, room, held, before) == expected


def test_a_threshold_of_zero_refuses_nothing_and_a_reserve_of_zero_is_never_made() -> None:
    assert judge(Thresholds(0, 0), -9, 0, SpaceDecisions()) == SpaceDecisions(False, False)
    assert judge(Thresholds(0, 0), 10**12, 0, SpaceDecisions()) == SpaceDecisions(False, False)


def test_defaults_fit_the_disk_and_settings_are_taken_as_they_are() -> None:
    assert thresholds(10**12, None, None) == (LOW, RESERVE)
    assert thresholds(1000 * MEGABYTE, None, None) == (100 * MEGABYTE, 50 * MEGABYTE)
    assert thresholds(1000 * MEGABYTE, 700, 0) == (700 * MEGABYTE, 0)


def test_the_disk_is_checked_more_often_when_less_room_is_left() -> None:
    at = Thresholds(LOW, 0)
    assert pause_before_next_look(at, 10**13) == SELDOMEST
    assert OFTENEST < pause_before_next_look(at, LOW + 1024 * MEGABYTE) == 1.0
    assert pause_before_next_look(at, LOW) == OFTENEST
    assert pause_before_next_look(at, LOW - 1) == WHILE_REFUSING


def test_the_room_of_a_folder_that_is_not_there_yet_is_that_of_the_disk(tmp_path: Path) -> None:
    found = os.statvfs(tmp_path)
    assert space_of(tmp_path / "not" / "yet").total == found.f_blocks * found.f_frsize
    assert 0 < space_of(tmp_path).free <= space_of(tmp_path).total


def test_what_the_logs_will_need_once_more_is_no_room(tmp_path: Path) -> None:
    (tmp_path / "000004.log").write_bytes(bytes(70_000))
    (tmp_path / "000008.log").write_bytes(bytes(30_000))
    (tmp_path / "LOG").write_bytes(bytes(5_000))
    found = space_of(tmp_path)
    assert found.logs == 100_000
    assert found.room == found.free - 100_000


class Disk:
    """A disk whose room a test chooses, and what the watch says of it."""

    def __init__(self, folder: Path) -> None:
        self.free = 1000 * MEGABYTE
        self.said: list[Event] = []
        self.warned: list[Warn] = []
        self.reclaimed = Flag()
        self.watch = SpaceWatch(folder, 100, 2, self.look)
        self.callbacks = Callbacks(self.said.append, self.warned.append, self.reclaimed.set)

    def look(self, _: Path) -> Space:
        return Space(self.free, 10**12)

    async def until(self, count: int) -> Event:
        """Wait for this many events and return the last."""
        while len(self.said) < count:
            await asyncio.get_running_loop().run_in_executor(None, os.sched_yield)
        return self.said[-1]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    monkeypatch.setattr(space, "pause_before_next_look", lambda *_: 0.001)
    made = Disk(tmp_path)
    yield made
    made.watch.stop()


def test_the_manager_is_notified_when_room_gets_low_and_when_there_is_enough_again(
    disk: Disk, tmp_path: Path
) -> None:
    async def story() -> None:
        disk.watch.start(disk.callbacks)
        assert disk.said == []
        assert (tmp_path / NAME).exists()
        disk.free = 99 * MEGABYTE
        low = await disk.until(1)
        assert isinstance(low, FlowControl)
        assert low.throttled
        assert str(tmp_path) in low.why
        assert "99 megabytes free beside its logs, and below 100 no messages are taken" in low.why
        await asyncio.to_thread(disk.reclaimed.wait)
        disk.free = 150 * MEGABYTE
        assert await disk.until(2) == FlowControl(False)
        assert [warning.what for warning in disk.warned] == ["has too little space for new messages"]
        disk.watch.stop()

    asyncio.run(story())


def test_the_reserve_is_given_back_when_the_disk_is_nearly_full(disk: Disk, tmp_path: Path) -> None:
    async def story() -> None:
        disk.watch.start(disk.callbacks)
        disk.free = 0
        await disk.until(1)
        assert not (tmp_path / NAME).exists()
        assert disk.warned[-1].what == "is nearly full, and the reserve file was deleted"
        disk.watch.stop()

    asyncio.run(story())


@pytest.mark.parametrize(("free", "kept"), [(1000, True), (24, False)])
def test_the_reserve_makes_room_for_a_start(disk: Disk, tmp_path: Path, free: int, kept: bool) -> None:
    async def story() -> None:
        disk.watch.start(disk.callbacks)
        disk.watch.stop()
        disk.free = free * MEGABYTE
        disk.watch = SpaceWatch(tmp_path, 100, 2, disk.look)
        disk.watch.make_room()
        assert (tmp_path / NAME).exists() is kept

    asyncio.run(story())


def test_nothing_is_said_after_a_stop(disk: Disk) -> None:
    async def story() -> None:
        disk.watch.stop()
        disk.watch.start(disk.callbacks)
        disk.watch.stop()
        disk.free = 0
        await asyncio.gather(*(asyncio.to_thread(os.sched_yield) for _ in range(20)))
        assert disk.said == []

    asyncio.run(story())
