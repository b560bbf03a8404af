"""Accepting, limits, pause, the sweep and the stop, shown with a protocol that is not HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import seconds
from tests.net.http.harness import play, until
from tests.net.tcp.lines import accepting, client_of


def test_an_acceptor_may_listen_at_several_addresses(tmp_path: Path) -> None:
    async def scene() -> None:
        async with accepting() as (acceptor, _):
            ports = [(await acceptor.listen())[1], (await acceptor.listen())[1]]
            await acceptor.listen_unix(tmp_path / "lines")
            for port in ports:
                async with client_of(port) as client:
                    assert await client.ask("hello") == "hello"
            reader, writer = await asyncio.open_unix_connection(str(tmp_path / "lines"))
            writer.write(b"hello\n")
            assert await reader.readline() == b"hello\n"
            writer.close()
            await writer.wait_closed()
        assert not (tmp_path / "lines").exists()

    play(scene)


def test_one_connection_more_is_refused_in_the_words_of_the_protocol() -> None:
    async def scene() -> None:
        async with accepting(most=1) as (acceptor, _):
            _, port = await acceptor.listen()
            async with client_of(port) as client:
                assert await client.ask("hello") == "hello"
                async with client_of(port) as other:
                    assert await other.read() == "refused: the server takes 1 connections, this is one more"
                    assert await other.read() == ""
                assert await client.ask("hello") == "hello"

    play(scene)


def test_a_paused_listener_reads_from_no_old_and_no_new_connection() -> None:
    async def scene() -> None:
        async with accepting() as (acceptor, lines):
            _, port = await acceptor.listen()
            async with client_of(port) as client, client_of(port) as other:
                assert await client.ask("before") == "before"
                await until(lambda: acceptor.connections == 2)
                acceptor.pause()
                acceptor.pause()
                client.send("meanwhile")
                other.send("meanwhile")
                async with client_of(port) as third:
                    third.send("meanwhile")
                    await until(lambda: acceptor.connections == 3)
                    for _ in range(20):
                        await asyncio.get_running_loop().run_in_executor(None, lambda: None)
                    assert lines.came == ["before"]
                    acceptor.resume()
                    acceptor.resume()
                    for each in (client, other, third):
                        assert await each.read() == "meanwhile"

    play(scene)


def test_a_connection_that_is_idle_too_long_is_closed_and_one_that_waits_is_not() -> None:
    async def scene() -> None:
        async with accepting(idle_time=10) as (acceptor, lines):
            _, port = await acceptor.listen()
            async with client_of(port) as idle, client_of(port) as waiting:
                assert await idle.ask("hello") == "hello"
                waiting.send("wait")
                await until(lambda: "wait" in lines.came)
                now = lines.now
                acceptor.sweep(now + seconds(10))
                assert acceptor.connections == 2
                acceptor.sweep(now + seconds(10) + 1)
                assert await idle.read() == ""
                await until(lambda: acceptor.connections == 1)
                next(iter(lines.connections.values())).answer()
                assert await waiting.read() == "answer"

    play(scene)


def test_a_drain_closes_idle_connections_answers_the_others_and_cuts_the_rest() -> None:
    async def scene() -> None:
        async with accepting() as (acceptor, lines):
            _, port = await acceptor.listen()
            async with client_of(port) as idle, client_of(port) as waiting, client_of(port) as stuck:
                assert await idle.ask("hello") == "hello"
                for each in (waiting, stuck):
                    each.send("wait")
                    await until(lambda: lines.came[-1] == "wait")
                    lines.came.append("seen")
                draining = asyncio.ensure_future(acceptor.drain(seconds(0.2)))
                assert await idle.read() == ""
                min(lines.connections.values(), key=lambda connection: connection.number).answer()
                assert [await waiting.read(), await waiting.read()] == ["answer", ""]
                assert await draining == 1
                assert await stuck.read() == ""
            with pytest.raises(OSError, match=r"refused|Connect call failed"):
                await asyncio.open_connection("127.0.0.1", port)
            with pytest.raises(UsageError, match="this listener was stopped"):
                await acceptor.listen()

    play(scene)


def test_one_connection_is_cut_by_its_number() -> None:
    async def scene() -> None:
        async with accepting() as (acceptor, lines):
            _, port = await acceptor.listen()
            async with client_of(port) as client, client_of(port) as other:
                assert await client.ask("open a") == "opened a"
                assert await other.ask("open b") == "opened b"
                (number, _), (kept, _) = lines.open
                acceptor.cut(number)
                acceptor.cut(99)
                await until(lambda: acceptor.connections == 1)
                assert lines.open == [(kept, "b")]
                assert await other.ask("hello") == "hello"

    play(scene)
