"""Reserves descriptors of this process, so that the store always finds one.

    0 .................................................... limit - reserve ....... limit
    | files, connections of all kinds | the control plane, too | files alone            |

RocksDB opens a file whenever a log is full, and a server that cannot open one ends.  A new descriptor
has the lowest free number; so a connection with a number in the reserve shows that all lower ones are
in use, and it is closed.  This holds for all listeners, and for outgoing connections.
"""

from __future__ import annotations

import asyncio
import resource
from contextlib import suppress
from typing import Final

RESERVE: Final = 640
"""The number of files that the store may have open, and some for logs, backups and exports."""
SPARE: Final = 32
"""The number of descriptors that ordinary clients leave to the control plane, for an administrator.
"""
MOST: Final = 1_048_576
"""The highest limit that is requested, because a connection needs memory too."""


def raise_limit() -> None:
    """Raise the limit of descriptors as far as the system allows: shells and services often begin
    with 1,024.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # a system may refuse, and the limit stays
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def last_for_connections(limit: int, spare: int = 0) -> int:
    """Return the highest descriptor of a connection that leaves `spare` ones for others.

    >>> last_for_connections(1024), last_for_connections(20_000)
    (511, 19359)
    """
    return limit - min(RESERVE, limit // 2) - 1 - spare


def is_reserved(transport: asyncio.BaseTransport, spare: int = 0) -> bool:
    """Return whether a new connection has one of the descriptors that are kept for files, or for others."""
    socket = transport.get_extra_info("socket")
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if socket is None or limit == resource.RLIM_INFINITY:
        return False
    number: int = socket.fileno()
    return number > last_for_connections(limit, spare)
