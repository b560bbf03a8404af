"""Tests HTTPR on real sockets, where the scenario is about HTTP: proxies, bad bodies, connections that
break.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reliquary.protocols.httpr.codec.values import Command
from reliquary.protocols.httpr.machine import Httpr
from reliquary.server.httpr import HttprEndpoint
from reliquary.server.httpr_options import HttprOptions
from tests.net.http.harness import Wire, post, until, wire
from tests.net.stream_server import stream_server
from tests.scenes.httpr.script import to_bytes, to_lines
from tests.scenes.httpr.test_bad_input import BAD, LARGE, LAST
from tests.server.endpoints import endpoint_of
from tests.server.test_srmp_between import Site, play, site, texts

SERVICE = "/httpr/service"
WHO = ("requester:httpr://myhost/service", "channel:primary")
PUSH = to_bytes("request:PUSH HTTPR/1.0", *WHO, "transactionid:0000000000000001", "<hello>", LAST)
OPTIONS = HttprOptions(origin="httpr://yourhost")
ONE_OF_EACH = {number: (name, data) for name, data, number, _ in reversed(BAD)}


def on_a_server(folder: Path, scene: Callable[[Site], Awaitable[None]]) -> None:
    """Play a scene with a server that has the queue "service"."""

    async def with_server() -> None:
        async with site(folder, tables=(OPTIONS,)) as here:
            await here.create("service")
            await scene(here)

    play(with_server)


def port_of(here: Site) -> int:
    return int(here.url.rpartition(":")[2])


def channels(here: Site) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return what the server knows of its channels: last received, last sent, in doubt."""
    known = here.server.opened.machine(Httpr).state.channels.values()
    return [(row.last_received_id, row.last_source_id, row.in_doubt) for row in known]


async def ask(client: Wire, data: bytes) -> list[str]:
    client.send(post(SERVICE, data))
    status, body = await client.read()
    assert status == 200
    return to_lines(body)


# -- a caching proxy


class CachingProxy:
    """Answers a request that it knows from memory, unless the response forbids caching."""

    def __init__(self, upstream: int) -> None:
        self.upstream = upstream
        self.kept: dict[bytes, bytes] = {}
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:"))
        request = head + await reader.readexactly(length)
        answer = self.kept.get(request)
        if answer is None:
            async with wire(self.upstream) as server:
                server.send(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
                answer = await server.rest()
            if b"no-store" not in answer:
                self.kept[request] = answer
        writer.write(answer)


@asynccontextmanager
async def proxy(upstream: int) -> AsyncIterator[CachingProxy]:
    made = CachingProxy(upstream)
    async with stream_server(made.serve) as made.port:
        yield made


@pytest.mark.httpr("T38")
@pytest.mark.spec("HR-006")
def test_two_identical_requests_both_reach_the_server_through_a_caching_proxy(tmp_path: Path) -> None:
    pull = to_bytes("request:PULL HTTPR/1.0", *WHO, "outcome:COMMIT", "completed:0000000000000000")

    async def scene(here: Site) -> None:
        await here.send("service", "one")
        async with proxy(port_of(here)) as between:
            heard = []
            for _ in range(2):
                async with wire(between.port) as client:
                    heard.append(await ask(client, pull))
        assert heard[0][-2:] == ["<one>", LAST]
        assert heard[1][-2] == "error:523 MAXIMUM-PIPELINE-DEPTH-EXCEEDED"  # the first is in doubt
        assert endpoint_of(here.server, HttprEndpoint).receiving.requests[Command.PULL] == 2

    on_a_server(tmp_path, scene)


# -- wrong requests


@pytest.mark.httpr("T47", "T34", "T35")
@pytest.mark.spec("HR-083", "HR-084")
def test_what_is_wrong_gets_200_and_its_number_and_changes_nothing(tmp_path: Path) -> None:
    async def scene(here: Site) -> None:
        for number, (name, data) in ONE_OF_EACH.items():
            async with wire(port_of(here)) as client:
                client.send(post(SERVICE, data))
                status, body = await client.read()
                assert (status, f"error:{number} " in body.decode()) == (200, True), f"{name}: {body!r}"
        async with wire(port_of(here)) as client:
            client.send(b"GET /httpr/service HTTP/1.1\r\nHost: h\r\n\r\n")
            assert (await client.read())[0] == 405
            answer = await ask(client, PUSH.replace(b"0000000000000001", b"0000000000000002"))
            assert answer[-2:] == ["outcome:COMMIT", "completed:0000000000000002"]
        assert texts(await here.receive("service", 1)) == ["hello"]

    on_a_server(tmp_path, scene)


@pytest.mark.httpr("T09")
@pytest.mark.spec("HR-117")
@pytest.mark.parametrize("size", [5, len(LARGE)], ids=["small", "large"])
@pytest.mark.parametrize("missing", [1, 20, 40], ids=["its end", "its terminator", "its data"])
def test_a_connection_that_breaks_before_the_terminator_leaves_no_trace(
    tmp_path: Path, size: int, missing: int
) -> None:
    head = to_bytes("request:PUSH HTTPR/1.0", *WHO, "transactionid:0000000000000001")
    whole = head + b"message-size:%d\r\n\r\n%b\r\npayload-disposition:last\r\n" % (size, LARGE[:size])

    async def scene(here: Site) -> None:
        opened = here.server.opened
        async with wire(port_of(here)) as client:
            await ask(client, to_bytes("request:REPORT HTTPR/1.0", *WHO))
            before = channels(here)
            client.send(post(SERVICE, whole)[:-missing])
            client.shut()
            assert await client.rest() == b""
        await until(lambda: not opened.state.messages.bodies.loose)
        assert channels(here) == before == [(0, 0, ())]
        async with wire(port_of(here)) as client:  # and it may come again as it was
            assert (await ask(client, whole))[-1] == "completed:0000000000000001"
        assert [len(text) for text in texts(await here.receive("service", 1))] == [size]

    on_a_server(tmp_path, scene)
