"""Opens connections to HTTP servers: it finds the address in a URL, and connects to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from reliquary.base.time import Duration, seconds
from reliquary.net.http.client_connection import ClientConnection
from reliquary.net.http.failures import ConnectFailed, Failure
from reliquary.net.tcp.dialing import NotConnected, ServerAddress, ServerAddresses, reach


def server_address(url: str, addresses: ServerAddresses) -> ServerAddress:
    """Return the address of the server of `http://host[:port]...`; ValueError for another form of URL."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not an address such as http://host:port")
    is_secure = parts.scheme == "https"
    return addresses.at(parts.hostname, parts.port or (443 if is_secure else 80), secure=is_secure)


@dataclass(frozen=True, slots=True)
class DialLimits:
    """The limits of a connection."""

    head_bytes: int = 64 * 1024
    """The limit of the head of an answer that does not come in one read."""
    body_bytes: int = 64 * 1024 * 1024
    connect_time: Duration = field(default=seconds(10))


async def dial(
    address: ServerAddress, limits: DialLimits, on_lost: Callable[[ClientConnection], None]
) -> ClientConnection:
    """Connect and return the connection; ConnectFailed, with its cause, if this is not possible in time."""
    connection = ClientConnection(limits.head_bytes, limits.body_bytes, on_lost)
    try:
        return await reach(address, connection, limits.connect_time)
    except NotConnected as failed:
        raise ConnectFailed(str(failed), Failure(failed.reason.value)) from failed
