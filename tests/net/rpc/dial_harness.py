"""A small server of DCE/RPC for tests of our client: sockets around `ServerConnection`.

The test answers calls when it likes.  The server can be made to cut its answers into pieces, and to say that
it does not multiplex.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

from reliquary.net.tcp.dialing import ServerAddress
from reliquary.protocols.rpc.associations import Associations
from reliquary.protocols.rpc.events import Called, Closed
from reliquary.protocols.rpc.limits import Limits
from reliquary.protocols.rpc.security import SecurityContext
from reliquary.protocols.rpc.server import ServerConnection
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.ndr.encoding import Encoding
from reliquary.wire.rpc.syntaxes import QM2QM, QMCOMM, SyntaxId
from tests.net.http.harness import until

HOST: Final = "127.0.0.1"
BIND_ACK: Final = 12
MULTIPLEX: Final = 0x10
TYPE_AT, FLAGS_AT = 2, 3

Cut = Callable[[bytes], Iterator[bytes]]
Secure = Callable[[int], SecurityContext | None]


def whole(data: bytes) -> Iterator[bytes]:
    """Yield the data in one piece."""
    yield data


def no_user(auth_type: int) -> None:
    """Return no mechanism: every type of authentication is unknown."""
    del auth_type


def later(called: Called) -> None:
    """Do nothing: the test answers the call later."""
    del called


class Asked(NamedTuple):
    """A call that reached the server, and where it came in."""

    line: Line
    called: Called

    def respond(self, *stub: bytes) -> None:
        """Answer this call with these bytes."""
        self.line.respond(self.called.call, *stub)

    def fault(self, status: int) -> None:
        """Refuse this call with a status."""
        self.line.fault(self.called.call, status)


@dataclass
class RpcServer:
    """What the connections of one server have in common, and what they were asked."""

    interfaces: Collection[SyntaxId] = (QM2QM, QMCOMM)
    multiplexed: bool = True
    cut: Cut = whole
    secure: Secure = no_user
    answer: Callable[[Called], list[bytes] | None] = later
    """Returns the stub of a response, or None where the test answers later."""
    port: int = 0
    associations: Associations = field(default_factory=Associations)
    lines: list[Line] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    """Association groups whose last connection is gone."""

    def accept(self) -> Line:
        """Make the protocol object of a new connection."""
        line = Line(self)
        self.lines.append(line)
        return line

    @property
    def open(self) -> int:
        """The number of clients that are connected."""
        return sum(not line.gone for line in self.lines)

    @property
    def address(self) -> ServerAddress:
        """The address at which the server listens."""
        return ServerAddress(HOST, self.port)

    async def wait_for(self, count: int) -> None:
        """Return when this many calls have come."""
        await until(lambda: len(self.asked) >= count)


class Line(asyncio.Protocol):
    """One connection that the server accepted."""

    def __init__(self, server: RpcServer) -> None:
        self._server = server
        self._rpc = ServerConnection(
            server.interfaces, server.associations, Limits(), server.secure, str(server.port)
        )
        self.gone = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        events = self._rpc.receive(data)
        self._flush()
        for event in events:
            if isinstance(event, Called):
                self._server.asked.append(Asked(self, event))
                answer = self._server.answer(event)
                if answer is not None:
                    self.respond(event.call, *answer)
            elif isinstance(event, Closed):
                self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.gone = True
        ended = self._rpc.lost()
        if ended:
            self._server.ended.append(ended)

    def respond(self, call: int, *stub: bytes) -> None:
        """Answer a call with these bytes."""
        self._rpc.respond(call, stub)
        self._flush()

    def fault(self, call: int, status: int) -> None:
        """Refuse a call with a status."""
        self._rpc.fault(call, status)
        self._flush()

    def hang_up(self) -> None:
        self._transport.abort()

    def say(self, data: bytes) -> None:
        """Send bytes that are no answer to anything."""
        self._transport.write(data)

    def _flush(self) -> None:
        for part in self._rpc.output():
            shown = part if self._server.multiplexed else alone(part)
            for piece in self._server.cut(shown):
                self._transport.write(piece)


def alone(part: bytes) -> bytes:
    """Return a bind_ack that allows one call at a time, and any other PDU as it is."""
    if part[TYPE_AT] != BIND_ACK:
        return part
    return part[:FLAGS_AT] + bytes((part[FLAGS_AT] & ~MULTIPLEX,)) + part[FLAGS_AT + 1 :]


@asynccontextmanager
async def serving(server: RpcServer) -> AsyncIterator[RpcServer]:
    """Listen at a free port of this computer while the block runs; no client is left behind."""
    listener = await asyncio.get_running_loop().create_server(server.accept, HOST, server.port)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
        await until(lambda: not server.open)
    finally:
        listener.close()
        for line in server.lines:
            line.hang_up()


@dataclass
class Notes:
    """A caller that notes what became of its calls."""

    returns: dict[int, bytes] = field(default_factory=dict)
    encodings: set[Encoding] = field(default_factory=set)
    faults: dict[int, int] = field(default_factory=dict)
    losses: list[tuple[Failure, str]] = field(default_factory=list)

    def returned(self, call: int, stub: bytes, encoding: Encoding) -> None:
        """Keep the answer to a call."""
        self.returns[call] = bytes(stub)
        self.encodings.add(encoding)

    def faulted(self, call: int, status: int) -> None:
        """Keep the status of a refused call."""
        self.faults[call] = status

    def lost(self, failure: Failure, why: str) -> None:
        """Keep the reason why the connection ended."""
        self.losses.append((failure, why))
