"""Tests one request: what its answer means."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from reliquary import BadRequest, OutcomeUnknown, ReliquaryError, ServerUnreachable
from reliquary.client.wire import PACKED, Answers, Wire
from reliquary.net.clock import RealClock
from reliquary.net.http import Listener, Mount, Request, Responder
from reliquary.net.http.responder import Handler
from tests.net.stream_server import stream_server

anything = msgspec.json.Decoder(dict[str, int])


def play(status: int, body: bytes, scene: Callable[[Wire], Awaitable[None]]) -> None:
    """Run a scene with a server that always gives one answer; the path `/gone` gets none."""

    def handler(request: Request, responder: Responder) -> None:
        assert request.path.startswith("/api/v1/")
        responder.respond(status, body)

    play_with(handler, scene)


def play_with(handler: Handler, scene: Callable[[Wire], Awaitable[None]]) -> None:
    """Let a server answer with a handler."""

    async def whole() -> None:
        listener = Listener([Mount(prefix="", handler=handler)], clock=RealClock())
        host, port = await listener.listen("127.0.0.1", 0)
        wire = Wire(f"http://{host}:{port}")
        await asyncio.wait_for(scene(wire), 10)
        await wire.close()
        listener.stop_accepting()

    asyncio.run(whole())


class Versions:
    """A server that reads MessagePack, or an older one that reads JSON alone."""

    def __init__(self, *, older: bool) -> None:
        self.older = older
        self.asked: list[tuple[bytes | None, object]] = []

    def __call__(self, request: Request, responder: Responder) -> None:
        kind = request.header(b"content-type")
        if kind == PACKED and self.older:
            self.asked.append((kind, None))
            responder.respond(400, b'{"error": "JSON is malformed", "code": "INVALID_PARAMETER"}')
            return
        given = (msgspec.msgpack if kind == PACKED else msgspec.json).decode(request.body)
        self.asked.append((kind, given))
        if self.older or request.header(b"accept") != PACKED:
            responder.respond(200, b'{"a": "1"}')
        else:
            responder.respond(200, msgspec.msgpack.encode({"a": "1"}), PACKED)


async def exchange(wire: Wire, times: int) -> None:
    for _ in range(times):
        assert await wire.exchange("POST", "/x", Answers(dict[str, int]), {"b": 2}, 0, harmless=False) == {
            "a": 1
        }


def test_a_server_that_answers_in_messagepack_is_asked_in_it() -> None:
    server = Versions(older=False)
    play_with(server, lambda wire: exchange(wire, 3))
    assert server.asked == [(b"application/json", {"b": 2}), (PACKED, {"b": 2}), (PACKED, {"b": 2})]


def test_an_older_server_is_asked_as_json() -> None:
    server = Versions(older=True)
    play_with(server, lambda wire: exchange(wire, 2))
    assert server.asked == [(b"application/json", {"b": 2})] * 2


def test_an_older_server_at_that_address_is_asked_again_as_json() -> None:
    server = Versions(older=False)

    async def scene(wire: Wire) -> None:
        await exchange(wire, 1)
        server.older = True
        await exchange(wire, 2)
        assert not wire.packed

    play_with(server, scene)
    json = (b"application/json", {"b": 2})
    assert server.asked == [json, (PACKED, None), json, json]


def test_a_bad_request_is_refused_in_the_end() -> None:
    async def scene(wire: Wire) -> None:
        wire.packed = True
        with pytest.raises(BadRequest, match="no field of this name"):
            await wire.do("POST", "/x", {"b": 2})

    play(400, b'{"error": "no field of this name", "code": "INVALID_PARAMETER"}', scene)


def test_a_record_is_decoded_from_its_answer() -> None:
    async def scene(wire: Wire) -> None:
        assert await wire.read("GET", "/x", anything) == {"a": 1}
        assert await wire.change("POST", "/x", anything, {"b": 2}, wait=None) == {"a": 1}

    play(200, b'{"a": 1}', scene)


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b'{"a": "b"}'])
def test_an_answer_that_is_not_ours_is_reported(body: bytes) -> None:
    async def scene(wire: Wire) -> None:
        with pytest.raises(ReliquaryError, match="cannot be read") as raised:
            await wire.read("GET", "/x", anything)
        assert raised.value.code == "BAD_ANSWER"

    play(200, body, scene)


@pytest.mark.parametrize("body", [b"", b"Bad Gateway", b"{}"])
def test_a_refusal_without_our_words_is_reported_by_its_status(body: bytes) -> None:
    async def scene(wire: Wire) -> None:
        with pytest.raises(ReliquaryError, match="status 502") as raised:
            await wire.do("POST", "/x")
        assert raised.value.code == "HTTP_502"
        assert "the status 502 and no reason" in raised.value.sentence

    play(502, body, scene)


def test_a_change_without_an_answer_has_an_unknown_outcome() -> None:
    async def hang_up(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")

    async def scene() -> None:
        async with stream_server(hang_up) as port:
            wire = Wire(f"http://127.0.0.1:{port}")
            with pytest.raises(OutcomeUnknown):
                await wire.do("POST", "/x")
            with pytest.raises(ServerUnreachable):
                await wire.read("GET", "/x", anything)
            await wire.close()

    asyncio.run(scene())


def test_a_closed_wire_says_so() -> None:
    async def scene(wire: Wire) -> None:
        await wire.close()
        with pytest.raises(BadRequest, match="closed"):
            await wire.do("POST", "/x")

    play(200, b"", scene)


def test_an_address_must_be_one() -> None:
    with pytest.raises(BadRequest, match="must be like http"):
        Wire("nonsense")
