"""Simulates DCE/RPC between sites: calls in their order on each connection, responses in the order of the
server.

    client                                         server
    CallServer --dial, bind--> ClientBound         a number for the connection, one for the association
               --request-----> ClientCalled
    ServerResponded <---------- Respond
    ServerFaulted <------------ RaiseFault
    EndLink ------------------> ConnectionLost of each connection, then AssociationLost; at its own time
    LinkLost                    at its own time too

A call that is lost before it arrives was never made; a lost response belongs to a call that was done. In
both cases the client gets only the event that its link is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final
from uuid import UUID

from reliquary.base.turn import Effect, Event
from reliquary.protocols.mqqp.codec.qm2qm import EndReceive, Request, Response, VersionReturned
from reliquary.protocols.mqqp.effects import CallServer, EndAssociation, EndLink, RaiseFault, Respond
from reliquary.protocols.mqqp.events import (
    AssociationLost,
    CallCancelled,
    ClientBound,
    ClientCalled,
    ConnectionLost,
    LinkLost,
    ServerFaulted,
    ServerResponded,
)
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal, user_sid
from reliquary.queueing.travel.failures import Failure
from reliquary.sim.chance import SeededChance
from reliquary.sim.history import Violation
from reliquary.sim.host import Host
from reliquary.sim.mqqp.connections import Call, Connection, Group, Link, Plan
from reliquary.sim.mqqp.faults import MqqpFaults
from reliquary.sim.mqqp.stubs import Stubs, interface_name
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.network import SiteNetwork
from reliquary.wire.rpc.statuses import FaultStatus

MANAGERS: Final = UUID(int=1)
"""The domain of the users of sites."""
PORTS: Final = {"qmcomm": 2103, "qm2qm": 2105}
"""The ports that every site listens on."""
OLD: Final = VersionReturned(5, 0, 645)
"""The version of a server that has neither RemoteQMStartReceive2 nor reads by LookupIdentifier."""
OLD_SHARE: Final = 0.15
LONGEST_READ: Final = 300_000
"""The time in microseconds within which most waiting reads end; faults may come before."""


class MqqpNetwork(SiteNetwork):
    """Carries calls between the hosts that have joined."""

    _faults: MqqpFaults

    def __init__(self, scheduler: Scheduler, chance: SeededChance, faults: MqqpFaults) -> None:
        super().__init__(scheduler, chance, faults)
        self._stubs = Stubs(chance)
        self.plans: Sequence[Plan] = tuple(Plan)
        """The plans of which one is drawn for each link."""
        self._links: dict[tuple[Process, int], Link] = {}
        self._accepted: dict[tuple[Process, int], Connection] = {}
        """Connections by the number at the server, without those that the server knows to be gone."""
        self._numbers: Counter[Process] = Counter()
        self._users: dict[str, Principal] = {}
        """The user of each site for its calls, if the site authenticates itself."""
        self._cut_later()

    def join(self, authority: str, host: Host) -> None:
        """Make a host reachable under this name, and let it call as a user of this name."""
        super().join(authority, host)
        self._users[authority] = Principal(user_sid(MANAGERS, authority), name=authority)

    def perform(self, site: str, process: Process, effect: Effect) -> None:
        """Perform an effect of the machine at a site, as a client or as a server."""
        match effect:
            case CallServer():
                self._call(site, process, effect)
            case EndLink():
                link = self._links.get((process, effect.link))
                if link is not None:
                    self._leave(link)
            case Respond():
                self._answer(process, effect, partial(self._responded, effect.response))
            case RaiseFault():
                self._answer(process, effect, partial(_faulted, effect.status))
            case EndAssociation():
                self._end_association(process, effect.association)
            case _:
                raise AssertionError(f"MQQP has no effect {effect}")

    # -- the client calls

    def _call(self, site: str, client: Process, asked: CallServer) -> None:
        interface = interface_name(asked.request)
        assert asked.port in (0, PORTS[interface]), (
            f"no endpoint mapper gave the port {asked.port} for {interface}"
        )
        link = self._links.get((client, asked.link))
        if link is None:
            plan, old = self._chance.pick(self.plans), self._chance.happens(OLD_SHARE)
            link = Link(client, site, asked.link, self._authority(asked.server), plan, old)
            link.by = self._chance.pick((ANONYMOUS, self._users[site]))
            self._links[client, asked.link] = link
        if link.over:  # the event of its end is on the way to the machine
            return
        group = link.group(interface)
        if group.usable:
            self._place(group, asked)
            return
        group.waiting.append(asked)
        if not group.connections:
            self._dial(group, interface)

    def _authority(self, server: str) -> str:
        """Return the site with the name of a computer."""
        return next((each for each in self._hosts if each.partition(".")[0] == server.casefold()), "")

    def _place(self, group: Group, asked: CallServer) -> None:
        """Put a call on a connection of its group, or open a connection for it."""
        interface = interface_name(asked.request)
        connection = group.place(interface) or self._dial(group, interface)
        connection.busy += 1
        if connection.usable:
            self._send(connection, asked)
        else:
            connection.queued.append(asked)

    def _dial(self, group: Group, interface: str) -> Connection:
        connection = Connection(group, interface)
        group.connections.append(connection)
        if self._chance.happens(self._faults.lost):
            self._stick(connection)
        else:
            self._after(self._delay(), self._bind, connection)
        return connection

    def _bind(self, connection: Connection) -> None:
        """Open a new connection at the server, or refuse it there."""
        link, group = connection.link, connection.group
        process = self._process_at(link.server)
        if link.over and self._chance.happens(0.5):  # the client has closed it before the server accepted it
            return
        if not link.server:
            self._lose(link, Failure.NO_ADDRESS)
        elif self._partitions.are_separate(link.origin, link.server):
            self._stick(connection)
        elif process is None or not process.accepting:
            self._lose(link, Failure.NO_CONNECTION)
        elif group.association and not group.is_open(process):
            self._lose(link, Failure.LOST)  # the server does not know this association group any more
        else:
            self._accept(connection, process)
            self._after(self._delay(), self._bound, connection)

    def _accept(self, connection: Connection, process: Process) -> None:
        group = connection.group
        if not group.association:
            self._numbers[process] += 1
            group.association = self._numbers[process]
        self._numbers[process] += 1
        connection.process, connection.number = process, self._numbers[process]
        self._accepted[process, connection.number] = connection
        self._tell_bound(connection, connection.interface)
        if connection.link.over:
            self._notice_later(connection)

    def _tell_bound(self, connection: Connection, interface: str) -> None:
        assert connection.process is not None
        connection.bound.add(interface)
        association, peer = connection.group.association, connection.link.origin
        connection.process.submit(ClientBound(association, connection.number, peer, interface))

    def _bound(self, connection: Connection) -> None:
        """Mark the connection as usable: the calls that waited for the bind are sent in their order."""
        group = connection.group
        if group.link.over or connection.stuck:
            return
        connection.usable = True
        for asked in connection.queued:
            self._send(connection, asked)
        connection.queued = []
        for asked in group.waiting:
            self._place(group, asked)
        group.waiting = []

    def _send(self, connection: Connection, asked: CallServer) -> None:
        connection.calls_made += 1
        call = Call(connection, asked, connection.calls_made)
        if connection.stuck:
            return
        is_end = isinstance(asked.request, EndReceive)
        if self._chance.happens(self._faults.lost + is_end * self._faults.end_lost):
            self._stick(connection)
            return
        connection.last_arrival = max(connection.last_arrival + 1, self._scheduler.now + self._delay())
        self._scheduler.at(connection.last_arrival, partial(self._arrive, call))
        if self._chance.happens(self._faults.cut):
            self._after(self._some_time(), self._cut, connection)
        if self._chance.happens(self._faults.cancelled):
            self._after(self._some_time(), self._cancel, call)

    def _some_time(self) -> int:
        longest = self._chance.pick((2 * self._faults.slowest, LONGEST_READ))
        return self._chance.between(1, longest)

    # -- the server is called, and answers

    def _arrive(self, call: Call) -> None:
        connection = call.connection
        link, process = connection.link, connection.process
        if connection.stuck:
            return
        if link.over and self._chance.happens(0.5):
            connection.stuck = True  # a connection that is closed delivers the first part of its data
            return
        if self._partitions.are_separate(link.origin, link.server):
            self._stick(connection)
        elif connection.gone or process is None or not process.accepting:
            self._after(self._delay(), self._lose, link, Failure.LOST)
        elif self._chance.happens(self._faults.rejected):
            status = self._chance.pick((FaultStatus.SERVER_TOO_BUSY, FaultStatus.PROTOCOL))
            self._return(call, partial(_faulted, status))
        else:
            self._submit(process, call)

    def _submit(self, process: Process, call: Call) -> None:
        connection = call.connection
        request: Request = call.asked.request
        interface = interface_name(request)
        if interface not in connection.bound:
            self._tell_bound(connection, interface)
        connection.open_calls[call.number] = call
        carried = self._stubs.carry_request(request)
        association, by = connection.group.association, connection.link.by
        process.submit(ClientCalled(association, connection.number, call.number, carried, by))

    def _cancel(self, call: Call) -> None:
        connection = call.connection
        waits = connection.open_calls.get(call.number) is call and not connection.gone
        if waits and not connection.stuck and connection.process is not None:
            call.forgotten = self._chance.happens(0.3)
            connection.process.submit(CallCancelled(connection.number, call.number, forgotten=call.forgotten))

    def _answer(self, server: Process, effect: Respond | RaiseFault, ending: Callable[[Call], Event]) -> None:
        """Answer a call once; a call whose connection was lost gets no answer."""
        connection = self._accepted.get((server, effect.connection))
        if connection is None:
            return
        call = connection.open_calls.pop(effect.call, None)
        if call is None:
            raise Violation(f"call {effect.call} of connection {effect.connection} is answered twice")
        if not call.forgotten:
            self._return(call, ending)

    def _return(self, call: Call, ending: Callable[[Call], Event]) -> None:
        connection = call.connection
        if connection.stuck:
            return
        if self._chance.happens(self._faults.answer_lost):
            self._stick(connection)
            return
        connection.last_answer = max(connection.last_answer + 1, self._scheduler.now + self._delay())
        self._scheduler.at(connection.last_answer, partial(self._deliver, call, ending(call)))

    def _responded(self, response: Response, call: Call) -> ServerResponded:
        if call.connection.link.old and isinstance(response, VersionReturned):
            response = OLD
        carried = self._stubs.carry_response(call.asked.request, response)
        return ServerResponded(call.asked.link, call.asked.call, carried)

    def _deliver(self, call: Call, event: Event) -> None:
        link = call.connection.link
        call.connection.busy -= 1
        if not link.over and link.client.alive:
            link.client.submit(event)

    def _end_association(self, server: Process, association: int) -> None:
        """Close all connections of a client at the server."""
        for connection in list(self._accepted.values()):
            if connection.process is server and connection.group.association == association:
                self._after(self._delay(), self._lose, connection.link, Failure.LOST)
                self._after(1, self._notice, connection)

    # -- trouble

    def _stick(self, connection: Connection) -> None:
        """Stop all data on a connection; both ends notice it later, each at its own time."""
        if not connection.stuck:
            connection.stuck = True
            self._after(self._faults.latest_notice, self._lose, connection.link, Failure.TIMED_OUT)

    def _cut_later(self) -> None:
        if self._faults.cut_every:
            self._after(self._chance.between(1, 2 * self._faults.cut_every), self._cut_any)

    def _cut_any(self) -> None:
        if self._faults.cut_every:
            if self._accepted:
                self._cut(self._chance.pick(tuple(self._accepted.values())))
            self._cut_later()

    def _cut(self, connection: Connection) -> None:
        """Break a connection; its client may notice it only at the next call."""
        if connection.process is None or connection.gone or connection.link.over:
            return
        self._notice_later(connection)
        if connection.busy or self._chance.happens(0.5):
            self._after(self._notice_span(), self._lose, connection.link, Failure.LOST)

    def _lose(self, link: Link, failure: Failure) -> None:
        """Notify the client that a link is lost."""
        if not link.over:
            self._leave(link)
            if link.client.alive:
                link.client.submit(LinkLost(link.number, failure, failure.value))

    def _leave(self, link: Link) -> None:
        """Stop the use of a link by its client; the server notices it for each connection."""
        if not link.over:
            link.over = True
            for group in link.groups.values():
                for connection in group.connections:
                    self._notice_later(connection)

    def _notice_later(self, connection: Connection) -> None:
        # the data of the connection arrives before its end
        moment = max(connection.last_arrival + 1, self._scheduler.now + self._notice_span())
        self._scheduler.at(moment, partial(self._notice, connection))

    def _notice_span(self) -> int:
        """Return the time after which one end notices that a connection is lost."""
        if self._chance.happens(self._faults.end_unnoticed):
            return self._chance.between(1, self._faults.latest_notice)
        return self._delay()

    def _notice(self, connection: Connection) -> None:
        """Notify the server that a connection was lost, and with the last one, that the client was lost."""
        process = connection.process
        if connection.gone or process is None:
            return
        connection.gone = True
        self._accepted.pop((process, connection.number), None)
        if not process.alive:
            return
        process.submit(ConnectionLost(connection.number))
        if not connection.group.is_open(process):
            process.submit(AssociationLost(connection.group.association))

    def _ended(self, process: Process) -> None:
        """Break the links of a process that has ended; links to it fail at the next call."""
        for key, link in list(self._links.items()):
            if link.client is process:
                self._leave(link)
                del self._links[key]
        for (server, number), connection in list(self._accepted.items()):
            if server is process:
                connection.gone = True
                del self._accepted[server, number]
                self._after(self._notice_span(), self._lose, connection.link, Failure.LOST)


def _faulted(status: int, call: Call) -> ServerFaulted:
    return ServerFaulted(call.asked.link, call.asked.call, status)
