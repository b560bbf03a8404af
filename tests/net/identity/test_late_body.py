"""Tests a body that comes while a password is checked: kept, then handed on or thrown away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from reliquary.net.identity.late_body import LateBody, when_checked
from reliquary.net.identity.passwords import Checking, WrongPassword
from reliquary.queueing.model.security.principals import Principal
from tests.queueing.security.users import ALICE


class PausedResponder:
    """The part of a responder that a late body uses."""

    def __init__(self) -> None:
        self.gone = False
        self.paused = False

    def pause_body(self) -> None:
        self.paused = True

    def resume_body(self) -> None:
        self.paused = False


class Sink:
    """A sink that keeps the calls to it."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def feed(self, data: bytes) -> None:
        self.heard.append(data)

    def end(self) -> None:
        self.heard.append("end")

    def lost(self) -> None:
        self.heard.append("lost")


class Harness:
    """A late body, its check, its handler."""

    def __init__(self) -> None:
        self.checked: asyncio.Future[Principal] = asyncio.get_running_loop().create_future()
        self.responder = cast(Any, PausedResponder())
        self.sink = Sink()
        self.begun = 0
        self.refused: list[Exception] = []
        self.body = LateBody(self.responder, Checking(self.checked), self._begin, self._refuse)

    def _refuse(self, why: Exception) -> Sink:
        self.refused.append(why)
        return self.sink

    def _begin(self) -> Sink:
        self.begun += 1
        return self.sink

    async def called(self) -> None:
        """Wait until those who wait for the check were called."""
        again: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.checked.add_done_callback(lambda _: again.set_result(None))
        await again


def play(scene: Callable[[Harness], Awaitable[None]]) -> None:
    async def run() -> None:
        await scene(Harness())

    asyncio.run(run())


@pytest.mark.parametrize("early", [True, False])
def test_all_of_a_body_reaches_its_handler_in_order(early: bool) -> None:
    async def scene(harness: Harness) -> None:
        assert harness.responder.paused
        harness.body.feed(b"a")
        if early:
            harness.body.end()
        harness.checked.set_result(ALICE)
        await harness.called()
        assert not harness.responder.paused
        if not early:
            harness.body.feed(b"b")
            harness.body.end()
        assert harness.sink.heard == ([b"a", "end"] if early else [b"a", b"b", "end"])

    play(scene)


def test_a_wrong_password_refuses_and_begins_nothing() -> None:
    async def scene(harness: Harness) -> None:
        harness.body.feed(b"a")
        wrong = WrongPassword("no")
        harness.checked.set_exception(wrong)
        await harness.called()
        assert (harness.refused, harness.begun, harness.sink.heard) == ([wrong], 0, [b"a"])

    play(scene)


def test_a_body_that_was_lost_before_begins_nothing() -> None:
    async def scene(harness: Harness) -> None:
        harness.body.lost()
        harness.checked.set_result(ALICE)
        await harness.called()
        assert (harness.refused, harness.begun) == ([], 0)

    play(scene)


def test_a_body_that_is_lost_later_is_lost_to_its_handler() -> None:
    async def scene(harness: Harness) -> None:
        harness.checked.set_result(ALICE)
        await harness.called()
        harness.body.lost()
        assert harness.sink.heard == ["lost"]

    play(scene)


@pytest.mark.parametrize(
    ("is_right", "is_gone"), [(True, False), (False, False), (True, True), (False, True)]
)
def test_a_whole_request_goes_on_or_is_refused_unless_its_client_is_gone(
    is_right: bool, is_gone: bool
) -> None:
    async def scene(harness: Harness) -> None:
        heard: list[object] = []
        harness.responder.gone = is_gone
        when_checked(Checking(harness.checked), harness.responder, lambda: heard.append("on"), heard.append)
        wrong = WrongPassword("no")
        if is_right:
            harness.checked.set_result(ALICE)
        else:
            harness.checked.set_exception(wrong)
        await harness.called()
        assert heard == ([] if is_gone else ["on"] if is_right else [wrong])

    play(scene)
