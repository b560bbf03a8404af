"""A connection to a server: by name, over TLS, or through a unix socket, within a time."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from socket import gaierror
from typing import TypeVar
from urllib.parse import urlsplit

from reliquary.base.time import SECOND, Duration, seconds
from reliquary.net.http.client_connection import ClientConnection
from reliquary.net.http.failures import ConnectFailed, ConnectionLost


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server is, and how it is reached."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    unix: str | None = None
    """A socket in the file system, in place of host and port."""

    def __str__(self) -> str:
        return self.unix or (f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}")


class Places:
    """Where servers are; what is believed of those behind TLS is asked when the first one is met."""

    def __init__(self, tls: Callable[[], ssl.SSLContext] = ssl.create_default_context) -> None:
        self._make_tls = tls
        self._tls: ssl.SSLContext | None = None

    def find(self, server: str) -> Place:
        """Where `http://host[:port]` is; ValueError when that is no such address."""
        parts = urlsplit(server)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{server!r} is not an address such as http://host:port")
        is_secure = parts.scheme == "https"
        if is_secure and self._tls is None:
            self._tls = self._make_tls()
        return Place(
            parts.hostname, parts.port or (443 if is_secure else 80), self._tls if is_secure else None
        )


class Unreached(Enum):
    """Why there is no connection."""

    NO_ADDRESS = "no-address"
    NO_CONNECTION = "no-connection"
    NOT_TRUSTED = "not-trusted"
    """TLS: the certificate is not one that we accept."""


def unreached(failed: ConnectFailed) -> Unreached:
    """Which kind of no connection it is."""
    match failed.__cause__:
        case gaierror() | UnicodeError():
            return Unreached.NO_ADDRESS
        case ssl.SSLCertVerificationError():
            return Unreached.NOT_TRUSTED
        case _:
            return Unreached.NO_CONNECTION


@dataclass(frozen=True, slots=True)
class DialLimits:
    """What a connection may cost."""

    head_bytes: int = 64 * 1024
    """The head of an answer, as far as it does not come in one read."""
    body_bytes: int = 64 * 1024 * 1024
    connect_time: Duration = field(default=seconds(10))


async def dial(
    place: Place, limits: DialLimits, on_lost: Callable[[ClientConnection], None]
) -> ClientConnection:
    """Connect; ConnectFailed, with its cause, when it cannot be done in time."""
    connection = ClientConnection(limits.head_bytes, limits.body_bytes, on_lost)
    return await reach(place, connection, limits.connect_time)


Kind = TypeVar("Kind", bound=ClientConnection)


async def reach(place: Place, connection: Kind, within: Duration) -> Kind:
    """Connect, as `dial` does, with a connection that is already made up."""
    try:
        async with asyncio.timeout(within / SECOND):
            await _open(place, connection)
    except BaseException as why:
        connection.cut(ConnectionLost("not connected", began=False))
        # A TimeoutError and an ssl.SSLError are also an OSError; a UnicodeError is a name that cannot be one.
        if isinstance(why, OSError | UnicodeError):
            raise ConnectFailed(f"no connection to {place}: {str(why) or 'too slow'}") from why
        raise
    if not connection.usable:
        raise ConnectFailed(f"{place} closed the connection at once")
    return connection


async def _open(place: Place, connection: ClientConnection) -> None:
    loop = asyncio.get_running_loop()
    name = place.host if place.tls else None
    if place.unix is not None:
        await loop.create_unix_connection(lambda: connection, place.unix, ssl=place.tls, server_hostname=name)
    else:
        await loop.create_connection(
            lambda: connection, place.host, place.port, ssl=place.tls, server_hostname=name
        )
