"""Tests the bounds of the control plane: heads, slow heads and bodies, connections."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reliquary.base.time import seconds
from reliquary.console.listener import LIMITS, ControlListener
from reliquary.net.clock import RealClock
from reliquary.net.http import Limits
from tests.net.http.harness import play, tick
from tests.net.stream_client import opened

HEAD = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"


async def echo(request: Request) -> Response:
    return Response(await request.body())


def listener(limits: Limits = LIMITS) -> ControlListener:
    return ControlListener(Starlette(routes=[Route("/", echo, methods=["POST"])]), limits=limits)


async def reported(reader: asyncio.StreamReader) -> tuple[int, str]:
    """Return the status of a refusal and its sentence; the connection ends with it."""
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]


def test_a_head_that_is_too_long_or_too_slow_and_a_body_that_is_too_slow_are_refused() -> None:
    async def scene() -> None:
        here = listener(replace(LIMITS, head_time=seconds(0.001), body_time=seconds(0.002)))
        _, port = await here.listen("127.0.0.1", 0)
        for part, status, sentence in (
            (HEAD + b"X: " + b"x" * 200_000, 431, "the head may have 65536 bytes"),
            (HEAD, 408, "the head of a request may take 0.001 s"),
            (HEAD + b"\r\nabc", 408, "the body (3 bytes came) of a request may take"),
        ):
            async with opened(port) as (reader, writer):
                writer.write(part)
                answer = asyncio.ensure_future(reported(reader))
                while not answer.done():
                    here.sweep(RealClock().monotonic())
                    await tick()
                assert answer.result()[0] == status
                assert answer.result()[1].startswith(sentence)
        await here.stop()

    play(scene)


def test_one_connection_more_is_refused() -> None:
    async def scene() -> None:
        here = listener(Limits(connections=1))
        _, port = await here.listen("127.0.0.1", 0)
        async with opened(port) as (first, writer):
            writer.write(HEAD + b"\r\nabcde")
            assert (await first.read(1000)).endswith(b"abcde")
            async with opened(port) as (reader, _):
                assert await reported(reader) == (503, "the server takes 1 connections, this is one more")
        await here.stop()

    play(scene)
