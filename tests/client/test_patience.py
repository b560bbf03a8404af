"""Work that is brought to its end although the caller is cancelled."""

from __future__ import annotations

import asyncio

import pytest

from reliquary.client.patience import to_the_end
from tests.client.served import turn


class Work:
    """Something that takes until the test says so."""

    def __init__(self) -> None:
        self.done = asyncio.Event()

    async def run(self) -> str:
        await self.done.wait()
        return "message"


def test_the_result_comes_first_and_the_cancellation_at_the_next_wait() -> None:
    async def scene() -> None:
        work = Work()
        got: list[str] = []

        async def caller() -> None:
            got.append(await to_the_end(work.run()))
            await asyncio.Event().wait()

        task = asyncio.create_task(caller())
        await turn()
        task.cancel()
        await turn()
        assert not task.done()
        work.done.set()
        await asyncio.wait([task], timeout=5)
        assert got == ["message"]
        assert task.cancelled()

    asyncio.run(scene())


def test_a_timeout_that_came_too_late_is_forgotten() -> None:
    async def scene() -> None:
        work = Work()

        async def caller() -> str:
            async with asyncio.timeout(None) as limit:
                limit.reschedule(0)
                result = await to_the_end(work.run())
            await turn()
            return result

        task = asyncio.create_task(caller())
        await turn(50)
        work.done.set()
        assert await task == "message"

    asyncio.run(scene())


def test_wait_for_hands_over_the_result() -> None:
    async def scene() -> None:
        work = Work()
        task = asyncio.create_task(asyncio.wait_for(to_the_end(work.run()), 0.001))
        asyncio.get_running_loop().call_later(0.05, work.done.set)
        assert await task == "message"

    asyncio.run(scene())


def test_what_goes_wrong_in_the_work_is_raised() -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(to_the_end(fail()))
