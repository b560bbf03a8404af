"""Tests one connection on a recording transport: what holds its reading, and what ends with it."""

from __future__ import annotations

import pytest

from reliquary.base.time import seconds
from reliquary.net.tcp.accepted import ENGINE
from tests.net.http.harness import RecordingTransport, play, tick, until
from tests.net.tcp.lines import LineConnection, Lines, accepting, client_of

OWN = 4


def connect(lines: Lines) -> tuple[LineConnection, RecordingTransport]:
    connection, transport = LineConnection(lines), RecordingTransport()
    connection.connection_made(transport)
    return connection, transport


def test_what_a_client_opened_and_did_not_close_ends_with_its_connection() -> None:
    async def scene() -> None:
        async with accepting() as (acceptor, lines):
            _, port = await acceptor.listen()
            async with client_of(port) as other:
                assert await other.ask("open kept") == "opened kept"
                async with client_of(port) as client:
                    for line, answer in (
                        ("open a", "opened a"),
                        ("open b", "opened b"),
                        ("close a", "closed a"),
                    ):
                        assert await client.ask(line) == answer
                    assert [name for _, name in lines.open] == ["kept", "b"]
                await until(lambda: acceptor.connections == 1)
                assert [name for _, name in lines.open] == ["kept"]

    play(scene)


def test_reading_goes_on_when_the_last_reason_has_gone() -> None:
    connection, transport = connect(Lines(10, seconds(60), 0))
    connection.stop_reading(OWN)
    connection.pause()
    connection.release(OWN)
    assert not transport.reads()
    connection.release(ENGINE)
    assert transport.reads()


def test_a_pause_of_ours_does_not_count_as_idle_time_of_the_client() -> None:
    lines = Lines(10, seconds(10), 0)
    connection, transport = connect(lines)
    connection.pause()
    lines.now = seconds(100)
    connection.resume()
    connection.sweep(seconds(101))
    assert transport.open
    connection.sweep(seconds(111))
    assert not transport.open


def test_a_connection_that_was_closed_is_not_read_again() -> None:
    connection, transport = connect(Lines(10, seconds(60), 0))
    connection.pause()
    connection.close()
    connection.resume()
    assert not transport.reads()


def test_a_connection_knows_whether_it_is_connected() -> None:
    connection, transport = connect(Lines(10, seconds(60), 0))
    seen = [connection.connected]
    connection.abort()
    assert transport.was_cut()
    connection.connection_lost(None)
    assert [*seen, connection.connected] == [True, False]
    assert connection.peer == ""


def test_what_a_transport_delivers_after_it_was_paused_is_kept_in_its_order() -> None:
    lines = Lines(10, seconds(60), 0)
    connection, transport = connect(lines)
    connection.pause()
    connection.data_received(b"first\nsec")
    connection.data_received(b"ond\n")
    assert lines.came == []
    connection.resume()
    assert transport.sent == b"first\nsecond\n"
    connection.close()
    connection.data_received(b"third\n")
    assert lines.came == ["first", "second"]


def test_a_client_that_does_not_take_what_is_sent_is_not_read_from() -> None:
    connection, transport = connect(Lines(10, seconds(60), 0))
    connection.pause_writing()
    assert not transport.reads()
    connection.resume_writing()
    assert transport.reads()


def test_a_client_that_takes_nothing_is_cut_and_one_that_takes_something_is_not() -> None:
    lines = Lines(10, seconds(600), 0)
    connection, transport = connect(lines)
    lines.now, transport.unsent = seconds(100), 70_000
    connection.pause_writing()
    connection.sweep(seconds(160))
    transport.unsent = 69_999
    connection.sweep(seconds(161))
    connection.sweep(seconds(221))
    assert transport.open
    connection.sweep(seconds(222))
    assert transport.was_cut()


def test_a_connection_that_was_closed_is_cut_when_its_client_never_reads_the_last_bytes() -> None:
    lines = Lines(10, seconds(10), 0)
    connection, transport = connect(lines)
    transport.unsent = 5
    connection.sweep(seconds(11))  # idle for too long, with bytes that the client has not taken
    assert transport.closed
    lines.now = seconds(11)
    connection.sweep(seconds(60))
    assert not transport.was_cut()
    connection.sweep(seconds(61))
    assert transport.was_cut()


def test_a_connection_that_was_closed_and_has_sent_all_lingers_for_a_moment_only() -> None:
    lines = Lines(10, seconds(10), 0)
    connection, transport = connect(lines)
    connection.close()
    connection.sweep(seconds(5))
    assert not transport.was_cut()
    connection.sweep(seconds(6))
    assert transport.was_cut()


@pytest.mark.parametrize("tls", [False, True])
def test_a_client_may_send_for_a_moment_after_its_last_answer(tls: bool) -> None:
    lines = Lines(10, seconds(60), 0)
    connection, transport = LineConnection(lines), RecordingTransport(tls=tls)
    connection.connection_made(transport)
    connection.pause()
    connection.hear_out()
    assert (transport.shut, transport.closed) == (not tls, tls)
    assert transport.reads() is not tls
    connection.data_received(b"too late\n")
    connection.resume()
    assert lines.came == []
    connection.sweep(seconds(6))
    assert transport.was_cut()
    connection.connection_lost(None)
    connection.hear_out()


def test_a_client_on_a_real_socket_that_reads_nothing_does_not_stay() -> None:
    async def scene() -> None:
        async with accepting() as (acceptor, lines):
            _, port = await acceptor.listen()
            async with client_of(port) as client:
                assert await client.ask("open a") == "opened a"
                (connection,) = lines.connections.values()
                connection.say("x" * 20_000_000)
                connection.close()
                acceptor.sweep(lines.now + seconds(60))
                await tick(5)
                assert acceptor.connections == 1
                acceptor.sweep(lines.now + seconds(61))
                await until(lambda: acceptor.connections == 0)
                assert lines.open == []

    play(scene)
