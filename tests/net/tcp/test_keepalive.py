"""A silent peer is asked whether it is still there."""

from __future__ import annotations

import asyncio
import socket

from reliquary.net.tcp.keepalive import KEEPALIVE, keep_alive


class Transport(asyncio.Transport):
    """A transport of a socket, or of none."""

    def __init__(self, underlying: socket.socket | None) -> None:
        super().__init__({"socket": underlying})


def test_the_options_are_set_on_the_socket() -> None:
    with socket.socket() as underlying:
        keep_alive(Transport(underlying))
        assert [underlying.getsockopt(level, name) for level, name, _ in KEEPALIVE] == [
            value for *_, value in KEEPALIVE
        ]


def test_a_transport_without_a_socket_is_left_alone() -> None:
    keep_alive(Transport(None))
