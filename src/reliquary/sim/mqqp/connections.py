"""Describes links, connections and calls of the simulated network, with the view of each end.

client process --Link--> [ Connection: qmcomm ] --accepted under a number--> server process
                         [ Connection: qm2qm  ]      all of one association
                         [ Connection: qm2qm  ]      where a connection takes one call at a time
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from reliquary.protocols.mqqp.effects import CallServer
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.sim.process import Process


class Plan(Enum):
    """The use of connections and associations by a link; a client and a server agree on it when they bind."""

    ONE = "one connection for both interfaces"
    EACH = "one connection for each interface, in one association"
    APART = "one connection and one association for each interface"
    MANY = "a connection for each call that has no answer, and one association for each interface"


@dataclass(slots=True, eq=False)
class Call:
    """A call on its way to the server, at the server, or on its way back."""

    connection: Connection
    asked: CallServer
    number: int
    """The call_id of the call on its connection."""
    forgotten: bool = False
    """Whether the client has informed the server that it wants no answer."""


@dataclass(slots=True, eq=False)
class Connection:
    """One simulated TCP connection of an association group."""

    group: Group
    interface: str
    """The interface for which it was opened."""
    bound: set[str] = field(default_factory=set)
    """The interfaces for which the server has received a bind."""
    process: Process | None = None
    """The process of the server that has accepted it."""
    number: int = 0
    """The number of the connection in that process."""
    usable: bool = False
    """Whether the client has the answer to its bind."""
    stuck: bool = False
    """Whether no data passes any more, which neither side has noticed."""
    gone: bool = False
    """Whether the server has noticed the end, or has ended it."""
    last_arrival: int = 0
    last_answer: int = 0
    calls_made: int = 0
    open_calls: dict[int, Call] = field(default_factory=dict)
    """Calls that the server has not answered, by their numbers."""
    busy: int = 0
    """The number of calls without an answer, from the view of the client."""
    queued: list[CallServer] = field(default_factory=list)
    """Calls that wait for the bind."""

    @property
    def link(self) -> Link:
        """Return the link of the connection."""
        return self.group.link


@dataclass(slots=True, eq=False)
class Group:
    """Connections of a link that share context handles: one association of the server."""

    link: Link
    association: int = 0
    """The number of the group in the process of the server; 0 before the first bind."""
    connections: list[Connection] = field(default_factory=list)
    waiting: list[CallServer] = field(default_factory=list)
    """Calls that wait for the first connection."""

    @property
    def usable(self) -> bool:
        """Return whether a connection is usable, so that the association is known."""
        return any(each.usable for each in self.connections)

    def is_open(self, process: Process) -> bool:
        """Return whether a process of the server has a connection of the group that is not gone."""
        return any(each.process is process and not each.gone for each in self.connections)

    def place(self, interface: str) -> Connection | None:
        """Return the connection for a call of this interface; None if one has to be opened."""
        plan = self.link.plan
        for each in self.connections:
            if plan is Plan.ONE:
                return each
            if each.interface == interface and (plan is not Plan.MANY or not each.busy):
                return each
        return None


@dataclass(slots=True, eq=False)
class Link:
    """The connections of a client to a server."""

    client: Process
    origin: str
    """The authority of the client's site."""
    number: int
    server: str
    """The authority of the server's site; empty if no site has the name that was called."""
    plan: Plan
    old: bool = False
    """Whether the server answers like one of an early release, which lacks methods."""
    by: Principal = ANONYMOUS
    groups: dict[str, Group] = field(default_factory=dict)
    """The groups by their interface, or all of them under one name."""
    over: bool = False
    """Whether the client has ended the link, or has noticed that it is lost."""

    def group(self, interface: str) -> Group:
        """Return the group that the calls of an interface belong to."""
        name = interface if self.plan in (Plan.APART, Plan.MANY) else ""
        return self.groups.setdefault(name, Group(self))
