"""Asks the endpoint mapper of a computer for the port of an interface: ept_map, C706 appendix O.

Many servers have no reachable mapper, and there are well-known ports, so a mapper that refuses or takes
long is ignored.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from reliquary.base.time import SECOND, Duration, seconds
from reliquary.net.rpc.dialing import Association, Call, DialLimits
from reliquary.net.rpc.outgoing import Traffic
from reliquary.net.tcp.dialing import ServerAddress
from reliquary.protocols.rpc.client import ClientConnection
from reliquary.protocols.rpc.epm import EPT_MAP, map_request, read_map_response
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.ndr.encoding import NDR20, Encoding
from reliquary.wire.ndr.reader import NdrFault
from reliquary.wire.rpc.syntaxes import EPM, SyntaxId

PORT: Final = 135
WITHIN: Final = seconds(2)
LIMITS: Final = DialLimits(connections=1, connect_time=WITHIN, bind_time=WITHIN)


class _Question:
    """A caller of one call, whose answer is a port."""

    def __init__(self) -> None:
        self.port: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def returned(self, call: int, stub: bytes, encoding: Encoding) -> None:
        """Take the port from the answer of the mapper."""
        del call
        try:
            towers = read_map_response(stub, encoding)
        except NdrFault:
            towers = []
        self._settle(next((tower.port for tower in towers if tower.port), 0))

    def faulted(self, call: int, status: int) -> None:
        """Record that the mapper refuses to answer."""
        del call, status
        self._settle(0)

    def lost(self, failure: Failure, why: str) -> None:
        """Record that there is no mapper, or that it closed the connection."""
        del failure, why
        self._settle(0)

    def _settle(self, port: int) -> None:
        if not self.port.done():
            self.port.set_result(port)


async def ask_mapper(host: str, interface: SyntaxId, *, port: int = PORT, within: Duration = WITHIN) -> int:
    """Return the port of an interface; 0 where the host's mapper knows none, or does not answer in time."""
    question = _Question()
    association = Association(
        lambda: _found(ServerAddress(host, port)),
        lambda group: ClientConnection(EPM, association=group, encodings=(NDR20,)),
        question,
        LIMITS,
        Traffic(),
    )
    try:
        association.call(Call(1, EPT_MAP, lambda _: [map_request(interface)]))
        with suppress(TimeoutError):
            async with asyncio.timeout(within / SECOND):
                return await question.port
        return 0
    finally:
        association.close()


async def _found(address: ServerAddress) -> ServerAddress:
    return address
