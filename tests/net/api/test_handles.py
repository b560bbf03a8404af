"""Tests open queues and cursors, over a real socket."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.events import DeleteQueue
from tests.net.api.harness import Harness, bodies, on, play
from tests.net.http.harness import until

OPEN = on("orders", "open")
PEEK = on("orders", "peek")


async def opened(harness: Harness, **how: object) -> str:
    status, answer = await harness.call("POST", OPEN, how)
    assert status == 201, answer
    handle = answer["handle"]
    assert isinstance(handle, str)
    return handle


async def cursor_on(harness: Harness, handle: str) -> str:
    status, answer = await harness.call("POST", f"/handles/{handle}/cursors")
    assert status == 201, answer
    cursor = answer["cursor"]
    assert isinstance(cursor, str)
    return cursor


def test_a_handle_is_used_and_closed() -> None:
    async def scene(harness: Harness) -> None:
        handle = await opened(harness, access="receive")
        await harness.send("orders", "a", "b", "c")
        assert bodies(await harness.ok("POST", on("orders", "receive"), {"handle": handle})) == ["a"]
        assert bodies(await harness.ok("GET", f"{on('orders', 'messages')}?handle={handle}")) == ["b", "c"]
        assert bodies(
            await harness.ok("POST", on("orders", "lookup"), {"handle": handle, "seek": "last"})
        ) == ["c"]
        assert await harness.call("DELETE", f"/handles/{handle}") == (204, None)
        for refused in (
            await harness.refused("DELETE", f"/handles/{handle}"),
            await harness.refused("POST", on("orders", "receive"), {"handle": handle}),
            await harness.refused("POST", f"/handles/{handle}/cursors"),
        ):
            assert refused[:2] == (404, "INVALID_HANDLE")

    play(scene)


def test_a_reader_that_was_promised_to_be_alone_is() -> None:
    async def scene(harness: Harness) -> None:
        handle = await opened(harness, access="receive", share="deny-receive")
        await harness.send("orders", "a")
        refused = await harness.refused("POST", on("orders", "receive"))
        assert refused[:2] == (409, "SHARING_VIOLATION")
        assert bodies(await harness.ok("POST", on("orders", "receive"), {"handle": handle})) == ["a"]

    play(scene)


def test_what_a_handle_was_not_opened_for_is_denied() -> None:
    async def scene(harness: Harness) -> None:
        looking = await opened(harness, access="peek")
        sending = await opened(harness, access="send")
        refused = await harness.refused("POST", on("orders", "receive"), {"handle": looking})
        assert refused[:2] == (403, "ACCESS_DENIED")
        path = f"{on('orders', 'messages')}?handle={sending}"
        await harness.ok("POST", path, {"text": "a"})
        assert (await harness.refused("POST", f"/handles/{sending}/cursors"))[:2] == (403, "ACCESS_DENIED")
        assert await harness.texts("orders") == ["a"]

    play(scene)


def test_a_handle_moves_messages() -> None:
    async def scene(harness: Harness) -> None:
        await harness.create("orders;retry")
        handle = await opened(harness, access="move")
        [place] = await harness.send("orders", "a")
        await harness.ok(
            "POST", on("orders", "move"), {"handle": handle, "lookup_id": place, "target": "orders;retry"}
        )
        assert await harness.texts("orders;retry") == ["a"]

    play(scene)


def test_a_handle_is_for_its_queue_only() -> None:
    async def scene(harness: Harness) -> None:
        await harness.create("other")
        handle = await opened(harness)
        status, code, why = await harness.refused("POST", on("other", "receive"), {"handle": handle})
        assert (status, code) == (400, "INVALID_PARAMETER")
        assert "'orders', not on 'other'" in why
        await harness.ok("POST", on("private$\\ORDERS", "receive"), {"handle": handle})

    play(scene)


def test_a_handle_that_is_not_used_closes_itself() -> None:
    async def scene(harness: Harness) -> None:
        handle = await opened(harness, lease=0.01)
        await until(lambda: not harness.state.open.handles)
        assert (await harness.refused("DELETE", f"/handles/{handle}"))[:2] == (404, "INVALID_HANDLE")

    play(scene)


def test_a_cursor_walks_a_queue_and_takes_from_its_middle() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b", "c")
        handle = await opened(harness)
        cursor = await cursor_on(harness, handle)
        where = {"handle": handle, "cursor": cursor}
        assert bodies(await harness.ok("POST", PEEK, where)) == ["a"]
        assert bodies(await harness.ok("POST", PEEK, where | {"next": True})) == ["b"]
        assert bodies(await harness.ok("POST", on("orders", "receive"), where)) == ["b"]
        assert bodies(await harness.ok("POST", PEEK, where)) == ["c"]
        assert bodies(await harness.ok("POST", PEEK, where | {"next": True})) == []
        assert await harness.texts("orders") == ["a", "c"]
        assert await harness.call("DELETE", f"/cursors/{cursor}") == (204, None)
        assert (await harness.refused("DELETE", f"/cursors/{cursor}"))[:2] == (404, "INVALID_HANDLE")

    play(scene)


def test_a_cursor_says_when_its_message_is_gone_and_when_there_is_none_ahead() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        handle = await opened(harness)
        where = {"handle": handle, "cursor": await cursor_on(harness, handle)}
        assert (await harness.refused("POST", PEEK, where | {"next": True}))[:2] == (
            409,
            "ILLEGAL_CURSOR_ACTION",
        )
        await harness.ok("POST", PEEK, where)
        await harness.ok("POST", on("orders", "receive"))
        assert (await harness.refused("POST", PEEK, where))[:2] == (409, "MESSAGE_ALREADY_RECEIVED")
        fresh = {"handle": handle, "cursor": await cursor_on(harness, handle)}
        assert (await harness.ok("POST", on("orders", "receive"), fresh))["messages"] == []

    play(scene)


def test_a_queue_that_is_deleted_under_a_handle_is_gone() -> None:
    async def scene(harness: Harness) -> None:
        handle = await opened(harness)
        await harness.engine.ask(lambda to: DeleteQueue(to, "orders"))
        refused = await harness.refused("POST", on("orders", "receive"), {"handle": handle})
        assert refused[:2] == (410, "QUEUE_NOT_AVAILABLE")

    play(scene)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"access": "all"}, "$.access", id="access"),
        pytest.param({"access": "receive-admin"}, "$.access", id="not for this plane"),
        pytest.param({"share": "deny-all"}, "$.share", id="share"),
        pytest.param({"lease": 0}, "lease is 0.001 to 604800 seconds, not 0", id="lease"),
        pytest.param({"lease": 1e9}, "lease is 0.001 to 604800 seconds, not 1000000000", id="long lease"),
    ],
)
def test_a_bad_open_is_refused(given: object, said: str) -> None:
    async def scene(harness: Harness) -> None:
        status, code, why = await harness.refused("POST", OPEN, given)
        assert (status, code) == (400, "INVALID_PARAMETER")
        assert said in why
        assert not harness.state.open.handles

    play(scene)


def test_a_cursor_of_another_handle_is_refused() -> None:
    async def scene(harness: Harness) -> None:
        handle, other = await opened(harness), await opened(harness)
        cursor = await cursor_on(harness, other)
        for where in ({"handle": handle, "cursor": cursor}, {"cursor": cursor}):
            status, _, why = await harness.refused("POST", PEEK, where)
            assert status == 400
            assert "not open on this handle" in why
        refused = await harness.refused("POST", PEEK, {"next": True})
        assert refused[:2] == (400, "INVALID_PARAMETER")

    play(scene)
