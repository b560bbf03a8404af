"""Opens a connection to a server: by name, over TLS, or through a unix socket, within a time.

ServerAddress --> look the name up --> connect --> TLS --> an OutgoingConnection that is usable
              |                   |         |
              NO_ADDRESS    NO_CONNECTION   NOT_TRUSTED        each is a NotConnected
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from socket import gaierror
from typing import Final, TypeVar, cast

from reliquary.base.time import SECOND, Duration
from reliquary.net.tcp.descriptors import is_reserved


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address of a server, and the way to reach it."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    unix: str | None = None
    """A socket in the file system, in place of host and port."""

    def __str__(self) -> str:
        return self.unix or (f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}")


class ServerAddresses:
    """Makes addresses; the TLS context is made for the first server with TLS."""

    def __init__(self, tls: Callable[[], ssl.SSLContext] = ssl.create_default_context) -> None:
        self._make_tls = tls
        self._tls: ssl.SSLContext | None = None

    def at(self, host: str, port: int, *, secure: bool) -> ServerAddress:
        """Return the address of a server; `secure` means TLS."""
        if secure and self._tls is None:
            self._tls = self._make_tls()
        return ServerAddress(host, port, self._tls if secure else None)


class DialFailure(Enum):
    """The reason why there is no connection."""

    NO_ADDRESS = "no-address"
    NO_CONNECTION = "no-connection"
    NOT_TRUSTED = "not-trusted"
    """The server's TLS certificate is not trusted."""


class NotConnected(Exception):
    """No connection could be made, so nothing was sent."""

    def __init__(self, why: str, reason: DialFailure = DialFailure.NO_CONNECTION) -> None:
        super().__init__(why)
        self.reason = reason


class OutgoingConnection(asyncio.Protocol):
    """A connection that this process opens; a subclass implements the protocol."""

    __slots__ = ("_transport", "is_crowded", "usable")

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self.usable = True
        """Whether it is open; False after either side closed it."""
        self.is_crowded = False
        """Whether its descriptor is one of those reserved for files, so that it cannot be used."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport of a connection that was made."""
        self._transport = cast("asyncio.Transport", transport)
        self.is_crowded = is_reserved(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Record that the connection can no longer be used."""
        del exc
        self.usable = False
        self._transport = None

    def abort(self) -> None:
        """Close now; unsent bytes are dropped."""
        self.usable = False
        if self._transport is not None:
            self._transport.abort()


_NOT_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"})
"""The reasons that OpenSSL gives when the first bytes of a server are not a record of TLS."""
ConnectionT = TypeVar("ConnectionT", bound=OutgoingConnection)


async def reach(address: ServerAddress, connection: ConnectionT, within: Duration) -> ConnectionT:
    """Connect `connection` and return it; NotConnected, with its cause, if this fails or takes too long."""
    try:
        async with asyncio.timeout(within / SECOND):
            await _open(address, connection)
    except BaseException as why:
        connection.abort()
        # A TimeoutError and an ssl.SSLError are also an OSError; a UnicodeError is a name that cannot be one.
        if isinstance(why, OSError | UnicodeError):
            raise NotConnected(f"no connection to {address}: {sentence_of(why)}", unreached(why)) from why
        raise
    if not connection.usable:
        raise NotConnected(f"{address} closed the connection at once")
    if connection.is_crowded:
        connection.abort()
        raise NotConnected(f"no descriptor is left for a connection to {address}")
    return connection


def unreached(error: OSError | UnicodeError) -> DialFailure:
    """Return the reason for an error while connecting."""
    match error:
        case gaierror() | UnicodeError():
            return DialFailure.NO_ADDRESS
        case ssl.SSLCertVerificationError():
            return DialFailure.NOT_TRUSTED
        case _:
            return DialFailure.NO_CONNECTION


def sentence_of(error: OSError | UnicodeError) -> str:
    """Return the sentence of an error while connecting, with the usual cause if it is known."""
    if isinstance(error, ssl.SSLError) and error.reason in _NOT_TLS:
        return "what listens there does not use TLS; is its address http:// instead of https://?"
    return str(error) or "too slow"


async def _open(address: ServerAddress, connection: OutgoingConnection) -> None:
    loop = asyncio.get_running_loop()
    name = address.host if address.tls else None
    if address.unix is not None:
        await loop.create_unix_connection(
            lambda: connection, address.unix, ssl=address.tls, server_hostname=name
        )
    else:
        await loop.create_connection(
            lambda: connection, address.host, address.port, ssl=address.tls, server_hostname=name
        )
