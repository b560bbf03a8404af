"""Tests error cases from end to end: bytes on a socket, a status, nothing stored, and a word in the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from reliquary.base.time import seconds
from reliquary.engine.warnings import Warnings
from reliquary.protocols.srmp.effects import Post as PostEffect
from reliquary.wire.security import SecurityDescriptor, encode_descriptor
from tests.net.http.harness import until, wire
from tests.protocols.srmp.peer import ADMIN, ORDERS, stream_message, user_message
from tests.scenes.srmp.test_errors import REFUSED
from tests.scenes.srmp.web import LARGEST, Server, server

FIRST_OF_EACH = {case: (post, name) for case, post, name in reversed(REFUSED)}
LARGE = b"x" * 2000
Log = pytest.LogCaptureFixture


def play(scene: Callable[[Server], Awaitable[None]], quota: int | None = None) -> None:
    async def with_server() -> None:
        async with server(quota) as here:
            await asyncio.wait_for(scene(here), 20)

    asyncio.run(with_server())


def refusals(log: Log) -> list[str]:
    """Return the refusals that the log has since the last call."""
    found = [text for record in log.records if "refused with" in (text := record.getMessage())]
    log.clear()
    return found


@pytest.fixture(autouse=True)
def _reported(caplog: Log) -> None:
    caplog.set_level(logging.WARNING, "reliquary")


@pytest.mark.srmp("F-02", "F-03", "F-04", "F-05", "F-07", "F-08", "F-09", "F-11", "F-12", "F-13", "F-15")
@pytest.mark.srmp("F-17", "F-20", "F-22", "F-24", "F-28", "F-29", "F-32", "F-34", "F-35", "F-36", "F-37")
@pytest.mark.srmp("F-38", "F-40", "F-41", "F-42", "F-45", "F-46", "F-47", "F-48", "F-49", "F-50", "F-54")
@pytest.mark.srmp("F-55", "F-56", "F-69", "T-58", "T-59")
@pytest.mark.spec("SR-182", "SR-183", "SR-192")
def test_what_is_refused_gets_400_is_not_stored_and_the_log_names_the_element(caplog: Log) -> None:
    async def scene(here: Server) -> None:
        for case, (post, name) in FIRST_OF_EACH.items():
            here.engine.warnings = Warnings()  # else the warning is logged only once a minute
            assert await here.post(*post) == 400, case
            (line,) = refusals(caplog)
            assert line.startswith(f"SRMP from 127.0.0.1: refused with 400 1 times: {name}"), case
        assert here.bodies("orders") == here.bodies("torders") == []
        assert here.receiving.answers == {400: len(FIRST_OF_EACH)}
        assert await here.post(*user_message()) == 200
        assert here.bodies() == [b"hello"]

    play(scene)


@pytest.mark.srmp("F-01")
def test_another_method_touches_nothing(caplog: Log) -> None:
    async def scene(here: Server) -> None:
        async with wire(here.port) as client:
            client.send(b"PUT /msmq/private$/orders HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
            assert (await client.read())[0] == 405
        assert here.bodies() == []
        assert "PUT is not POST" in refusals(caplog)[0]

    play(scene)


@pytest.mark.srmp("F-04")
def test_a_post_that_is_cut_off_is_not_stored() -> None:
    async def scene(here: Server) -> None:
        content_type, body = user_message()
        async with wire(here.port) as client:
            head = f"POST /msmq/q HTTP/1.1\r\nHost: h\r\nContent-Type: {content_type}\r\n"
            client.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:-1])
            client.shut()
            assert await client.rest() == b""
        assert here.bodies() == []

    play(scene)


@pytest.mark.srmp("F-06")
def test_a_request_that_is_too_large_is_refused_permanently(caplog: Log) -> None:
    async def scene(here: Server) -> None:
        assert await here.post(*user_message(body=b"x" * LARGEST)) == 400
        assert here.bodies() == []
        assert str(LARGEST) in refusals(caplog)[0]

    play(scene)


@pytest.mark.srmp("F-18", "F-19")
def test_only_the_message_says_where_it_goes() -> None:
    """Neither the path of the request nor the scheme that was used do."""

    async def scene(here: Server) -> None:
        elsewhere = "/MSMQ/private$/torders?lane=2"
        assert await here.post(*user_message(body=b"path"), target=elsewhere) == 200
        secure = ORDERS.replace("http:", "https:")
        assert await here.post(*user_message(secure, b"scheme", number=2)) == 200
        assert (here.bodies(), here.bodies("torders")) == ([b"path", b"scheme"], [])

    play(scene)


@pytest.mark.srmp("T-19", "T-20", "F-62", "F-63")
def test_what_comes_twice_is_taken_once_and_answered_twice() -> None:
    async def scene(here: Server) -> None:
        for _ in range(2):
            assert await here.post(*user_message(body=b"known")) == 200
            assert await here.post(*user_message(body=b"new", msmq=False)) == 200
            assert await here.post(*stream_message(1)) == 200
            assert await here.post(*stream_message(3)) == 200
        assert here.bodies() == [b"known", b"new", b"new"]
        assert here.bodies("torders") == [b"1"]

    play(scene)


@pytest.mark.srmp("T-66", "F-64")
def test_a_queue_that_is_closed_to_everyone(caplog: Log) -> None:
    async def scene(here: Server) -> None:
        await here.create("vault", security=encode_descriptor(SecurityDescriptor(dacl=())))
        assert await here.post(*user_message(ORDERS.replace("orders", "vault"))) == 400
        assert here.bodies("vault") == []
        assert ": to: this queue takes nothing from everyone" in refusals(caplog)[0]

    play(scene)


@pytest.mark.srmp("T-67", "F-60")
def test_a_queue_that_wants_signatures_refuses_a_message_without_one(caplog: Log) -> None:
    async def scene(here: Server) -> None:
        await here.create("sealed", authentication=True)
        assert await here.post(*user_message(ORDERS.replace("orders", "sealed"))) == 400
        assert here.bodies("sealed") == []
        assert ": Signature: " in refusals(caplog)[0]

    play(scene)


@pytest.mark.srmp("T-65", "F-66")
def test_a_full_queue_is_asked_again_later(caplog: Log) -> None:
    async def scene(here: Server) -> None:
        await here.create("small", quota=1)
        small = ORDERS.replace("orders", "small")
        assert await here.post(*user_message(small, LARGE)) == 500
        assert here.bodies("small") == []
        assert ": to: the queue is full" in refusals(caplog)[0]

    play(scene)


@pytest.mark.srmp("T-65", "F-67")
def test_a_full_manager_is_asked_again_later(caplog: Log) -> None:
    async def scene(here: Server) -> None:
        assert await here.post(*user_message(body=LARGE)) == 200
        assert await here.post(*user_message(body=LARGE, number=2)) == 500
        assert here.bodies() == [LARGE]
        assert "this manager takes no messages at present" in refusals(caplog)[0]

    play(scene, quota=3)


@pytest.mark.srmp("T-27", "F-68")
@pytest.mark.spec("SR-055", "SR-056")
@pytest.mark.parametrize("fault", ["apply", "sync"])
def test_a_disk_that_fails_confirms_nothing_and_sends_no_receipt(fault: str) -> None:
    async def scene(here: Server) -> None:
        if fault == "apply":
            here.disk.fail_apply_after(0, "full")
        else:
            here.disk.fail_next_sync("io")
        async with wire(here.port) as client:
            content_type, body = user_message(delivery_to=ADMIN)
            head = f"POST /msmq/q HTTP/1.1\r\nHost: h\r\nContent-Type: {content_type}\r\n"
            client.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            await until(lambda: bool(here.failures))
            await here.listener.drain(seconds(0.001))  # as the server does that ends for it
            assert b"200 OK" not in await client.rest()
        assert [each for each in here.out if isinstance(each, PostEffect)] == []
        assert 200 not in here.receiving.answers

    play(scene)
