"""Sends and answers pings, [MS-MQQB] 2.1.2: datagrams that ask whether a session would be accepted.

ask           a request from a port of its own, and one second for the response (QB-089, QB-144)
PingService   requests that come to our ping port become events, and their responses leave from it (QB-090)
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from reliquary.net.mqqb.shared import SessionShared, plain_address
from reliquary.protocols.mqqb.effects import SendPing
from reliquary.protocols.mqqb.events import PingArrived
from reliquary.protocols.mqqb.pings import response_to
from reliquary.wire.packet.ping import decode_ping

RESPONSE_SECONDS: Final = 1.0
"""The time for a response: the Ping Response Timer of 3.1.2.9."""


class PingService(asyncio.DatagramProtocol):
    """The port at which this server takes pings and from which it answers them."""

    def __init__(self, shared: SessionShared) -> None:
        self._shared = shared
        self._transport: asyncio.DatagramTransport | None = None

    async def listen(self, host: str, port: int) -> int:
        """Accept pings at an address and return its port; OSError if it cannot be bound."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=(host, port))
        bound: int = self._transport.get_extra_info("sockname")[1]
        return bound

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Hand a ping to the machine; other datagrams, and all datagrams while the engine is
        overloaded, are dropped.
        """
        address = plain_address(addr[0])
        if self._shared.paused or not self._shared.admits(address) or decode_ping(data) is None:  # QB-085
            return
        self._shared.submit(PingArrived(address, addr[1], data))

    def answer(self, effect: SendPing) -> None:
        """Send a response to the address and the port of its request."""
        if self._transport is not None:
            self._transport.sendto(effect.data, (effect.address, effect.port))

    def stop(self) -> None:
        """Close the port; pings that come later are not answered."""
        if self._transport is not None:
            self._transport.close()
            self._transport = None


class _Question(asyncio.DatagramProtocol):
    """One request that waits for its response."""

    def __init__(self, request: bytes, answered: asyncio.Future[bool]) -> None:
        self._request = request
        self._answered = answered

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Take the response to this request; other datagrams are ignored (QB-087, QB-313)."""
        del addr
        accepted = response_to(self._request, data)
        if accepted is not None and not self._answered.done():
            self._answered.set_result(accepted)

    def error_received(self, exc: Exception) -> None:
        """Record that no program listens at the port."""
        del exc
        if not self._answered.done():
            self._answered.set_result(False)


async def ask(address: str, port: int, request: bytes) -> bool:
    """Send a ping and return whether the peer would accept a session; False without a response (QB-302)."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[bool] = loop.create_future()
    try:
        transport, _ = await loop.create_datagram_endpoint(
            lambda: _Question(request, answered), remote_addr=(address, port)
        )
    except OSError:
        return False
    try:
        transport.sendto(request)
        with suppress(TimeoutError):
            return await asyncio.wait_for(answered, RESPONSE_SECONDS)
        return False
    finally:
        transport.close()
