"""Tests a loop in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError
from contextvars import ContextVar

import pytest

from reliquary import BadRequest
from reliquary.client.sync.portal import Portal

where: ContextVar[str] = ContextVar("where")


@pytest.fixture
def portal() -> Iterator[Portal]:
    opened = Portal()
    yield opened
    opened.close()


async def look() -> str:
    return where.get("nowhere")


async def count() -> AsyncIterator[int]:
    for number in range(3):
        yield number


async def fail() -> None:
    raise ZeroDivisionError


def test_a_call_brings_its_result_or_its_error(portal: Portal) -> None:
    assert portal.call(look()) == "nowhere"
    with pytest.raises(ZeroDivisionError):
        portal.call(fail())


def test_the_context_of_the_caller_goes_along(portal: Portal) -> None:
    where.set("here")
    assert portal.call(look()) == "here"
    seen: list[str] = []
    other = threading.Thread(target=lambda: seen.append(portal.call(look())))
    other.start()
    other.join()
    assert seen == ["nowhere"]


def test_items_come_one_by_one(portal: Portal) -> None:
    assert list(portal.iterate(count())) == [0, 1, 2]


def test_an_interrupt_cancels_the_work(portal: Portal, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, cancelled = threading.Event(), threading.Event()  # with locks that no signal interrupts

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    class Interrupted:
        """A lock; a thread that waits for it is interrupted."""

        taken = False

        def acquire(self) -> None:
            if self.taken:
                assert begun.wait(5)
                raise KeyboardInterrupt
            self.taken = True

        def release(self) -> None:
            self.taken = False

    with monkeypatch.context() as patch:
        patch.setattr("reliquary.client.sync.portal.Lock", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            portal.call(work())
    assert cancelled.wait(5)


def test_work_that_is_cancelled_in_the_loop_is_notified(portal: Portal) -> None:
    async def work() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.Event().wait()

    with pytest.raises(CancelledError):
        portal.call(work())


def test_a_closed_one_says_so() -> None:
    portal = Portal()
    portal.close()
    portal.close()
    with pytest.raises(BadRequest, match="closed"):
        portal.call(look())


def test_what_still_runs_is_cancelled_at_the_end() -> None:
    portal = Portal()
    ended = threading.Event()

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def start() -> asyncio.Task[None]:
        task = asyncio.create_task(forever())
        going = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(going.set_result, None)
        await going
        return task

    portal.call(start())
    portal.close()
    assert ended.is_set()
