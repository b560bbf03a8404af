"""Tests kill -9 of a server whose queue is read over MQQP: each message is delivered, and none of them twice.

    readers of one client --receive--> server --kill -9--> restart --> ...

A receive is two calls, so a kill comes before the lock, between lock and removal, or while the confirmation
is on its way; the client knows which messages it delivered without a confirmation, and drops them when they
come again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop

from reliquary import AsyncQueue, ReliquaryError, connect_async
from tests.net.http.harness import until
from tests.ports import free_ports
from tests.server.process import Process, running

QUEUE = "/queues/private$%2Forders"
MESSAGES = 240
READERS = 6


class Trial:
    """A server that is killed, and what its readers got."""

    def __init__(self, folder: Path, kills: int) -> None:
        self.folder = folder
        self.kills = kills
        self.handshake, self.read = free_ports(2)
        self.got: list[str] = []
        self.up = asyncio.Event()
        """It is set while the server is there."""
        self.over = False

    def serve(self) -> Process:
        """Start the server, at the ports that it had before."""
        ports = {"MQQP_HANDSHAKE_PORT": str(self.handshake), "MQQP_READ_PORT": str(self.read)}
        process = Process(self.folder, MQQP_ENABLED="true", QUEUES="private$/orders", **ports)
        return process.ready()

    async def read_all(self, queue: AsyncQueue) -> None:
        """Receive until all is over; what fails is tried again when the server is there."""
        while not self.over:
            await self.up.wait()
            with suppress(ReliquaryError):
                message = await queue.receive(timeout=0.5)
                self.got += [] if message is None else [message.label]

    async def run(self) -> None:
        """Kill the server while messages are read, and read the rest from the last one."""
        async with connect_async(f"mqqp://127.0.0.1:{self.handshake}/private$/orders") as there:
            readers = [asyncio.create_task(self.read_all(there.queue())) for _ in range(READERS)]
            for kill in range(1, self.kills + 1):
                await self._live(kill * MESSAGES // (self.kills + 1))
            left = await self._live(MESSAGES, readers)
        assert sorted(self.got, key=int) == [str(number) for number in range(MESSAGES)]
        assert left == []

    async def _live(self, until_read: int, readers: Sequence[asyncio.Task[None]] = ()) -> list[object]:
        """Serve until this many messages were read, and kill; the last run also returns what is left."""
        left = []
        process = await asyncio.to_thread(self.serve)
        self.up.set()
        await until(lambda: len(set(self.got)) >= until_read)
        if readers:
            self.over = True
            await asyncio.gather(*readers)
            left = (await asyncio.to_thread(process.call, "GET", f"{QUEUE}/messages?limit=1000"))["messages"]
        self.up.clear()
        await asyncio.to_thread(process.kill)
        return left


@pytest.mark.mqqp("T35", "T38", "T39", "T40", "T42")
@pytest.mark.parametrize("kills", [2, pytest.param(12, marks=pytest.mark.long)])
def test_a_server_that_is_killed_loses_no_message_and_none_comes_twice(tmp_path: Path, kills: int) -> None:
    with running(tmp_path / "store", QUEUES="private$/orders") as process:
        messages = [{"text": str(number), "label": str(number)} for number in range(MESSAGES)]
        process.call("POST", f"{QUEUE}/messages", messages)

    async def trial() -> None:
        await Trial(tmp_path / "store", kills).run()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(trial())
