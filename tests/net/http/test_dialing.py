"""A connection to a server: made, or why not."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from socket import gaierror

import pytest

from reliquary.base.time import seconds
from reliquary.net.http import ConnectFailed, ConnectionLost, Listener
from reliquary.net.http.client_connection import ClientConnection
from reliquary.net.http.dialing import DialLimits, Place, Places, Unreached, dial, unreached
from reliquary.protocols.httpr import events as httpr_events
from reliquary.protocols.srmp import events as srmp_events
from tests.net.http.certificate import client_context
from tests.net.http.stage import echo, listening, play, until


def lost(connection: ClientConnection) -> None:
    """Nobody keeps a list."""
    del connection


def test_a_connection_is_good_until_it_is_cut() -> None:
    async def scene() -> None:
        async with listening(echo) as (listener, port):
            connection = await dial(Place("127.0.0.1", port), DialLimits(), lost)
            assert connection.usable
            await until(lambda: listener.connections == 1)
            connection.cut(ConnectionLost("enough", began=False))
            await until(lambda: listener.connections == 0)

    play(scene)


def test_a_socket_in_the_file_system_is_a_place(tmp_path: Path) -> None:
    async def scene() -> None:
        listener = Listener(echo)
        path = tmp_path / "socket"
        await listener.listen_unix(path)
        connection = await dial(Place("h", 1, unix=str(path)), DialLimits(), lost)
        await until(lambda: listener.connections == 1)
        connection.cut(ConnectionLost("enough", began=False))
        await until(lambda: listener.connections == 0)
        await listener.drain(seconds(1))

    play(scene)


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        (Place("127.0.0.1", 81), "127.0.0.1:81"),
        (Place("::1", 81), "[::1]:81"),
        (Place("h", 81, unix="/s"), "/s"),
    ],
)
def test_a_place_is_named_as_people_write_it(place: Place, shown: str) -> None:
    assert str(place) == shown


@pytest.mark.parametrize("host", ["a..b", "no-such-host.invalid"])
def test_a_name_that_means_nothing(host: str) -> None:
    async def scene() -> None:
        with pytest.raises(ConnectFailed, match=f"no connection to {host}:80") as failed:
            await dial(Place(host, 80), DialLimits(), lost)
        assert failed.value.__cause__ is not None

    play(scene)


def test_a_server_without_tls_is_no_place_for_it() -> None:
    async def scene() -> None:
        async with listening(echo) as (_, port):
            with pytest.raises(ConnectFailed):
                await dial(Place("localhost", port, client_context()), DialLimits(), lost)

    play(scene)


def test_a_handshake_that_is_never_answered_takes_no_longer_than_it_may() -> None:
    async def scene() -> None:
        heard_out: list[bytes] = []

        async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heard_out.append(await reader.read())
            writer.close()

        server = await asyncio.start_server(hear, "127.0.0.1", 0)
        place = Place("127.0.0.1", server.sockets[0].getsockname()[1], client_context())
        with pytest.raises(ConnectFailed, match="too slow"):
            await dial(place, DialLimits(connect_time=seconds(0.05)), lost)
        await until(lambda: bool(heard_out))
        server.close()

    play(scene)


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (gaierror("x"), Unreached.NO_ADDRESS),
        (UnicodeError("x"), Unreached.NO_ADDRESS),
        (ssl.SSLCertVerificationError("x"), Unreached.NOT_TRUSTED),
        (ssl.SSLError("x"), Unreached.NO_CONNECTION),
        (OSError("x"), Unreached.NO_CONNECTION),
        (None, Unreached.NO_CONNECTION),
    ],
)
def test_only_a_certificate_that_is_not_believed_is_not_trusted(
    cause: BaseException | None, kind: Unreached
) -> None:
    failed = ConnectFailed("x")
    failed.__cause__ = cause
    assert unreached(failed) is kind


def test_every_kind_of_no_connection_is_a_failure_of_each_courier() -> None:
    for failures in (srmp_events.Failure, httpr_events.Failure):
        assert {kind.value for kind in Unreached} <= {each.value for each in failures}


class TestPlaces:
    """From a URL to a place."""

    def test_the_usual_ports(self) -> None:
        made: list[ssl.SSLContext] = []

        def context() -> ssl.SSLContext:
            made.append(client_context())
            return made[-1]

        places = Places(context)
        assert places.find("http://h/path") == Place("h", 80)
        assert places.find("http://[::1]:81") == Place("::1", 81)
        assert made == []
        assert places.find("https://h") == Place("h", 443, made[0])
        assert places.find("https://h:444") == Place("h", 444, made[0])
        assert len(made) == 1

    @pytest.mark.parametrize("server", ["ftp://h", "http://", "h", "http://h:99999", "http://[::1"])
    def test_what_is_no_address(self, server: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            Places().find(server)
