"""Tests the pooled client, against the listener and against peers that misbehave."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import seconds
from reliquary.net.http import (
    BadResponse,
    ClientLimits,
    ConnectFailed,
    ConnectionLost,
    HttpClient,
    Listener,
    Response,
    TimedOut,
)
from tests.net.http.certificate import client_context, server_context
from tests.net.http.harness import ManualHandler, echo, everywhere, listening, play, tick, until
from tests.net.stream_server import stream_server

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


async def one_request(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n")


def to(port: int, **limits: int) -> HttpClient:
    return HttpClient(f"http://127.0.0.1:{port}", limits=ClientLimits(**limits))  # type: ignore[arg-type]


class TestRoundTrips:
    def test_what_is_asked_is_answered(self) -> None:
        async def scene() -> None:
            async with listening(echo) as (_, port), to(port) as client:
                response = await client.request("POST", "/q?x=1", b"hello", [(b"x-a", b"1")])
                assert (response.status, response.body) == (200, b"POST /q hello")
                assert response.header(b"content-type") == b"text/plain"
                assert (await client.request("GET", "/empty")).body == b"GET /empty "

        play(scene)

    def test_the_prefix_of_the_address_stands_before_the_path(self) -> None:
        async def scene() -> None:
            async with listening(echo) as (_, port), HttpClient(f"http://127.0.0.1:{port}/api/") as client:
                assert (await client.request("GET", "/q")).body == b"GET /api/q "

        play(scene)

    def test_a_large_body_goes_both_ways(self) -> None:
        async def scene() -> None:
            body = bytes(range(256)) * 40_000
            async with listening(echo) as (_, port), to(port) as client:
                assert (await client.request("POST", "/q", body)).body == b"POST /q " + body

        play(scene)

    def test_head_has_a_connection_of_its_own(self) -> None:
        async def scene() -> None:
            async with listening(echo) as (listener, port), to(port) as client:
                await client.request("GET", "/")
                for _ in range(2):
                    response = await client.request("HEAD", "/x")
                    assert (response.header(b"content-length"), response.body) == (b"8", b"")
                await until(lambda: listener.connections == 1)
                assert (await client.request("GET", "/y")).body == b"GET /y "

        play(scene)

    def test_a_unix_socket_is_reached(self) -> None:
        async def scene() -> None:
            with TemporaryDirectory() as folder:
                path = str(Path(folder) / "plane")
                listener = Listener([everywhere(echo)])
                await listener.listen_unix(path)
                async with HttpClient("http://local", unix=path) as client:
                    assert (await client.request("GET", "/q")).body == b"GET /q "
                await listener.drain(seconds(1))

        play(scene)

    def test_a_server_with_a_trusted_certificate_is_used_and_another_refused(self) -> None:
        async def scene() -> None:
            listener = Listener([everywhere(echo)], tls=server_context())
            _, port = await listener.listen()
            address = f"https://127.0.0.1:{port}"
            async with HttpClient(address, tls=client_context()) as client:
                assert (await client.request("POST", "/q", b"x" * 50_000)).body == b"POST /q " + b"x" * 50_000
            async with HttpClient(address) as careful:
                with pytest.raises(ConnectFailed, match=r"(?i)certificate verify failed"):
                    await careful.request("GET", "/q")
            await listener.drain(seconds(1))

        play(scene)


class TestThePool:
    def test_one_connection_serves_one_request_after_another(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (listener, port), to(port) as client:
                for number in range(3):
                    asked = asyncio.ensure_future(client.request("GET", "/"))
                    await handler.wait_for(number + 1)
                    handler.answer(number)
                    await asked
                assert {request.connection for request, _ in handler.asked} == {1}
                assert listener.connections == 1

        play(scene)

    def test_more_requests_than_connections_wait_in_line(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (listener, port), to(port, connections=2) as client:
                asked = [asyncio.ensure_future(client.request("GET", f"/{number}")) for number in range(7)]
                for number in range(7):
                    await handler.wait_for(number + 1)
                    assert len(handler.asked) <= number + 2
                    handler.answer(number, handler.asked[number][0].path.encode())
                answers = [(await one).body for one in asked]
                assert answers == [b"/%d" % number for number in range(7)]
                assert listener.connections == 2

        play(scene)

    def test_pipelining_shares_a_connection_when_no_more_may_be_opened(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (listener, port), to(port, connections=1, pipelined=4) as client:
                asked = [asyncio.ensure_future(client.request("GET", f"/{number}")) for number in range(6)]
                await handler.wait_for(4)
                await tick(5)
                assert len(handler.asked) == 4
                for number in range(6):
                    await handler.wait_for(number + 1)
                    handler.answer(number, handler.asked[number][0].path.encode())
                assert sorted([(await one).body for one in asked]) == [b"/%d" % number for number in range(6)]
                assert listener.connections == 1

        play(scene)

    def test_a_connection_idle_for_too_long_is_not_used_again(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (_, port), to(port, idle_time=1) as client:
                for number in range(2):
                    asked = asyncio.ensure_future(client.request("GET", "/"))
                    await handler.wait_for(number + 1)
                    handler.answer(number)
                    await asked
                    later = asyncio.get_running_loop().time() + 0.003
                    await until(lambda later=later: asyncio.get_running_loop().time() > later)  # type: ignore[misc]
                assert [request.connection for request, _ in handler.asked] == [1, 2]

        play(scene)

    def test_a_cancelled_request_closes_its_connection_and_lets_the_next_in(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (listener, port), to(port, connections=1) as client:
                first = asyncio.ensure_future(client.request("GET", "/first"))
                await handler.wait_for(1)
                second = asyncio.ensure_future(client.request("GET", "/second"))
                await tick(3)
                first.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await first
                await handler.wait_for(2)
                handler.answer(0, b"to nobody")
                handler.answer(1)
                assert (await second).body == b"answer 1"
                await until(lambda: listener.connections == 1)
                assert handler.asked[0][0].connection != handler.asked[1][0].connection

        play(scene)

    def test_a_caller_that_is_cancelled_in_line_takes_no_slot(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (_, port), to(port, connections=1) as client:

                async def first() -> None:
                    await client.request("GET", "/0")
                    second.cancel()  # the place has just been handed to it, and it has not run yet

                asked = asyncio.ensure_future(first())
                await handler.wait_for(1)
                second = asyncio.ensure_future(client.request("GET", "/1"))
                third = asyncio.ensure_future(client.request("GET", "/2"))
                await tick(3)
                handler.answer(0)
                await asked
                await handler.wait_for(2)
                handler.answer(1, handler.asked[1][0].path.encode())
                assert (await third).body == b"/2"
                assert second.cancelled()

        play(scene)

    def test_a_closed_client_fails_requests_in_flight_and_takes_no_more(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (_, port), to(port, connections=1) as client:
                flying = asyncio.ensure_future(client.request("GET", "/"))
                await handler.wait_for(1)
                waiting = asyncio.ensure_future(client.request("GET", "/"))
                await tick(3)
                await client.close()
                with pytest.raises(ConnectionLost, match="client was closed"):
                    await flying
                for asked in (waiting, asyncio.ensure_future(client.request("GET", "/"))):
                    with pytest.raises(UsageError, match="client is closed"):
                        await asked

        play(scene)


class TestFailures:
    def test_no_server_at_the_address_is_a_failed_connect(self) -> None:
        async def scene() -> None:
            async with listening(echo) as (_, port):
                pass
            async with to(port) as client:
                with pytest.raises(ConnectFailed, match=f"no connection to 127.0.0.1:{port}") as caught:
                    await client.request("GET", "/")
                assert not caught.value.sent

        play(scene)

    def test_connecting_has_a_time_of_its_own(self) -> None:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()

        async def scene() -> None:
            async with stream_server(silent) as port:
                limits = ClientLimits(connect_time=seconds(0.02))
                async with HttpClient(f"https://127.0.0.1:{port}", limits=limits) as client:
                    with pytest.raises(ConnectFailed, match="too slow"):
                        await client.request("GET", "/")

        play(scene)

    def test_a_peer_that_hangs_up_without_an_answer_leaves_the_outcome_unknown(self) -> None:
        asked = 0

        async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            await one_request(reader)
            asked += 1

        async def scene() -> None:
            nonlocal asked
            asked = 0
            async with stream_server(rude) as port, to(port) as client:
                with pytest.raises(ConnectionLost, match="closed the connection") as caught:
                    await client.request("POST", "/", idempotent=True)
                assert caught.value.sent
            assert asked == 1  # a fresh connection: a second try would be a guess

        play(scene)

    @pytest.mark.parametrize("idempotent", [False, True])
    def test_on_a_used_connection_only_an_idempotent_request_is_sent_again(self, idempotent: bool) -> None:
        asked: list[int] = []

        async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            """Answer one request, take the second one and hang up."""
            await one_request(reader)
            asked.append(1)
            writer.write(OK)
            await one_request(reader)
            asked.append(2)

        async def scene() -> None:
            asked.clear()
            async with stream_server(once) as port, to(port) as client:
                await client.request("GET", "/")
                if idempotent:
                    assert (await client.request("GET", "/", idempotent=True)).body == b"ok"
                    assert asked == [1, 2, 1]
                else:
                    with pytest.raises(ConnectionLost):
                        await client.request("GET", "/")
                    assert asked == [1, 2]

        play(scene)

    def test_an_answer_that_began_is_never_asked_for_again(self) -> None:
        asked: list[int] = []

        async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await one_request(reader)
            asked.append(1)
            writer.write(OK)
            await one_request(reader)
            asked.append(2)
            writer.write(OK[:-1])
            await writer.drain()

        async def scene() -> None:
            asked.clear()
            async with stream_server(half) as port, to(port) as client:
                await client.request("GET", "/")
                with pytest.raises(ConnectionLost) as caught:
                    await client.request("GET", "/", idempotent=True)
                assert caught.value.began
                assert asked == [1, 2]

        play(scene)

    def test_the_time_of_a_request_runs_out_after_it_was_sent(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (listener, port), to(port) as client:
                asked = asyncio.ensure_future(client.request("GET", "/", timeout=seconds(0.05)))
                await handler.wait_for(1)
                handler.asked[0][1].on_gone(lambda: None)
                with pytest.raises(TimedOut) as caught:
                    await asked
                assert caught.value.sent
                await until(lambda: listener.connections == 0)

        play(scene)

    def test_each_request_has_its_own_time_whichever_came_first(self) -> None:
        async def scene() -> None:
            handler, ended = ManualHandler(), []

            async def ask(client: HttpClient, time: float) -> None:
                with pytest.raises(TimedOut):
                    await client.request("GET", "/", timeout=seconds(time))
                ended.append(time)

            async with listening(handler) as (_, port), to(port) as client:
                answered = asyncio.ensure_future(client.request("GET", "/", timeout=seconds(15)))
                await handler.wait_for(1)
                waiting = [asyncio.ensure_future(ask(client, time)) for time in (0.4, 0.05, 0.2)]
                await asyncio.gather(*waiting)
                assert ended == [0.05, 0.2, 0.4]
                handler.answer(0)
                assert (await answered).status == 200

        play(scene)

    def test_the_time_of_a_request_runs_out_in_line(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (_, port), to(port, connections=1) as client:
                first = asyncio.ensure_future(client.request("GET", "/", timeout=seconds(15)))
                await handler.wait_for(1)
                with pytest.raises(TimedOut) as caught:
                    await client.request("GET", "/", timeout=seconds(0.02))
                assert not caught.value.sent
                handler.answer(0)
                assert (await first).status == 200

        play(scene)

    def test_a_time_out_in_a_pipeline_loses_those_behind(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            async with listening(handler) as (_, port), to(port, connections=1, pipelined=2) as client:
                first = asyncio.ensure_future(client.request("GET", "/", timeout=seconds(0.05)))
                await handler.wait_for(1)
                second = asyncio.ensure_future(client.request("GET", "/"))
                await handler.wait_for(2)
                with pytest.raises(TimedOut):
                    await first
                with pytest.raises(ConnectionLost, match="timed out"):
                    await second

        play(scene)

    def test_what_is_not_http_is_a_bad_response(self) -> None:
        async def foreign(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await one_request(reader)
            writer.write(b"220 ready for mail\r\n")
            await writer.drain()

        async def scene() -> None:
            async with stream_server(foreign) as port, to(port) as client:
                with pytest.raises(BadResponse):
                    await client.request("GET", "/")

        play(scene)

    @pytest.mark.parametrize(
        "address", ["host:80", "ftp://host", "http://", "http://host/?q=1", "http://h/#f"]
    )
    def test_a_malformed_address_is_refused(self, address: str) -> None:
        with pytest.raises(UsageError, match="must be like"):
            HttpClient(address)


def test_a_response_shows_itself() -> None:
    assert repr(Response(204, [], b"")) == "<Response 204 0 bytes>"
