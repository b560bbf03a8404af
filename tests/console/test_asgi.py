"""Tests an ASGI app behind our listener: bodies, responses in parts, clients that go, apps that fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from reliquary.base.time import seconds
from reliquary.console.asgi import BODY_PIECES, AsgiApp
from reliquary.net.http import ClientLimits, HttpClient, Listener, RequestFailed
from tests.net.http.harness import play, tick, until
from tests.net.stream_client import opened

PART = 256 * 1024


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[tuple[str, int]]:
    made = AsgiApp(app, scheme="http")
    listener = Listener([made.mount()])
    host, port = await listener.listen()
    try:
        yield f"http://{host}:{port}", port
    finally:
        await listener.drain(seconds(1))
        await made.stop()


async def answer(send: Send, body: bytes = b"", status: int = 200) -> None:
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(body)), (b"x-a", b"1")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def read(receive: Receive) -> bytes:
    body: bytes = b""
    while True:
        part = await receive()
        assert part["type"] == "http.request"
        body += part["body"]
        if not part["more_body"]:
            return body


def test_the_app_sees_the_request_and_answers_it() -> None:
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)
        await answer(send, await read(receive))

    async def scene() -> None:
        async with served(app) as (url, _), HttpClient(url) as client:
            for body in (b"", b"abc", b"x" * 3_000_000):
                response = await client.request("POST", "/a%20b?c=d", body, [(b"X-Name", b"v")])
                assert (response.status, response.body) == (200, body)
                assert response.header(b"x-a") == b"1"
            assert (await client.request("HEAD", "/")).body == b""
        scope = seen[0]
        assert (scope["method"], scope["path"], scope["query_string"]) == ("POST", "/a b", b"c=d")
        assert (b"x-name", b"v") in scope["headers"]
        assert (scope["client"][0], scope["scheme"]) == ("127.0.0.1", "http")

    play(scene)


def test_a_client_that_shut_its_own_side_gets_its_answer() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await tick(5)
        if scope["path"] == "/whole":
            await answer(send, b"here it is")
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for part in (b"here ", b"it ", b"is"):
            await tick(5)
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body"})

    async def scene() -> None:
        async with served(app) as (_, port):
            for path in (b"/whole", b"/parts"):
                async with opened(port) as (reader, writer):
                    writer.write(b"GET %b HTTP/1.0\r\nHost: h\r\n\r\n" % path)
                    writer.write_eof()
                    assert (await reader.read()).endswith(b"here it is")

    play(scene)


def test_a_body_is_read_as_fast_as_the_app_takes_it() -> None:
    allowed: list[asyncio.Event] = []
    count = [0]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await allowed[-1].wait()
        await answer(send, b"%d" % len(await read(receive)))

    async def scene() -> None:
        allowed.append(asyncio.Event())
        count[0] = 0
        size = 64 * PART
        async with served(app) as (_, port), opened(port) as (reader, writer):
            writer.write(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % size)
            sending = asyncio.ensure_future(_send(writer, size, count))
            await tick(1000)
            assert count[0] < size - BODY_PIECES
            allowed[-1].set()
            await sending
            assert (await reader.read(100_000)).endswith(b"%d" % size)

    play(scene)


async def _send(writer: asyncio.StreamWriter, size: int, count: list[int]) -> None:
    for _ in range(size // PART):
        writer.write(b"x" * PART)
        await writer.drain()
        count[0] += PART


def test_a_response_in_parts_waits_for_a_client_that_does_not_read() -> None:
    made = [0]
    ended: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            for _ in range(400):
                made[0] += PART
                await send({"type": "http.response.body", "body": b"x" * PART, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except OSError as why:
            ended.append(str(why))

    async def scene() -> None:
        made[0] = 0
        ended.clear()
        async with served(app) as (url, port):
            async with opened(port) as (_, writer):
                writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                await until(lambda: made[0])
                await tick(1000)
                assert made[0] < 100 * PART
            await until(lambda: ended)
            assert ended == ["the client has disconnected"]
            async with HttpClient(url, limits=ClientLimits(body_bytes=400 * PART)) as client:
                assert len((await client.request("GET", "/")).body) == 400 * PART

    play(scene)


def test_an_app_that_fails_is_reported_and_its_client_is_cut_off() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("a bug")

    reported: list[object] = []

    async def scene() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: reported.append(context["exception"])
        )
        async with served(app) as (url, _), HttpClient(url) as client:
            with pytest.raises(RequestFailed):
                await client.request("GET", "/")

    asyncio.run(scene())
    assert [str(each) for each in reported] == ["a bug"]


def test_what_still_works_when_the_listener_stops_is_ended() -> None:
    ended: list[bool] = []
    began: list[bool] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        began.append(True)
        try:
            assert (await receive())["type"] == "http.request"
            assert (await receive())["type"] == "http.disconnect"
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def scene() -> None:
        async with served(app) as (_, port), opened(port) as (_, writer):
            writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            await until(lambda: began)
        assert ended.pop()
        began.clear()

    play(scene)
