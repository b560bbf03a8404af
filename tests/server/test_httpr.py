"""Tests HTTPR in a server: batches over its data listener, large ones too, and clients that disconnect."""

from __future__ import annotations

import asyncio
import base64
import json
import resource
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reliquary.protocols.httpr.codec.headers import read_response
from reliquary.protocols.httpr.codec.reader import ResponseReader
from reliquary.protocols.httpr.codec.values import (
    BatchLimits,
    Error,
    ErrorNumber,
    Outcome,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.machine import Httpr
from reliquary.server.build import build
from reliquary.server.config import Settings
from reliquary.server.first_queues import make_queues
from reliquary.server.httpr import HttprEndpoint, addressed
from reliquary.server.httpr_options import HttprOptions
from reliquary.server.names import Listening
from tests.console.harness import Harness, play
from tests.net.http.harness import Wire, post, until
from tests.server.endpoints import endpoint_of

ORIGIN = "httpr://here.example"
OPTIONS = HttprOptions(origin=ORIGIN)
ORDERS = "/httpr/orders"
AGENT = f"{ORIGIN}/httpr/orders"
WHO = f"requester:httpr://myhost/service\r\nchannel:primary\r\nresponder:{AGENT}\r\n"
TARGET = f"target-uri:{AGENT}#orders\r\nclass-of-service:assured\r\n"
LAST = b"payload-disposition:last\r\n"
HEAD = f"POST {ORDERS} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
MIB = 1024 * 1024


def push(*bodies: bytes, batch: int = 1, who: str = WHO) -> bytes:
    """PUSH, the first message by its size and the others in chunks."""
    head = f"request:PUSH HTTPR/1.0\r\n{who}transactionid:{batch:016X}\r\n\r\n"
    first, *others = [f"message-size:{len(body)}\r\n{TARGET}\r\n".encode() + body for body in bodies]
    found = head.encode() + first + b"\r\n"
    for body, _ in zip(bodies[1:], others, strict=True):
        found += f"message-encoding:chunked\r\n{TARGET}\r\n".encode()
        found += b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n\r\n"
    return found + LAST


def pull(completed: int = 0, more: str = "", who: str = WHO) -> bytes:
    return (
        f"request:PULL HTTPR/1.0\r\n{who}{more}outcome:COMMIT\r\ncompleted:{completed:016X}\r\n\r\n".encode()
    )


def chunked(body: bytes, *cuts: int) -> bytes:
    places = [0, *cuts, len(body)]
    return HEAD + b"".join([chunk(body[start:stop]) for start, stop in pairwise(places)]) + b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@asynccontextmanager
async def connected(harness: Harness) -> AsyncIterator[Wire]:
    client = Wire(*await asyncio.open_connection("127.0.0.1", harness.data._address.port))
    try:
        yield client
    finally:
        await client.close()


async def ask(client: Wire, body: bytes) -> ResponseHeader:
    client.send(post(ORDERS, body))
    status, said = await client.read()
    assert status == 200
    return read_response(said[: said.index(b"\r\n\r\n") + 4])


async def received(harness: Harness, count: int) -> list[bytes]:
    found = []
    for _ in range(count):
        answer = await harness.data.request("POST", "/api/v1/queues/orders/receive", b"{}")
        assert answer.status == 200, answer.body
        found += [base64.b64decode(each["body"]) for each in json.loads(answer.body)["messages"]]
    return found


def on_a_server(
    folder: Path, scene: Callable[[Harness], Awaitable[None]], options: HttprOptions = OPTIONS, **chosen: Any
) -> None:
    play(folder, scene, tables=(options,), **chosen)


@pytest.mark.spec("HR-005", "HR-007", "HR-035", "HR-101")
@pytest.mark.httpr("T01", "T03", "T38", "H3")
@pytest.mark.parametrize("version", ["length", "one chunk", "two chunks", "bytes"])
def test_a_push_is_stored_whatever_its_envelope(tmp_path: Path, version: str) -> None:
    body = push(b"hello", b"hello world")
    sent = {
        "length": post(ORDERS, body),
        "one chunk": chunked(body),
        "two chunks": chunked(body, 181),
        "bytes": chunked(body, *range(1, len(body))),
    }[version]

    async def scene(harness: Harness) -> None:
        async with connected(harness) as client:
            client.send(sent)
            client.shut()
            head, _, said = (await client.rest()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert b"cache-control: no-store" in head
        header = read_response(said)
        assert (header.responder, header.outcome, header.completed) == (AGENT, Outcome.COMMIT, 1)
        assert header.agent_type
        assert await received(harness, 2) == [b"hello", b"hello world"]

    on_a_server(tmp_path, scene)


@pytest.mark.httpr("T47")
def test_what_is_no_httpr_changes_nothing(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        answer = await harness.data.request("GET", ORDERS)
        assert (answer.status, answer.header(b"allow")) == (405, b"POST")
        answer = await harness.data.request("POST", ORDERS, b'{"text": "a"}')
        assert answer.status == 200
        header = read_response(answer.body)
        assert header.error is not None
        assert (header.error.number, header.session) == (519, SessionMark.END)
        assert harness.server.opened.machine(Httpr).state.channels == {}

    on_a_server(tmp_path, scene)


def test_pipelined_pushes_of_a_session_are_all_taken_in_order(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        async with connected(harness) as client:
            begin = (
                f"request:GET-RESPONDER-INFO HTTPR/1.0\r\n{WHO}session:begin\r\n"
                "capabilities:maximum_pipeline_depth=32,session_support=SESSION\r\n\r\n"
            )
            session = (await ask(client, begin.encode())).session_id
            assert session
            who = f"sessionid:{session}\r\n"
            sent = [push(b"%d" % number, batch=number, who=who) for number in range(1, 31)]
            client.send(b"".join([post(ORDERS, each) for each in sent]))
            for number in range(1, 31):
                header = read_response((await client.read())[1])
                assert (header.outcome, header.completed) == (Outcome.COMMIT, number)
        assert await received(harness, 30) == [b"%d" % number for number in range(1, 31)]

    on_a_server(tmp_path, scene)


class TestLarge:
    @staticmethod
    def parts(size: int) -> Iterator[bytes]:
        for place in range(0, size, 100_000):
            yield (b"%010d" % place * 10_000)[: size - place]

    def pushed(self, size: int, in_chunks: bool) -> Iterator[bytes]:
        yield f"request:PUSH HTTPR/1.0\r\n{WHO}transactionid:{1:016X}\r\n\r\n".encode()
        if in_chunks:
            yield f"message-encoding:chunked\r\n{TARGET}\r\n".encode()
            yield from (chunk(part) for part in self.parts(size))
            yield b"0\r\n\r\n\r\n"
        else:
            yield f"message-size:{size}\r\n{TARGET}\r\n".encode()
            yield from self.parts(size)
            yield b"\r\n"
        yield LAST

    async def comes_and_goes(
        self, harness: Harness, size: int, in_chunks: bool, watch: Callable[[], None]
    ) -> None:
        """Push a body and pull it again."""
        async with connected(harness) as client:
            client.send(HEAD)
            for part in self.pushed(size, in_chunks):
                client.send(chunk(part))
                await client._writer.drain()
                watch()
            client.send(b"0\r\n\r\n")
            assert read_response((await client.read())[1]).outcome is Outcome.COMMIT
            client.send(post(ORDERS, pull()))
            assert b"chunked" in await client._reader.readuntil(b"\r\n\r\n")
            reader = ResponseReader(BatchLimits(size, 10))
            came, expected = sha256(), sha256()
            while length := int(await client._reader.readuntil(b"\r\n"), 16):
                for event in reader.feed((await client._reader.readexactly(length + 2))[:-2]):
                    came.update(getattr(event, "data", b""))
                watch()
            reader.end()
            for part in self.parts(size):
                expected.update(part)
            assert came.digest() == expected.digest()

    @pytest.mark.spec("HR-114", "HR-120")
    @pytest.mark.parametrize("in_chunks", [False, True], ids=["by its size", "in chunks"])
    def test_a_large_message_comes_and_goes_in_little_memory(self, tmp_path: Path, in_chunks: bool) -> None:
        async def scene(harness: Harness) -> None:
            tracemalloc.start()
            await self.comes_and_goes(harness, 20_000_000, in_chunks, lambda: None)
            assert tracemalloc.get_traced_memory()[1] < 8 * MIB
            tracemalloc.stop()

        on_a_server(tmp_path, scene)

    @pytest.mark.long
    @pytest.mark.parametrize("in_chunks", [False, True], ids=["by its size", "in chunks"])
    def test_the_largest_message_comes_and_goes_in_little_memory(
        self, tmp_path: Path, in_chunks: bool
    ) -> None:
        async def scene(harness: Harness) -> None:
            seen = [resident()]
            await self.comes_and_goes(harness, 100_000_000, in_chunks, lambda: seen.append(resident()))
            assert max(seen) - seen[0] < 90 * MIB  # most of it is the store's

        on_a_server(tmp_path, scene)


def resident() -> int:
    """Return the bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class TestWaiting:
    LONG = "capabilities:empty_batch_delay=60000,max_wait_batch=60000\r\n"

    def test_a_pull_whose_client_disconnects_takes_nothing(self, tmp_path: Path) -> None:
        async def scene(harness: Harness) -> None:
            httpr = harness.server.opened.machine(Httpr).state
            async with connected(harness) as client:
                client.send(post(ORDERS, pull(more=self.LONG)))
                await until(lambda: bool(httpr.server.channels))
                client._writer.transport.abort()
                await until(lambda: harness.server.data.connections == 0)
            await harness.send("orders", "a")
            async with connected(harness) as client:
                header = await ask(client, pull())
                assert header.transaction_id == 1
            assert all(channel.in_doubt in ((), (1,)) for channel in httpr.channels.values())

        on_a_server(tmp_path, scene)

    @pytest.mark.spec("HR-041")
    @pytest.mark.httpr("T31")
    def test_a_later_connection_ends_the_one_before_it(self, tmp_path: Path) -> None:
        async def scene(harness: Harness) -> None:
            async with connected(harness) as first, connected(harness) as second:
                first.send(post(ORDERS, pull(more=self.LONG)))
                await until(lambda: bool(harness.server.opened.machine(Httpr).state.server.channels))
                assert (await ask(second, push(b"a"))).outcome is Outcome.COMMIT
                await first.rest()  # it has ended

        on_a_server(tmp_path, scene)

    def test_a_server_that_stops_answers_requests_that_wait(self, tmp_path: Path) -> None:
        settings = Settings(
            folder=tmp_path / "data", data_port=0, control_port=0, queues=("orders",), tables=(OPTIONS,)
        )

        async def scene() -> bytes:
            server = await build(settings)
            await make_queues(server.opened, settings.queues)
            data, _ = await server.listen(settings)
            client = Wire(*await asyncio.open_connection("127.0.0.1", int(data.rpartition(":")[2])))
            client.send(post(ORDERS, pull(more=self.LONG)))
            await until(lambda: bool(server.opened.machine(Httpr).state.server.channels))
            answer = asyncio.ensure_future(client.read())
            await server.stop()
            await client.close()
            return (await answer)[1]

        header = read_response(asyncio.run(scene()))
        assert header.error == Error.of(ErrorNumber.RESOURCE_MANAGER_TERMINATING)
        assert (header.session, header.outcome) == (SessionMark.END, None)

    def test_a_server_that_stops_cuts_off_a_response_that_still_leaves(self, tmp_path: Path) -> None:
        settings = Settings(
            folder=tmp_path / "data", data_port=0, control_port=0, queues=("orders",), tables=(OPTIONS,)
        )
        wrong: list[object] = []

        async def scene() -> bytes:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
            server = await build(settings)
            await make_queues(server.opened, settings.queues)
            data, _ = await server.listen(settings)
            client = Wire(*await asyncio.open_connection("127.0.0.1", int(data.rpartition(":")[2])))
            assert (await ask(client, push(b"x" * 50_000_000))).outcome is Outcome.COMMIT
            client.send(post(ORDERS, pull()))
            await client._reader.readuntil(b"\r\n\r\n")
            stopping = asyncio.ensure_future(server.stop())
            await until(lambda: endpoint_of(server, HttprEndpoint).receiving.stopped)
            came = await client.rest()
            await stopping
            await client.close()
            return came

        came = asyncio.run(scene())
        assert len(came) < 50_000_000
        assert LAST not in came
        assert wrong == []


class TestAddressed:
    PLAIN = Listening("http", "127.0.0.1", 8480)

    def test_on_the_loopback_we_are_localhost(self) -> None:
        reported = addressed(Settings(computer_name="HERE"), [self.PLAIN])
        assert reported.origin == "httpr://localhost:8480"
        assert "localhost:8480" in reported.authorities

    def test_elsewhere_we_are_the_computer(self) -> None:
        reported = addressed(Settings(computer_name="HERE"), [Listening("http", "0.0.0.0", 80)])
        assert reported.origin == "httpr://HERE"

    def test_over_tls_our_names_say_so(self) -> None:
        reported = addressed(Settings(computer_name="HERE"), [Listening("https", "0.0.0.0", 8480)])
        assert reported.origin == "httprs://HERE:8480"

    def test_what_was_chosen_counts_and_other_names_mean_us_too(self) -> None:
        options = HttprOptions(origin="httpr://mq.example:81", names=("other", "far:9"))
        reported = addressed(Settings(computer_name="HERE", tables=(options,)), [self.PLAIN])
        assert reported.origin == "httpr://mq.example:81"
        assert {"mq.example:81", "other", "other:8480", "far:9", "here"} <= reported.authorities
        assert "mq.example" not in reported.authorities


@pytest.mark.spec("HR-089")
def test_a_server_that_has_another_name_than_its_channels_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(harness: Harness) -> None:
        async with connected(harness) as client:
            assert (await ask(client, push(b"a"))).outcome is Outcome.COMMIT

    async def nothing(harness: Harness) -> None:
        pass

    async def forget(harness: Harness) -> None:
        await harness.ok("POST", "/channels/1/forget")

    on_a_server(tmp_path, scene)
    on_a_server(tmp_path, nothing)
    assert "known as" not in caplog.text
    on_a_server(tmp_path, forget, HttprOptions(origin="httpr://new.example"))
    [said] = [each.getMessage() for each in caplog.records if "known as" in each.getMessage()]
    assert f"HTTPR: is known as {ORIGIN} 1 times: by channels of other agents" in said
    assert f'set origin = "{ORIGIN}" in [httpr] to keep the name' in said
    caplog.clear()
    on_a_server(tmp_path, nothing, HttprOptions(origin="httpr://new.example"))
    assert "known as" not in caplog.text


def test_a_server_whose_httpr_is_off_has_nothing_there(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.data.request("POST", ORDERS, push(b"a"))).status == 404
        assert HttprEndpoint not in map(type, harness.server.endpoints)

    on_a_server(tmp_path, scene, HttprOptions(enabled=False))
