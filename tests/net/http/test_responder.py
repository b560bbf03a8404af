"""The way back."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from tests.net.http.stage import Desk, bodies, connect, play, post, tick


def test_a_request_is_answered_once() -> None:
    async def scene() -> None:
        desk = Desk()
        connection, transport = connect(desk)
        connection.data_received(post())
        desk.answer(0)
        with pytest.raises(UsageError, match="has been answered"):
            desk.answer(0)
        await tick()
        assert bodies(transport.sent) == [(200, b"answer 0")]

    play(scene)


def test_who_waits_is_told_once_that_the_client_has_gone() -> None:
    told: list[str] = []
    desk = Desk()
    connection, _ = connect(desk)
    connection.data_received(post() + post())
    desk.asked[0][1].on_gone(lambda: told.append("first"))
    desk.asked[1][1].on_gone(lambda: told.append("second"))
    assert not desk.asked[0][1].gone
    connection.eof_received()
    connection.connection_lost(None)
    assert told == ["first", "second"]
    assert desk.asked[0][1].gone


def test_who_asks_too_late_is_told_at_once() -> None:
    told: list[str] = []
    desk = Desk()
    connection, _ = connect(desk)
    connection.data_received(post())
    connection.connection_lost(None)
    desk.asked[0][1].on_gone(lambda: told.append("gone"))
    assert told == ["gone"]


def test_who_has_answered_is_not_told() -> None:
    async def scene() -> None:
        told: list[str] = []
        desk = Desk()
        connection, _ = connect(desk)
        connection.data_received(post())
        desk.asked[0][1].on_gone(lambda: told.append("gone"))
        desk.answer(0)
        connection.connection_lost(None)
        await tick()
        assert told == []

    play(scene)


def test_an_answer_to_nobody_is_dropped() -> None:
    desk = Desk()
    connection, transport = connect(desk)
    connection.data_received(post())
    connection.connection_lost(None)
    desk.answer(0)
    assert transport.writes == []
