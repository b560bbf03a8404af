"""Counts the written bytes of a connection that its peer has not received yet.

    our program | the transport's buffer | the kernel's send queue | the network | the peer's kernel
                |<--------------------- unsent ------------------->|

The kernel keeps what it sent until the peer's kernel acknowledges it.  Over a slow line it holds megabytes,
so the transport's buffer alone says nothing about when a request has left.
"""

from __future__ import annotations

import asyncio
import fcntl
import struct
import termios
from typing import Final

_COUNT: Final = struct.Struct("i")


def unsent_bytes(transport: asyncio.Transport) -> int:
    """Count the bytes that wait in the transport and in the kernel."""
    return transport.get_write_buffer_size() + _in_kernel(transport)


def _in_kernel(transport: asyncio.Transport) -> int:
    """Count the bytes in the send queue of the socket; 0 if the system does not report it."""
    socket = transport.get_extra_info("socket")
    if socket is None:
        return 0
    try:
        answer = fcntl.ioctl(socket.fileno(), termios.TIOCOUTQ, bytes(_COUNT.size))
    except (OSError, ValueError):  # a socket that was closed has no number
        return 0
    (count,) = _COUNT.unpack(answer)
    return max(int(count), 0)
