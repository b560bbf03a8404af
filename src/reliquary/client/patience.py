"""Completes work even if its caller is cancelled.

A receive that is cancelled after the removal of the message and before its return would lose it (for
example `asyncio.wait_for(queue.receive(None), 5)`).  So from the removal on the work continues, its
result is returned, and the cancellation is raised at the caller's next wait, unless the caller withdrew
it as `asyncio.timeout` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


async def to_the_end(work: Coroutine[Any, Any, T] | asyncio.Future[T]) -> T:
    """Return the result of the work, even if this task is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        ended: asyncio.Future[None] = task.get_loop().create_future()
        task.add_done_callback(partial(_tell, ended))
        try:
            await ended
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        cancel_later()
    return task.result()


def _tell(ended: asyncio.Future[None], _: asyncio.Future[Any]) -> None:
    if not ended.done():
        ended.set_result(None)


def cancel_later() -> None:
    """Raise a deferred cancellation at the next wait, if it was not withdrawn."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().call_soon(_cancel_again, task, task.cancelling())


def _cancel_again(task: asyncio.Task[Any], level: int) -> None:
    if not task.done() and task.cancelling() >= level:
        task.uncancel()
        task.cancel()
