"""A connection to a server: by name, over TLS, or through a unix socket, within a time."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field

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
    try:
        async with asyncio.timeout(limits.connect_time / SECOND):
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
