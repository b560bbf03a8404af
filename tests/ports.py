"""Ports for servers that a test has to find again: no other process of any test run gets one of them.

    1024 ... 10240 [ block ][ block ][ block ] ... 32768 ... 60999
                     |                               the kernel chooses here for port 0 and for connections
                     the first port is bound while the process lives: it claims the block

A port that was bound with 0 and closed again can be given to any connection before the server binds it.
A port of a block cannot: the kernel does not choose it, and other processes that ask here claim other blocks.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice, product
from pathlib import Path

FIRST = 10_240
SIZE = 128
CHOSEN_BY_THE_KERNEL = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOOPBACK = ("127.0.0.1",)

_claims: list[socket.socket] = []


def free_ports(count: int, hosts: Sequence[str] = LOOPBACK) -> list[int]:
    """Return ports that no process has, on any of these addresses, and that no other test gets here."""
    return list(islice((port for port in _PORTS if _is_free(port, hosts)), count))


def free_port(hosts: Sequence[str] = LOOPBACK) -> int:
    """Return one port of those that `free_ports` finds."""
    return free_ports(1, hosts)[0]


def _ports() -> Iterator[int]:
    """Yield the ports of one claimed block after the other, none of them twice."""
    end = int(CHOSEN_BY_THE_KERNEL.read_text().split()[0])
    for first in range(FIRST, end - SIZE, SIZE):
        if _claimed(first):
            yield from range(first + 1, first + SIZE)
    raise AssertionError(f"all ports from {FIRST} to {end} are in use by other test runs")


def _claimed(first: int) -> bool:
    """Return whether this process has the block from now on: its end, however it comes, gives it back."""
    claim = socket.socket()
    try:
        claim.bind((LOOPBACK[0], first))
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True


def _is_free(port: int, hosts: Sequence[str]) -> bool:
    with ExitStack() as stack:
        for host, kind in product(hosts, (socket.SOCK_STREAM, socket.SOCK_DGRAM)):
            try:
                stack.enter_context(socket.socket(type=kind)).bind((host, port))
            except OSError:
                return False
    return True


_PORTS = _ports()
