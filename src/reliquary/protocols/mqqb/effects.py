"""Defines what the network performs for MQQB after the facts are on disk.

The order of packets is part of the protocol: the n-th user packet of a session has number n (3.1.1.4).
Effects of one turn may wait for the disk while those of a later turn do not.  So every effect on an
open session has a serial: the network performs serial 1, then 2, then 3, and keeps an early one until
its turn (G-59).

    SendPackets    a packet reflects writes of this turn or an earlier one: it waits for the sync
    SendStored     everything in the packets was on disk before this turn: they leave at once
"""

from __future__ import annotations

from reliquary.base.turn import Effect


class Dial(Effect, frozen=True):
    """Open a connection; the response is `Dialled` or `DialFailed`."""

    session: int
    """A positive number that the machine has not used before."""
    host: str
    """A host name, or an IP address without brackets."""
    port: int
    addresses: tuple[str, ...] = ()
    """The addresses that are left to try; if there are none, the network resolves `host` (3.1.6.1)."""
    ping: bytes = b""
    """A ping request that the network sends first to each address, or nothing (3.1.5.2.2).

    The network waits one second for a response that `pings.response_to` accepts, then tries the next address.
    """


class SendPackets(Effect, frozen=True):
    """Write these packets to a session, one after another."""

    session: int
    serial: int
    """The position of this effect among those of its session, from 1."""
    packets: tuple[bytes, ...]


class SendStored(SendPackets, frozen=True):
    """Write packets of messages that were on disk before this turn; they do not wait for its sync."""

    waits_for_disk = False


class HangUp(Effect, frozen=True):
    """Close the connection of a session after the packets before it are written; no event follows.

    It has no serial in a session whose connection was not open yet: the network then gives up dialling.
    """

    session: int
    serial: int = 0


class SendPing(Effect, frozen=True):
    """Send a datagram from the ping port, as the response to a ping request."""

    address: str
    port: int
    data: bytes
