"""Runs an event loop in a separate thread, and calls into it from other threads.

Each call has the context of its caller, so that a transaction of a thread applies only to the requests
of that thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from threading import Lock
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

import uvloop

from reliquary.client.errors import BadRequest

T = TypeVar("T")


class Portal:
    """A loop that runs until it is closed, and does not keep the process alive."""

    def __init__(self) -> None:
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=self._run, name="reliquary-client", daemon=True)
        self._thread.start()
        self._loop, self._stop = self._started.result()
        self._closed = False

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._until_closed())

    async def _until_closed(self) -> None:
        stop = asyncio.Event()
        self._started.set_result((asyncio.get_running_loop(), stop))
        await stop.wait()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run an awaitable in the loop and wait for its result."""
        if self._closed:
            work.close()
            raise BadRequest("CLOSED", "the manager is closed")
        assert threading.current_thread() is not self._thread, "a call into the loop from the loop never ends"
        call = _Call(work)
        self._loop.call_soon_threadsafe(call.start)
        try:
            call.ended.acquire()
        except BaseException:  # an interrupt came during the wait
            self._loop.call_soon_threadsafe(call.cancel)
            raise
        return call.result()

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """Yield the items of an asynchronous iterator, each fetched when it is requested."""
        while True:
            try:
                item = self.call(_next(items))
            except StopAsyncIteration:
                return
            yield item

    def close(self) -> None:
        """End the loop, and cancel the running tasks."""
        if not self._closed:
            self._closed = True
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()


class _Call(Generic[T]):
    """A coroutine that runs in the loop, and the lock that its caller waits for in another thread.

    It does what `asyncio.run_coroutine_threadsafe` does, without a second future and its condition.
    """

    __slots__ = ("_task", "_work", "ended")

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self.ended = Lock()
        """A lock that is released when the coroutine has ended."""
        self.ended.acquire()

    def start(self) -> None:
        """Begin to run, in the loop's thread and in the context of the caller."""
        self._task = asyncio.get_running_loop().create_task(self._work)
        self._task.add_done_callback(self._end)

    def _end(self, _: asyncio.Task[T]) -> None:
        self.ended.release()

    def cancel(self) -> None:
        """Cancel it, in the loop's thread; nothing happens if it has ended."""
        assert self._task is not None, "the loop begins a call before it cancels it"
        self._task.cancel()

    def result(self) -> T:
        """Return the result after the end; raise the CancelledError of threads."""
        assert self._task is not None, "a call that has ended was begun"
        try:
            return self._task.result()
        except asyncio.CancelledError:
            raise CancelledError from None


class Closing(Protocol):
    """An object that is closed with `await`."""

    async def close(self) -> None:
        """Release the resources of this object."""


Inner = TypeVar("Inner", bound=Closing)


class OnPortal(Generic[Inner]):
    """An asynchronous object with its own event loop; the end of the block closes both."""

    def __init__(self, portal: Portal, inner: Inner) -> None:
        self._portal = portal
        self._inner = inner
        self._closed = False

    def close(self) -> None:
        """Close the server connection or the folder; waiting messages are sent after it is opened again."""
        if self._closed:
            return
        self._closed = True
        try:
            self._portal.call(self._inner.close())
        finally:
            self._portal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def _next(items: AsyncIterator[T]) -> T:
    return await anext(items)
