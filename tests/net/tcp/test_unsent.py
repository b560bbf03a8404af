"""Tests of the number of bytes that a peer has not got yet."""

from __future__ import annotations

import asyncio
import socket

import pytest

from reliquary.net.tcp.unsent import unsent_bytes
from tests.net.http.harness import play, until

LARGE = 16 << 20


def test_what_the_peer_does_not_take_is_unsent_and_what_it_takes_is_not() -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.setblocking(False)
            transport, _ = await loop.create_connection(asyncio.Protocol, *listening.getsockname())
            accepted, _ = await loop.sock_accept(listening)
            assert unsent_bytes(transport) == 0
            transport.write(b"x" * LARGE)
            assert 0 < unsent_bytes(transport) <= LARGE
            taken = 0
            while taken < LARGE:
                taken += len(await loop.sock_recv(accepted, 1 << 20))
            await until(lambda: unsent_bytes(transport) == 0)
            transport.abort()
            accepted.close()
            await until(transport.is_closing)

    play(scene)


class Silent(asyncio.Transport):
    """A transport whose socket says nothing."""

    def __init__(self, end: socket.socket | None) -> None:
        super().__init__({"socket": end})

    def get_write_buffer_size(self) -> int:
        return 7


@pytest.mark.parametrize("closed", [True, False])
def test_where_the_system_does_not_say_it_the_buffer_alone_counts(closed: bool) -> None:
    one, other = socket.socketpair()
    one.close()
    other.close()
    assert unsent_bytes(Silent(one if closed else None)) == 7
