"""Holds the state that the connections of one RPC listener share: services, limits, associations, counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from reliquary.base.time import Duration
from reliquary.net.rpc.service import RpcService
from reliquary.net.tcp.budget import Budget
from reliquary.net.tcp.connections import Connections
from reliquary.protocols.rpc.associations import Associations
from reliquary.protocols.rpc.epm import Endpoint
from reliquary.protocols.rpc.limits import Limits
from reliquary.protocols.rpc.mgmt import Server, Statistics
from reliquary.protocols.rpc.security import SecurityContext
from reliquary.wire.rpc.syntaxes import EPM, MGMT, SyntaxId

if TYPE_CHECKING:
    from reliquary.net.rpc.connection import RpcConnection


class RpcShared(Connections["RpcConnection"]):
    """The part of a listener that its connections see."""

    __slots__ = (
        "associations",
        "bind_time",
        "calls",
        "endpoints",
        "keeps",
        "limits",
        "mapper_ports",
        "principals",
        "reads",
        "refused",
        "secure",
        "services",
        "writes",
    )

    connections: dict[int, RpcConnection]

    def __init__(
        self,
        services: Mapping[SyntaxId, RpcService],
        *,
        connections: int,
        idle_time: Duration,
        bind_time: Duration,
        limits: Limits,
        secure: Callable[[RpcConnection], Callable[[int], SecurityContext | None]],
        keeps: Callable[[int], bool],
        principals: Mapping[int, str],
        now: int,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(connections, idle_time, now, budget=budget)
        self.services = services
        self.limits = limits
        self.bind_time = bind_time
        """The time that a client has from connecting to its first bind."""
        self.secure = secure
        """A function for the makers of security contexts of a connection, by authentication type."""
        self.keeps = keeps
        """Whether an association has something open, so that its connections may be idle for long."""
        self.principals = principals
        self.associations = Associations()
        self.endpoints: list[Endpoint] = []
        """The endpoints that the endpoint mapper returns."""
        self.mapper_ports: set[int] = set()
        self.calls = 0
        """The number of calls that all connections brought."""
        self.refused = 0
        """The number of connections closed because the client broke the protocol, or because there
        were too many.
        """
        self.reads = 0
        self.writes = 0

    def interfaces_at(self, port: int) -> tuple[SyntaxId, ...]:
        """Return the interfaces that a client of a local port may bind."""
        return (EPM, MGMT) if port in self.mapper_ports else (*self.services, MGMT)

    def server_at(self, port: int) -> Server:
        """Return the server description for the management interface at a local port."""
        statistics = Statistics(calls_in=self.calls, packets_in=self.reads, packets_out=self.writes)
        return Server(self.interfaces_at(port), statistics, self.principals)
