"""Runs requests that take several turns of the engine, all of them for the user of the request.

A conversation runs as a task of the loop.  It ends with its answer, or when its client disconnects, or
when the server stops: then the connection is cut, so that no client takes a partial answer for a
complete one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.turn import Event, Warn
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.api.errors import Refused, refuse, refuse_stopping
from reliquary.net.http import Responder
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.security.principals import Principal

THREADS: Final = 2
"""The number of threads besides the loop: enough to read from the disk while columns are made."""

A = TypeVar("A", bound=Answer)
T = TypeVar("T")


class CutOff(Exception):
    """An answer that has begun cannot be completed."""


class NotOk(Exception):
    """A turn was answered with a status that is not OK."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.why or answer.status.sentence)
        self.status = answer.status
        self.answer = answer


class Conversations:
    """The conversations that are running, and the threads that work for them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._tasks: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(THREADS, "feeds")
        self.stopping = False

    @property
    def under_way(self) -> int:
        """The number of conversations that have not ended."""
        return len(self._tasks)

    async def ask(self, by: Principal, kind: type[A], make: Callable[[int], events.Request]) -> A:
        """Let the engine run one turn and return its answer; NotOk if it is refused."""

        def event(to: int) -> Event:
            return msgspec.structs.replace(make(to), by=by)

        answer = await self.engine.ask(event)
        assert isinstance(answer, Answer), f"no answer: {answer!r}"
        if answer.status is not HResult.OK:
            raise NotOk(answer)
        assert isinstance(answer, kind), f"another answer: {answer!r}"
        return answer

    async def beside(self, work: Callable[[], T]) -> T:
        """Run a function in a thread and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def start(self, responder: Responder, what: str, work: Callable[[], Awaitable[None]]) -> None:
        """Answer a request by running `work` as a task; `what` names the work in a warning."""
        task = asyncio.get_running_loop().create_task(self._carried(responder, what, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        responder.on_gone(lambda: _end(task))

    async def _carried(self, responder: Responder, what: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except asyncio.CancelledError:  # the client has disconnected, or the server stops
            self._cut(responder)
        except EngineStopped:
            self._end(responder, refuse_stopping)
        except (NotOk, Refused) as refusal:
            status, why = refusal.status, str(refusal)
            self._end(responder, lambda to: refuse(to, status, why))
        except UsageError as wrong:
            why = str(wrong)
            self._end(responder, lambda to: refuse(to, HResult.INVALID_PARAMETER, why))
        except Exception as wrong:  # noqa: BLE001 - no client may take this for a whole answer
            why = f"{str(wrong) or type(wrong).__name__}; the client can ask again"
            self.engine.warn(Warn(what, "an answer was cut off after an error", why))
            responder.abort()

    def _end(self, responder: Responder, refused: Callable[[Responder], None]) -> None:
        if responder.streamed is None and responder.out is None:
            refused(responder)
        else:
            responder.abort()

    def _cut(self, responder: Responder) -> None:
        if responder.out is None and responder.connected:
            self._end(responder, refuse_stopping)

    async def stop(self) -> None:
        """End all conversations, and wait until no thread works for them any more."""
        self.stopping = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._threads.shutdown()


def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
