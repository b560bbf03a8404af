"""Tests requests of several turns: each end they may have, and none that looks whole and is not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from types import SimpleNamespace
from typing import cast

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.turn import Warn
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.api.errors import Refused
from reliquary.net.feed.asking import Conversations, CutOff, NotOk
from reliquary.net.http import Responder
from reliquary.queueing.model.events import Answer


class Asked:
    """A responder that writes down the calls to it."""

    def __init__(self, *, begun: bool = False) -> None:
        self.out: bytes | None = None
        self.streamed = object() if begun else None
        self.connected = True
        self.said: list[object] = []
        self.gone: Callable[[], None] = lambda: None

    def respond(self, status: int, body: bytes) -> None:
        self.out = body
        self.said.append((status, body.decode()))

    def abort(self) -> None:
        self.said.append("cut")

    def on_gone(self, callback: Callable[[], None]) -> None:
        self.gone = callback


def played(
    work: Callable[[], Awaitable[None]], responder: Asked, warned: list[Warn] | None = None
) -> list[object]:
    """Run the work for a responder and return what the client gets."""

    async def whole() -> None:
        engine = SimpleNamespace(warn=(warned if warned is not None else []).append)
        conversations = Conversations(cast("Engine", engine))
        conversations.start(cast("Responder", responder), "a feed", work)
        await asyncio.gather(*conversations._tasks)
        await conversations.stop()

    asyncio.run(whole())
    return responder.said


async def failing(why: Exception) -> None:
    raise why


@pytest.mark.parametrize(
    ("why", "status", "sentence"),
    [
        (NotOk(Answer(HResult.DATA_LOST, "begin later")), 410, "begin later"),
        (Refused(HResult.QUEUE_NOT_FOUND, "it is not here"), 404, "it is not here"),
        (UsageError("not so"), 400, "not so"),
        (EngineStopped("over"), 503, "the server is stopping"),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, Exception) else "",
)
def test_what_fails_before_the_answer_begins_is_a_refusal(why: Exception, status: int, sentence: str) -> None:
    [said] = played(partial(failing, why), Asked())
    assert f"({status}, " in str(said)
    assert sentence in str(said)


@pytest.mark.parametrize("why", [UsageError("x"), EngineStopped("x"), NotOk(Answer(HResult.DATA_LOST))])
def test_what_fails_later_cuts_the_connection(why: Exception) -> None:
    assert played(partial(failing, why), Asked(begun=True)) == ["cut"]


@pytest.mark.parametrize("begun", [True, False])
def test_what_is_unexpected_is_reported_and_cut(begun: bool) -> None:
    warned: list[Warn] = []
    assert played(partial(failing, CutOff("the disk")), Asked(begun=begun), warned) == ["cut"]
    [warning] = warned
    assert (warning.about, warning.what) == ("a feed", "an answer was cut off after an error")
    assert "the disk" in warning.why


def test_a_client_that_hangs_up_ends_its_request() -> None:
    ended: list[bool] = []

    async def whole() -> None:
        conversations = Conversations(cast("Engine", SimpleNamespace()))
        responder = Asked(begun=True)

        async def waiting() -> None:
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                ended.append(True)

        conversations.start(cast("Responder", responder), "a feed", waiting)
        await asyncio.wait(conversations._tasks, timeout=0)
        responder.connected = False
        responder.gone()
        await asyncio.gather(*conversations._tasks)
        assert conversations.under_way == 0
        assert responder.said == []
        await conversations.stop()

    asyncio.run(whole())
    assert ended == [True]


def test_a_stop_waits_for_the_threads() -> None:
    async def whole() -> None:
        conversations = Conversations(cast("Engine", SimpleNamespace()))
        responder = Asked()
        done: list[bool] = []

        async def working() -> None:
            await conversations.beside(lambda: done.append(True))
            await asyncio.get_running_loop().create_future()

        conversations.start(cast("Responder", responder), "a feed", working)
        await asyncio.wait(conversations._tasks, timeout=0.01)
        await conversations.stop()
        assert done == [True]
        assert [each[0] for each in responder.said] == [503]  # type: ignore[index]

    asyncio.run(whole())
