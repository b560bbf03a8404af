"""Tests a connection to a server: made, or why not."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from socket import gaierror
from typing import cast

import pytest

from reliquary.base.time import seconds
from reliquary.net.tcp.dialing import (
    DialFailure,
    NotConnected,
    OutgoingConnection,
    ServerAddress,
    ServerAddresses,
    reach,
    unreached,
)
from tests.net.http.certificate import client_context
from tests.net.http.harness import play, until

WITHIN = seconds(10)


class Replies(OutgoingConnection):
    """Notes what the server says: a protocol that is not HTTP."""

    def __init__(self) -> None:
        super().__init__()
        self.got = b""

    def data_received(self, data: bytes) -> None:
        self.got += data

    def say(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)


class Server:
    """Says the first words of a client in capitals and hangs up, or never says anything."""

    def __init__(self, deaf: bool = False) -> None:
        self.deaf = deaf
        self.accepted = 0
        self.over = 0

    def accept(self) -> asyncio.Protocol:
        return Accepted(self)


class Accepted(asyncio.Protocol):
    """One connection of the server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._server.accepted += 1

    def data_received(self, data: bytes) -> None:
        if not self._server.deaf:
            self._transport.write(data.upper())
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._server.over += 1


@asynccontextmanager
async def serving(
    tls: ssl.SSLContext | None = None, **how: bool
) -> AsyncIterator[tuple[Server, ServerAddress]]:
    """Run a server whose client leaves nothing open; `tls` is for the client alone."""
    made = Server(**how)
    server = await asyncio.get_running_loop().create_server(made.accept, "127.0.0.1", 0)
    yield made, ServerAddress("localhost" if tls else "127.0.0.1", server.sockets[0].getsockname()[1], tls)
    await until(lambda: made.over == made.accepted == 1)
    server.close()


def test_a_connection_is_good_until_it_is_aborted() -> None:
    async def scene() -> None:
        async with serving() as (server, address):
            connection = await reach(address, OutgoingConnection(), WITHIN)
            states = [connection.usable]
            await until(lambda: server.accepted == 1)
            connection.abort()
            assert [*states, connection.usable] == [True, False]

    play(scene)


def test_any_protocol_over_tcp_can_dial_and_sees_that_the_peer_closed() -> None:
    async def scene() -> None:
        async with serving() as (_, address):
            connection = await reach(address, Replies(), WITHIN)
            connection.say(b"hello")
            await until(lambda: not connection.usable)
            assert connection.got == b"HELLO"
            connection.abort()  # which changes nothing any more

    play(scene)


def test_a_socket_in_the_file_system_is_an_address(tmp_path: Path) -> None:
    async def scene() -> None:
        made, path = Server(), str(tmp_path / "socket")
        server = await asyncio.get_running_loop().create_unix_server(made.accept, path)
        connection = await reach(ServerAddress("h", 1, unix=path), OutgoingConnection(), WITHIN)
        await until(lambda: made.accepted == 1)
        connection.abort()
        await until(lambda: made.over == 1)
        server.close()
        (tmp_path / "socket").unlink(missing_ok=True)

    play(scene)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (ServerAddress("127.0.0.1", 81), "127.0.0.1:81"),
        (ServerAddress("::1", 81), "[::1]:81"),
        (ServerAddress("h", 81, unix="/s"), "/s"),
    ],
)
def test_an_address_is_named_as_people_write_it(address: ServerAddress, shown: str) -> None:
    assert str(address) == shown


@pytest.mark.parametrize("host", ["a..b", "no-such-host.invalid"])
def test_an_unknown_name_is_no_address(host: str) -> None:
    async def scene() -> None:
        connection = OutgoingConnection()
        with pytest.raises(NotConnected, match=f"no connection to {host}:80") as failed:
            await reach(ServerAddress(host, 80), connection, WITHIN)
        assert failed.value.__cause__ is not None
        assert failed.value.reason is DialFailure.NO_ADDRESS
        assert not connection.usable

    play(scene)


def test_a_server_without_tls_is_not_connected() -> None:
    async def scene() -> None:
        async with serving(client_context()) as (_, address):
            with pytest.raises(NotConnected) as failed:
                await reach(address, OutgoingConnection(), WITHIN)
            assert failed.value.reason is DialFailure.NO_CONNECTION

    play(scene)


def test_an_answer_in_plain_text_is_reported_as_no_tls() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def scene() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(
            NotConnected, match=r"does not use TLS; is its address http:// instead of https://\?"
        ):
            await reach(ServerAddress("localhost", port, client_context()), OutgoingConnection(), WITHIN)
        server.close()

    play(scene)


def test_a_handshake_that_is_never_answered_takes_no_longer_than_it_may() -> None:
    async def scene() -> None:
        async with serving(client_context(), deaf=True) as (_, address):
            with pytest.raises(NotConnected, match="too slow"):
                await reach(address, OutgoingConnection(), seconds(0.05))

    play(scene)


def test_a_handshake_that_is_cancelled_leaves_nothing_open() -> None:
    async def scene() -> None:
        async with serving(client_context(), deaf=True) as (server, address):
            connection = OutgoingConnection()
            waits = asyncio.ensure_future(reach(address, connection, WITHIN))
            await until(lambda: server.accepted == 1)
            waits.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waits
            assert not connection.usable

    play(scene)


def test_a_connection_that_ended_while_it_was_made_is_reported() -> None:
    async def scene() -> None:
        async with serving() as (server, address):
            connection = OutgoingConnection()
            connection.usable = False
            with pytest.raises(NotConnected, match="closed the connection at once") as failed:
                await reach(address, connection, WITHIN)
            assert failed.value.reason is DialFailure.NO_CONNECTION
            await until(lambda: server.accepted == 1)
            connection.abort()

    play(scene)


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (gaierror("x"), DialFailure.NO_ADDRESS),
        (UnicodeError("x"), DialFailure.NO_ADDRESS),
        (ssl.SSLCertVerificationError("x"), DialFailure.NOT_TRUSTED),
        (ssl.SSLError("x"), DialFailure.NO_CONNECTION),
        (OSError("x"), DialFailure.NO_CONNECTION),
    ],
)
def test_only_a_certificate_that_fails_its_check_is_not_trusted(
    cause: OSError | UnicodeError, kind: DialFailure
) -> None:
    assert unreached(cause) is kind


def test_a_tls_context_is_made_once_and_only_when_it_is_needed() -> None:
    made: list[ssl.SSLContext] = []

    def context() -> ssl.SSLContext:
        made.append(client_context())
        return made[-1]

    addresses = ServerAddresses(context)
    assert addresses.at("h", 80, secure=False) == ServerAddress("h", 80)
    assert made == []
    assert addresses.at("h", 443, secure=True) == ServerAddress("h", 443, made[0])
    assert addresses.at("h", 444, secure=True) == ServerAddress("h", 444, made[0])
    assert len(made) == 1
