"""From a URL to the address of a server, and from it to a connection of the client."""

from __future__ import annotations

import ssl

import pytest

from reliquary.net.http import ConnectFailed, ConnectionLost
from reliquary.net.http.client_connection import ClientConnection
from reliquary.net.http.dialing import DialLimits, dial, server_address
from reliquary.net.http.failures import Failure
from reliquary.net.tcp.dialing import ServerAddress, ServerAddresses
from tests.net.http.certificate import client_context
from tests.net.http.harness import echo, listening, play, until


def lost(connection: ClientConnection) -> None:
    """Do nothing when a connection is lost."""
    del connection


def test_a_connection_is_good_until_it_is_cut() -> None:
    async def scene() -> None:
        async with listening(echo) as (listener, port):
            connection = await dial(ServerAddress("127.0.0.1", port), DialLimits(), lost)
            assert connection.usable
            await until(lambda: listener.connections == 1)
            connection.cut(ConnectionLost("enough", began=False))
            await until(lambda: listener.connections == 0)

    play(scene)


def test_a_request_to_a_server_that_is_not_reached_was_not_sent() -> None:
    async def scene() -> None:
        with pytest.raises(ConnectFailed, match=r"no connection to a\.\.b:80") as failed:
            await dial(ServerAddress("a..b", 80), DialLimits(), lost)
        assert failed.value.__cause__ is not None
        assert failed.value.failure is Failure.NO_ADDRESS
        assert not failed.value.sent

    play(scene)


def test_a_url_without_a_port_leads_to_the_usual_one() -> None:
    made: list[ssl.SSLContext] = []

    def context() -> ssl.SSLContext:
        made.append(client_context())
        return made[-1]

    addresses = ServerAddresses(context)
    assert server_address("http://h/path", addresses) == ServerAddress("h", 80)
    assert server_address("http://[::1]:81", addresses) == ServerAddress("::1", 81)
    assert made == []
    assert server_address("https://h", addresses) == ServerAddress("h", 443, made[0])
    assert server_address("https://h:444", addresses) == ServerAddress("h", 444, made[0])


@pytest.mark.parametrize("server", ["ftp://h", "http://", "h", "http://h:99999", "http://[::1"])
def test_a_malformed_url_is_refused(server: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        server_address(server, ServerAddresses())
