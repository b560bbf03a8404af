"""One connection on a transport of glass: what holds its reading, and what ends with it."""

from __future__ import annotations

from reliquary.base.time import seconds
from reliquary.net.tcp.accepted import ENGINE
from tests.net.http.stage import Glass, play, until
from tests.net.tcp.lines import LineConnection, Lines, accepting, client_of

OWN = 2


def connect(lines: Lines) -> tuple[LineConnection, Glass]:
    connection, transport = LineConnection(lines), Glass()
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
    connection.hold(OWN)
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
