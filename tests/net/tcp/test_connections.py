"""Tests of the state that the connections of one acceptor share."""

from __future__ import annotations

from reliquary.base.time import seconds
from tests.net.http.harness import RecordingTransport
from tests.net.tcp.lines import LineConnection, Lines


def connect(lines: Lines) -> tuple[LineConnection, RecordingTransport]:
    connection, transport = LineConnection(lines), RecordingTransport()
    connection.connection_made(transport)
    return connection, transport


def test_numbers_are_never_given_twice() -> None:
    lines = Lines(10, seconds(60), 0)
    first, _ = connect(lines)
    first.connection_lost(None)
    second, _ = connect(lines)
    assert (first.number, second.number) == (1, 2)
    assert list(lines.connections) == [2]


def test_a_connection_that_comes_while_we_pause_or_stop_is_held_or_refused() -> None:
    lines = Lines(10, seconds(60), 0)
    lines.paused = True
    _, transport = connect(lines)
    assert not transport.reads()
    lines.draining = True
    _, transport = connect(lines)
    assert transport.sent == b"refused: the server is stopping\n"


def test_the_last_to_leave_is_noticed() -> None:
    lines, noticed = Lines(10, seconds(60), 0), []
    lines.on_empty = lambda: noticed.append(len(lines.connections))
    (one, _), (two, _) = connect(lines), connect(lines)
    one.connection_lost(None)
    assert noticed == []
    two.connection_lost(None)
    assert noticed == [0]
