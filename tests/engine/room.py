"""The harness of the tests of the loop: an engine with a small machine on a slow disk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from reliquary.base.time import Instant
from reliquary.base.turn import Effect, Turn
from reliquary.engine.core import Core
from reliquary.engine.loop import Engine
from reliquary.store.staging import StagedRows
from tests.engine.machines import NOON, AnswerUnstored, Do, Noted, NotesMachine, SlowDisk, Write


class LoopClock:
    """Noon by the calendar; the other clock is the loop's."""

    def __init__(self) -> None:
        self.jumps = 0

    def now(self) -> Instant:
        return NOON

    def monotonic(self) -> int:
        return int(asyncio.get_running_loop().time() * 1_000_000)


class Room:
    """An engine with a NotesMachine on a slow disk, and the list of answers."""

    def __init__(self) -> None:
        self.disk = SlowDisk()
        rows = StagedRows(self.disk)
        core = Core(self.disk, rows)
        self.notes_machine = NotesMachine(rows)
        core.add(self.notes_machine)
        self.clock = LoopClock()
        self.engine = Engine(core, self.disk, self.clock)
        self.answers: list[object] = []
        self.failures: list[BaseException] = []
        self.engine.on_failure = self.failures.append
        self.engine.start()

    def write(self, text: str) -> None:
        """Submit a note; the answer goes to the list."""
        self.engine.submit(Write(self.engine.caller(self.answers.append), text))

    def whisper(self, text: str) -> None:
        self.engine.submit(AnswerUnstored(self.engine.caller(self.answers.append), text))

    def do(self, *effects: Effect) -> None:
        """Submit a turn with these effects and a durable fact."""
        self.engine.submit(Do(Turn((Noted(""),), (), effects)))

    async def sync_begun(self) -> None:
        """Wait until the store's thread is in a sync."""
        await asyncio.get_running_loop().run_in_executor(None, self.disk.begun.acquire)

    async def until(self, true: Callable[[], bool]) -> None:
        """Let the loop run until a condition is true."""
        while not true():
            await tick()

    async def stop(self) -> None:
        self.disk.let_go(100)
        await self.engine.stop()


def tick() -> Awaitable[None]:
    """Run one round of the loop."""
    here = asyncio.get_running_loop()
    future = here.create_future()
    here.call_soon(future.set_result, None)
    return future


def run(story: Callable[[Room], Coroutine[Any, Any, None]]) -> None:
    async def begin() -> None:
        await story(Room())

    asyncio.run(asyncio.wait_for(begin(), timeout=30))
