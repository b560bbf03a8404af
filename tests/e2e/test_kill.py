"""kill -9 at any moment, under load: nothing confirmed is lost, nothing comes twice, no repair is needed.

    live: thirteen clients --> kill -9 --> restart (some are killed while they open) --> take stock --.
      ^                                                                                                |
      '------------------------------------------------------------------------------------------------'

What must be found after each restart is kept in `ledger.py`.  Some trials are power cuts: there the
kernel forgets what was not synced (`power.py`).  A seed repeats what the clients do
and after how many requests the server dies, not the moment to the microsecond.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from signal import SIGKILL
from subprocess import TimeoutExpired
from time import perf_counter_ns

import pytest
import uvloop
from _pytest.mark import ParameterSet

from reliquary.net.http import HttpClient
from reliquary.protocols.standard import ALL_TABLES
from reliquary.store import RocksDisk, verify
from tests.e2e import power
from tests.e2e.ledger import Ledger, Order, Taking
from tests.e2e.load import QUEUES, Api, Load, shown
from tests.e2e.process import SERVER, ServerProcess, complaints_of

KILLS = 10
REQUESTS = (20, 500)
"""How many requests are answered in one run of the server, at least and at most."""
LONGEST_PAUSE = 3_000
"""Microseconds between the last answer and the kill: the server works on what it has been sent."""
LONGEST_OPENING = 60_000
"""Microseconds from the first touch of the store to a kill while it opens."""


FOUND = "explain|came back|is lost|half of a change|not prepared|forgot|given twice|never there"
"""How the ledger reports a promise that a crash has broken."""


class Trial:
    """A server that is killed again and again, and what its clients know."""

    def __init__(self, folder: Path, seed: int, depth: int, command: tuple[str, ...] = SERVER) -> None:
        self.folder = folder
        self.command = command
        self.depth = depth
        self.random = Random(seed)
        self.ledger = Ledger(*QUEUES, overtaking=["target"])
        self.load = Load(self.ledger, self.random, depth)
        self.kills = 0

    async def run(self) -> None:
        """Run and kill the server, and check the queues after the last run."""
        self._kill_while_it_opens()
        while self.kills < KILLS:
            if self.random.random() < 0.2:
                self._kill_while_it_opens()
            with self._started().wait_until_ready() as server:
                async with HttpClient(server.data) as data, HttpClient(server.control) as control:
                    await self._take_stock(Api(data), Api(control))
                    await self._live_and_die(server, Api(data))
        with self._started().wait_until_ready() as server:
            async with HttpClient(server.data) as data, HttpClient(server.control) as control:
                await self._take_stock(Api(data), Api(control))
                await self._empty(Api(data), Api(control))
            assert server.stop() == 0
            assert not server.said, f"it complained: {server.said}"
        self.ledger.close()

    def _started(self) -> ServerProcess:
        return ServerProcess(self.folder, *QUEUES, command=self.command)

    def _must_be_dead(self, server: ServerProcess) -> None:
        assert server.wait() == -SIGKILL, server.said
        if self.command is not SERVER:
            power.cut(self.folder)

    async def _live_and_die(self, server: ServerProcess, api: Api) -> None:
        if self.kills == 0:
            for queue in ("plain", "held"):
                await self.load.fill(api, queue, self.depth)
        left = self.random.randint(*REQUESTS)
        pause = self.random.randint(0, LONGEST_PAUSE)

        def answered() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                _spin(pause)
                server.kill()

        api.answered = answered
        early = await self.load.run(api, is_over=lambda: left <= 0)
        assert left <= 0, f"it ended by itself with {server.wait()}: {server.said}"
        self._must_be_dead(server)
        assert not early, f"connections were lost before the kill: {early}"
        self.kills += 1

    def _kill_while_it_opens(self) -> None:
        """Kill the server while RocksDB, which begins with a new file LOG, opens the store."""
        log = self.folder / "LOG"
        before = _inode(log)
        with self._started() as server:
            while _inode(log) in {None, before}:
                assert not _ends_within(server, 0.001), server.said
            _spin(self.random.randint(0, LONGEST_OPENING))
            server.kill()
            self._must_be_dead(server)

    # -- after a restart

    async def _take_stock(self, data: Api, control: Api) -> None:
        listed = (await data.call("GET", "/transactions"))["transactions"]
        assert all(each["prepared"] for each in listed), listed
        for change in self.ledger.unfinished(each["id"] for each in listed):
            if change.commits or self.random.random() < 0.5:
                await data.call("POST", f"/transactions/{change.transaction}/commit")
                self.ledger.confirm(change)
            else:
                await data.call("POST", f"/transactions/{change.transaction}/abort")
                self.ledger.abort(change)
        found = {queue: await data.browse(queue) for queue in QUEUES}
        self.ledger.take_stock(found)
        for queue in QUEUES:
            reported = await control.call("GET", f"/queues/{queue}")
            assert (reported["messages"], reported["locked"]) == (len(found[queue]), 0), (
                f"{queue} counts wrong: {reported}"
            )

    async def _empty(self, data: Api, control: Api) -> None:
        for queue in QUEUES:
            order = Order()
            while self.ledger.stocks[queue].there:
                taking = self.ledger.ask(Taking(queue, 100))
                messages = shown(await data.call("POST", f"/queues/{queue}/receive", {"count": taking.count}))
                assert messages, f"{queue} says that it is empty"
                self.ledger.receive(taking, messages)
                order.see(messages)
            reported = await control.call("GET", f"/queues/{queue}")
            assert (reported["messages"], reported["locked"], reported["bytes"]) == (0, 0, 0), (
                f"{queue} is empty: {reported}"
            )


@contextmanager
def _repeatable(trial: Trial, seed: int) -> Iterator[None]:
    try:
        yield
    except BaseException as why:
        why.add_note(f"seed {seed}, after {trial.kills} kills under load; the store is in {trial.folder}")
        why.add_note(f"the server said: {complaints_of(trial.folder).read_text() or 'nothing'}")
        why.add_note(f"again: ./dev test tests/e2e/test_kill.py -k seed{seed}")
        raise


def _case(seed: int, depth: int, command: tuple[str, ...], *marks: pytest.MarkDecorator) -> ParameterSet:
    how = "kill" if command is SERVER else "power cut"
    return pytest.param(seed, depth, command, marks=marks, id=f"seed{seed}, {how}, depth {depth}")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("seed", "depth", "command"),
    [
        _case(1, 0, SERVER, pytest.mark.long),
        _case(2, 100, power.COMMAND),
        _case(3, 300, SERVER, pytest.mark.long),
        _case(4, 1200, power.COMMAND, pytest.mark.long),
        _case(5, 3000, SERVER, pytest.mark.long),
    ],
)
def test_a_server_that_is_killed_under_load_loses_nothing_and_repeats_nothing(
    seed: int, depth: int, command: tuple[str, ...], tmp_path: Path
) -> None:
    trial = Trial(tmp_path / "store", seed, depth, command)
    with _repeatable(trial, seed):
        _run(trial)
        disk = RocksDisk(trial.folder, ALL_TABLES, create=False)
        report = verify(disk, disk.tables)
        disk.close()
        assert report.is_sound, report.damages


def test_answers_that_leave_before_the_sync_are_found(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "store", 1, 0, power.HASTY)
    with pytest.raises(AssertionError, match=FOUND):
        _run(trial)


def _run(trial: Trial) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(trial.run())


def _inode(path: Path) -> int | None:
    """Return a file's inode; None while RocksDB has renamed the old LOG and not yet made the new one."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _ends_within(server: ServerProcess, patience: float) -> bool:
    try:
        server.wait(patience)
    except TimeoutExpired:
        return False
    return True


def _spin(microseconds: int) -> None:
    """Wait for a moment so short that a timer would miss it."""
    end = perf_counter_ns() + microseconds * 1000
    while perf_counter_ns() < end:
        pass
