"""Tests the data plane's listener, on real sockets."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant, seconds
from reliquary.net.clock import RealClock
from reliquary.net.http import HttpClient, Limits, Listener, Request, Responder
from tests.net.http.certificate import client_context, server_context
from tests.net.http.harness import (
    ManualHandler,
    Wire,
    chunked,
    echo,
    everywhere,
    listening,
    play,
    post,
    until,
    wire,
)

SECOND = 1_000_000


def test_requests_are_answered_over_a_socket() -> None:
    async def scene() -> None:
        async with listening(echo) as (_, port), wire(port) as client:
            client.send(post() + chunked(b"a", b"b"))
            assert await client.read() == (200, b"POST /q hello")
            assert await client.read() == (200, b"POST /chunks ab")

    play(scene)


def test_pipelined_answers_come_in_order_whichever_is_ready_first() -> None:
    async def scene() -> None:
        handler = ManualHandler()
        async with listening(handler) as (_, port), wire(port) as client:
            client.send(post() * 50)
            await handler.wait_for(50)
            for number in reversed(range(50)):
                handler.answer(number)
            assert [await client.read() for _ in range(50)] == [
                (200, b"answer %d" % number) for number in range(50)
            ]

    play(scene)


def test_a_refused_client_that_goes_on_sending_can_read_why() -> None:
    async def scene() -> None:
        async with listening(echo, Limits(body_bytes=1000)) as (_, port), wire(port) as client:
            client.send(post("/q", b"x" * 3_000_000))
            status, body = await client.read()
            assert status == 413
            assert json.loads(body) == {"error": "a body may have 1000 bytes, this has 3000000"}
            assert await client.rest() == b""

    play(scene)


def test_a_body_of_many_megabytes_comes_and_goes() -> None:
    async def scene() -> None:
        async with listening(echo) as (_, port), wire(port) as client:
            body = bytes(range(256)) * 32_768
            client.send(post("/big", body))
            assert await client.read() == (200, b"POST /big " + body)

    play(scene)


def test_a_client_that_does_not_read_stops_being_read() -> None:
    async def scene() -> None:
        served = 0

        def generous(request: Request, responder: Responder) -> None:
            nonlocal served
            served += 1
            responder.respond(200, b"x" * 1_000_000)

        async with listening(generous, Limits(pipelined=4)) as (_, port):
            raw = socket.create_connection(("127.0.0.1", port))
            raw.setblocking(False)
            await asyncio.get_running_loop().sock_sendall(raw, post() * 60)
            await until(lambda: served > 0)
            first = served
            assert first < 60
            await _read_all(raw, 60 * 1_000_000)
            assert served == 60
            raw.close()

    play(scene)


async def _read_all(raw: socket.socket, at_least: int) -> None:
    seen = 0
    while seen < at_least:
        data = await asyncio.get_running_loop().sock_recv(raw, 1 << 20)
        assert data
        seen += len(data)


def test_a_resting_listener_reads_nothing_and_goes_on_afterwards() -> None:
    async def scene() -> None:
        handler = ManualHandler()
        async with listening(handler) as (listener, port), wire(port) as client, wire(port) as other:
            client.send(post())
            await handler.wait_for(1)
            listener.pause()
            listener.pause()
            client.send(post("/while-resting"))
            other.send(post("/while-resting"))
            await until(lambda: listener.connections == 2)
            async with wire(port) as third:
                third.send(post("/while-resting"))
                await until(lambda: listener.connections == 3)
                assert len(handler.asked) == 1
                listener.resume()
                listener.resume()
                await handler.wait_for(4)

    play(scene)


def test_the_sweep_finds_the_slow() -> None:
    async def scene() -> None:
        async with listening(echo) as (listener, port), wire(port) as client, wire(port) as idle:
            client.send(b"GET / HTT")
            idle.send(post())
            await idle.read()
            await until(lambda: listener.connections == 2)
            listener.sweep(RealClock().monotonic() + 40 * SECOND)
            assert (await client.read())[0] == 408
            listener.sweep(RealClock().monotonic() + 200 * SECOND)
            assert await idle.rest() == b""

    play(scene)


def test_the_sweep_renews_the_date() -> None:
    class SetClock(RealClock):
        time = 0

        def now(self) -> Instant:
            return Instant(self.time)

    async def scene() -> None:
        clock = SetClock()
        listener = Listener([everywhere(echo)], clock=clock)
        _, port = await listener.listen()
        async with HttpClient(f"http://127.0.0.1:{port}") as client:
            first = await client.request("GET", "/")
            clock.time = 5 * SECOND
            listener.sweep(clock.monotonic())
            second = await client.request("GET", "/")
        await listener.drain(seconds(1))
        assert first.header(b"date") == b"Thu, 01 Jan 1970 00:00:00 GMT"
        assert second.header(b"date") == b"Thu, 01 Jan 1970 00:00:05 GMT"

    play(scene)


def test_a_waiter_for_a_client_that_goes_away_is_notified() -> None:
    async def scene() -> None:
        handler = ManualHandler()
        gone = asyncio.Event()
        async with listening(handler) as (listener, port):
            async with wire(port) as client:
                client.send(post())
                await handler.wait_for(1)
                handler.asked[0][1].on_gone(gone.set)
            await gone.wait()
            await until(lambda: listener.connections == 0)

    play(scene)


def test_a_client_that_shuts_its_side_gets_its_answer() -> None:
    async def scene() -> None:
        handler = ManualHandler()
        async with listening(handler) as (_, port), wire(port) as client:
            client.send(post())
            client.shut()
            await handler.wait_for(1)
            await until(lambda: handler.asked[0][1].gone)
            handler.answer(0)
            assert (await client.rest()).endswith(b"answer 0")

    play(scene)


class TestStop:
    def test_answers_that_are_owed_are_given_before_the_end(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            listener = Listener([everywhere(handler)])
            _, port = await listener.listen()
            async with wire(port) as client, wire(port) as idle:
                client.send(post())
                await handler.wait_for(1)
                await until(lambda: listener.connections == 2)
                draining = asyncio.ensure_future(listener.drain(seconds(10)))
                assert await idle.rest() == b""
                handler.answer(0)
                assert await client.read() == (200, b"answer 0")
                assert await draining == 0

        play(scene)

    def test_what_is_not_answered_in_time_is_cut_and_counted(self) -> None:
        async def scene() -> None:
            handler = ManualHandler()
            gone = asyncio.Event()
            listener = Listener([everywhere(handler)])
            _, port = await listener.listen()
            async with wire(port) as client:
                client.send(post())
                await handler.wait_for(1)
                handler.asked[0][1].on_gone(gone.set)
                assert await listener.drain(seconds(0.01)) == 1
                assert gone.is_set()
                assert listener.connections == 0

        play(scene)

    def test_a_stopped_listener_accepts_no_connection(self) -> None:
        async def scene() -> None:
            async with listening(echo) as (listener, port), wire(port) as client:
                client.send(post())
                await client.read()
                listener.stop_accepting()
                with pytest.raises(OSError, match=r"refused|Connect call failed"):
                    await asyncio.open_connection("127.0.0.1", port)
                client.send(post())
                assert (await client.read())[0] == 200

        play(scene)

    def test_a_drained_listener_listens_no_more(self) -> None:
        async def scene() -> None:
            listener = Listener([everywhere(echo)])
            await listener.listen()
            assert await listener.drain(seconds(1)) == 0
            with pytest.raises(UsageError, match="was stopped and cannot listen"):
                await listener.listen()

        play(scene)


class TestAddresses:
    def test_a_taken_port_is_an_os_error(self) -> None:
        async def scene() -> None:
            async with listening(echo) as (_, port):
                with pytest.raises(OSError, match="in use"):
                    await Listener([everywhere(echo)]).listen(port=port)

        play(scene)

    def test_a_unix_socket_serves_and_its_file_goes_away(self) -> None:
        async def scene() -> None:
            with TemporaryDirectory() as folder:
                path = Path(folder) / "plane"
                listener = Listener([everywhere(echo)])
                await listener.listen_unix(path)
                client = Wire(*await asyncio.open_unix_connection(str(path)))
                client.send(post())
                assert await client.read() == (200, b"POST /q hello")
                await client.close()
                await listener.drain(seconds(1))
                assert not path.exists()

        play(scene)

    def test_tls_serves(self) -> None:
        async def scene() -> None:
            listener = Listener([everywhere(echo)], tls=server_context())
            _, port = await listener.listen()
            client = Wire(
                *await asyncio.open_connection(
                    "127.0.0.1", port, ssl=client_context(), server_hostname="localhost"
                )
            )
            client.send(post("/tls", b"x" * 100_000))
            assert await client.read() == (200, b"POST /tls " + b"x" * 100_000)
            client.send(b"nonsense\r\n\r\n")
            assert (await client.read())[0] == 400
            await client.close()
            await until(lambda: listener.connections == 0)
            await listener.drain(seconds(1))

        play(scene)
