"""Implements the listener for DCE/RPC: an acceptor whose connections pass calls to services.

listen            a port where the services are called, and the management interface
listen_as_mapper  a port, 135 everywhere, where clients ask for the other ports
called ... respond, fault
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from reliquary.base.time import Duration, seconds
from reliquary.net.clock import RealClock
from reliquary.net.identity.failures import Failures
from reliquary.net.identity.users import Users
from reliquary.net.rpc.connection import RpcConnection
from reliquary.net.rpc.guesses import Guesses
from reliquary.net.rpc.ntlm import MECHANISMS, ntlm_server
from reliquary.net.rpc.service import RpcService
from reliquary.net.rpc.shared import RpcShared
from reliquary.net.tcp.acceptor import Acceptor
from reliquary.net.tcp.budget import Budget
from reliquary.protocols.rpc.epm import Endpoint
from reliquary.protocols.rpc.limits import Limits
from reliquary.wire.rpc.syntaxes import SyntaxId

IDLE_TIME: Final = seconds(600)
BIND_TIME: Final = seconds(30)
MOST_STUB: Final = 4 * 1024 * 1024
"""The most bytes of the stub of a request, as [MS-RPCE] 3.3.3.5.8 recommends; responses may be longer."""


class RpcClient(NamedTuple):
    """A connection in the list for administrators."""

    connection: int
    peer: str
    association: int
    """The association; 0 for a client that has bound nothing yet."""
    outstanding: int
    """Calls that have no answer yet."""


def _keeps_nothing(association: int) -> bool:
    del association
    return False


class RpcListener:
    """Accepts connections and passes each call to the service of its interface."""

    def __init__(
        self,
        services: Mapping[SyntaxId, RpcService],
        *,
        users: Users,
        connections: int = 1024,
        contexts: int = 32,
        calls: int = 64,
        idle_time: Duration = IDLE_TIME,
        bind_time: Duration = BIND_TIME,
        keeps: Callable[[int], bool] = _keeps_nothing,
        clock: RealClock | None = None,
        budget: Budget | None = None,
        guesses: Guesses | None = None,
    ) -> None:
        """`keeps` says whether an association has something open, so that it may be idle for longer.

        `budget` and `guesses` are for all listeners of a server together.
        """
        clock = clock or RealClock()
        guesses = guesses or Guesses(Failures(clock.monotonic))
        self._shared = RpcShared(
            services,
            connections=connections,
            idle_time=idle_time,
            bind_time=bind_time,
            limits=Limits(contexts=contexts, calls=calls, stub=MOST_STUB),
            secure=lambda client: ntlm_server(users, partial(guesses.judge, client)),
            keeps=keeps,
            principals=dict.fromkeys(MECHANISMS, socket.gethostname()),
            now=clock.monotonic(),
            budget=budget,
        )
        self._acceptor = Acceptor(
            lambda: RpcConnection(self._shared), self._shared, clock=clock, handshake_time=bind_time
        )
        self.pause = self._acceptor.pause
        """Stop reading from all clients, because the engine is overloaded."""
        self.resume = self._acceptor.resume
        self.stop_accepting = self._acceptor.stop_accepting
        """Accept no new connections; open ones continue."""
        self.drain = self._acceptor.drain
        """Answer the pending calls, close, and return how many connections had to be cut."""
        self.sweep = self._acceptor.sweep

    async def listen(
        self, host: str = "127.0.0.1", port: int = 0, interfaces: Collection[SyntaxId] | None = None
    ) -> int:
        """Accept calls at an address and return its port (QP-002); OSError if it cannot be bound.

        All interfaces are served there; the endpoint mapper reports `interfaces`, or all.
        """
        _, bound = await self._acceptor.listen(host, port)
        named = self._shared.services if interfaces is None else interfaces
        self._shared.endpoints += [Endpoint(interface, bound) for interface in named]
        return bound

    async def listen_as_mapper(self, host: str = "127.0.0.1", port: int = 135) -> int:
        """Serve the endpoint mapper at an address (QP-004), and return its port."""
        _, bound = await self._acceptor.listen(host, port)
        self._shared.mapper_ports.add(bound)
        return bound

    def respond(self, connection: int, call: int, stub: Sequence[bytes | memoryview]) -> None:
        """Answer a call with a stub in parts; a call of a lost client is ignored."""
        found = self._shared.connections.get(connection)
        if found is not None:
            found.respond(call, stub)

    def fault(self, connection: int, call: int, status: int) -> None:
        """Answer a call with a status; a call of a lost client is ignored."""
        found = self._shared.connections.get(connection)
        if found is not None:
            found.fault(call, status)

    def end_association(self, association: int) -> None:
        """Cut all connections of a client; its services are notified of their loss."""
        for each in list(self._shared.connections.values()):
            if each.association == association:
                each.abort()

    @property
    def connections(self) -> int:
        """The number of clients that are connected."""
        return self._acceptor.connections

    @property
    def associations(self) -> int:
        """The number of groups of connections."""
        return len(self._shared.associations)

    @property
    def calls(self) -> int:
        """The number of calls that have come."""
        return self._shared.calls

    @property
    def refused(self) -> int:
        """The number of connections closed because the client broke the protocol, or because there
        were too many.
        """
        return self._shared.refused

    def clients(self) -> list[RpcClient]:
        """Return all open connections."""
        return [
            RpcClient(each.number, each.host, each.association, each.outstanding)
            for each in self._shared.connections.values()
        ]
