"""Tests of the limits that the connections of one listener share."""

from __future__ import annotations

from tests.net.http.harness import ManualHandler, connect_to, play, post, share, tick


def test_every_connection_has_its_number() -> None:
    handler = ManualHandler()
    shared = share(handler)
    for _ in range(2):
        connection, _ = connect_to(shared)
        connection.data_received(post())
        connection.data_received(post())
    assert [request.connection for request, _ in handler.asked] == [1, 1, 2, 2]


def test_answers_of_one_tick_leave_in_one_write_a_connection() -> None:
    async def scene() -> None:
        handler = ManualHandler()
        shared = share(handler)
        (one, first), (two, second) = connect_to(shared), connect_to(shared)
        one.data_received(post() + post() + post())
        two.data_received(post())
        for number in (1, 3, 0, 2):
            handler.answer(number)
        assert first.writes == second.writes == []
        await tick()
        assert (len(first.writes), len(second.writes)) == (1, 1)

    play(scene)


def test_the_last_to_leave_is_noticed() -> None:
    noticed: list[int] = []
    shared = share(ManualHandler())
    shared.on_empty = lambda: noticed.append(len(shared.connections))
    (one, _), (two, _) = connect_to(shared), connect_to(shared)
    one.connection_lost(None)
    assert noticed == []
    two.connection_lost(None)
    assert noticed == [0]
