"""Sends requests to an engine in process, with one future for each, which is always completed.

A cancelled receive withdraws its request.  If a message came first, the caller gets it and the
cancellation comes after it (`patience`), so that no message is removed without reaching the caller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container
from contextlib import suppress
from typing import Final, TypeVar

from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.client.errors import StoreUnusable, error_of
from reliquary.client.patience import cancel_later, to_the_end
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.queueing.model.events import Answer, CallerGone, Received

A = TypeVar("A", bound=Answer)

NO_MESSAGE: Final = frozenset({HResult.IO_TIMEOUT, HResult.MESSAGE_NOT_FOUND})

Make = Callable[[int], Event]
"""Builds an event for a caller's number."""


class Inbox:
    """Asks an engine and waits for its answers."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._open: set[asyncio.Future[object]] = set()
        self._free = asyncio.Event()
        self._free.set()
        engine.on_failure = self._failed
        engine.on_pressure = self._pressed

    async def ask(self, make: Make, kind: type[A]) -> A:
        """Return the answer to an event; a refusal is raised."""
        return _checked(await self.hear(make), kind)

    async def hear(self, make: Make) -> object:
        """Return the answer to an event, whatever it is."""
        _, future = await self._submit(make)
        return await future

    async def do(self, make: Make) -> None:
        """Send a request whose answer has no content."""
        await self.ask(make, Answer)

    async def read(self, make: Make, empty: Container[HResult] = NO_MESSAGE) -> Received:
        """Request messages, perhaps for a long time; the statuses in `empty` mean that there is none."""
        caller, future = await self._submit(make)
        try:
            await asyncio.wait((future,))
        except asyncio.CancelledError:
            self._take_back(caller)
            if not _has_messages(await to_the_end(future)):
                raise
            cancel_later()
        answer = future.result()
        if isinstance(answer, Answer) and answer.status in empty:
            return Received(HResult.OK)
        return _checked(answer, Received)

    async def _submit(self, make: Make) -> tuple[int, asyncio.Future[object]]:
        while not self._free.is_set():
            await self._free.wait()
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        caller = self._engine.caller(lambda answer: None if future.done() else future.set_result(answer))
        try:
            self._engine.submit(make(caller))
        except EngineStopped as why:
            self._engine.forget(caller)
            raise self._stopped() from why
        self._open.add(future)
        future.add_done_callback(self._open.discard)
        return caller, future

    def _take_back(self, caller: int) -> None:
        with suppress(EngineStopped):  # all waiting requests end with it
            self._engine.submit(CallerGone(caller))

    def _stopped(self) -> StoreUnusable:
        failure = self._engine.failure
        if failure is None:
            return StoreUnusable("CLOSED", "the manager is closed")
        return StoreUnusable("STORE_FAILED", f"the manager has stopped: {failure}")

    def _failed(self, failure: BaseException) -> None:
        """Fail all waiting requests, because nothing unconfirmed will be confirmed."""
        del failure
        for future in list(self._open):
            if not future.done():
                future.set_exception(self._stopped())

    def _pressed(self, paused: bool) -> None:
        if paused:
            self._free.clear()
        else:
            self._free.set()


def _has_messages(answer: object) -> bool:
    return isinstance(answer, Received) and bool(answer.messages)


def _checked(answer: object, kind: type[A]) -> A:
    assert isinstance(answer, Answer), f"no answer: {answer!r}"
    if answer.status is not HResult.OK:
        raise error_of(answer.status.name, answer.why or answer.status.sentence)
    assert isinstance(answer, kind), f"not the answer to this question: {answer!r}"
    return answer
