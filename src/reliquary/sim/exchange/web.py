"""HTTP between sites: POSTs of one session go one after the other on one connection, several at a time.

    client --post--> [ flight | flight | flight ] --arrive--> server
                       ^ answered in this order, and all that is left fails when the connection breaks

What reached the server before a connection broke was done there, and nobody tells the client.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from reliquary.base.time import Duration
from reliquary.protocols.srmp.effects import EndSession, Post
from reliquary.protocols.srmp.events import Failure, PostArrived, PostEnded
from reliquary.sim.between.borders import Borders
from reliquary.sim.between.roads import Roads
from reliquary.sim.chance import SeededChance
from reliquary.sim.host import Host
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler

TURNED_AWAY = (500, 502, 503, 504, 404, 429)


@dataclass(slots=True, eq=False)
class _Connection:
    client: Process
    origin: str
    """The authority of the client's site."""
    server: str
    """The authority of the server."""
    last_arrival: int = 0
    last_answer: int = 0
    flights: list[_Flight] = field(default_factory=list)
    """POSTs whose answer has not come, in order."""
    stuck: bool = False
    """Nothing gets through any more, and nobody has noticed."""
    broken: bool = False


@dataclass(slots=True, eq=False)
class _Flight:
    post: Post
    connection: _Connection
    status: int = 0
    """The answer, on its way back."""
    process: Process | None = None
    """Who has it."""


class Web:
    """Carries POSTs between the hosts it knows."""

    def __init__(self, scheduler: Scheduler, chance: SeededChance, roads: Roads, patience: Duration) -> None:
        self._scheduler = scheduler
        self._chance = chance
        self._roads = roads
        self._patience = patience
        """So long a client waits for an answer."""
        self._hosts: dict[str, Host] = {}
        self._connections: dict[tuple[Process, int, int], _Connection] = {}
        self._borders = Borders(scheduler, chance, roads)

    def join(self, authority: str, host: Host) -> None:
        """Let a host be reached under this name."""
        self._hosts[authority] = host
        self._borders.add(authority)
        host.on_end.append(self._ended)

    # -- what a client asks for

    def post(self, client: Process, origin: str, post: Post) -> None:
        """Send; what comes of it is told to the client, if it still lives then."""
        key = (client, post.session, post.epoch)
        connection = self._connections.get(key)
        if connection is None or connection.broken:
            server = post.server.partition("://")[2]
            connection = self._connections[key] = _Connection(client, origin, server)
        flight = _Flight(post, connection)
        connection.flights.append(flight)
        if connection.stuck:
            return
        if self._chance.happens(self._roads.lost):
            self._stick(connection)
            return
        connection.last_arrival = max(connection.last_arrival + 1, self._scheduler.now + self._delay())
        self._scheduler.at(connection.last_arrival, partial(self._arrive, flight))
        if self._chance.happens(self._roads.cut):
            span = self._chance.between(1, 2 * self._roads.slowest)
            self._scheduler.after(span, partial(self._break, connection, Failure.LOST))

    def end_session(self, client: Process, ended: EndSession) -> None:
        """Close a connection; what is on it may arrive or not, and is not told of."""
        connection = self._connections.pop((client, ended.session, ended.epoch), None)
        if connection is not None:
            self._forget(connection)

    # -- on the way there

    def _arrive(self, flight: _Flight) -> None:
        connection, post = flight.connection, flight.post
        if connection.stuck:
            return
        if connection.broken and self._chance.happens(0.5):
            connection.stuck = True  # a broken connection delivers a beginning of what was on it
            return
        if self._borders.are_closed(connection.origin, connection.server):
            self._stick(connection)
            return
        if self._chance.happens(self._roads.repeated):
            span = self._chance.between(1, self._roads.latest_repeat)
            self._scheduler.after(span, partial(self._repeat, connection.server, post))
        host = self._hosts.get(connection.server)
        if host is None:
            self._break(connection, Failure.NO_ADDRESS)
        elif host.process is None or not host.process.alive:
            self._break(connection, Failure.NO_CONNECTION)
        elif not host.process.accepting:
            self._answer(flight, 503)
        elif self._chance.happens(self._roads.turned_away):
            self._answer(flight, self._chance.pick(TURNED_AWAY))
        else:
            flight.process = host.process
            self._submit(host.process, post, partial(self._answered, flight))

    def _repeat(self, server: str, post: Post) -> None:
        process = self._hosts[server].process if server in self._hosts else None
        if process is not None and process.accepting:
            self._submit(process, post, lambda *_: None)

    def _submit(self, process: Process, post: Post, answered: Any) -> None:
        process.submit(PostArrived(process.caller(answered), post.content_type, post.body))

    # -- on the way back

    def _answered(self, flight: _Flight, answer: Any, turn: int) -> None:
        del turn
        if self._chance.happens(self._roads.silenced):
            self._stick(flight.connection)
            return
        self._answer(flight, 502 if self._chance.happens(self._roads.disowned) else answer.status)

    def _answer(self, flight: _Flight, status: int) -> None:
        """Answers leave in the order of the requests."""
        flight.status = status
        connection = flight.connection
        if connection.stuck or connection.broken:
            return
        for each in connection.flights:
            if not each.status:
                break
            if each.status > 0:
                connection.last_answer = max(connection.last_answer + 1, self._scheduler.now + self._delay())
                self._scheduler.at(connection.last_answer, partial(self._deliver, each, each.status))
                each.status = -1

    def _deliver(self, flight: _Flight, status: int) -> None:
        connection = flight.connection
        if not connection.broken and connection.client.alive:
            connection.flights.remove(flight)
            post = flight.post
            connection.client.submit(PostEnded(post.session, post.epoch, post.lookup_id, status))

    # -- trouble

    def _delay(self) -> int:
        return self._chance.between(20, self._roads.slowest)

    def _stick(self, connection: _Connection) -> None:
        """Nothing comes through; the client finds out when its patience ends."""
        if not connection.stuck:
            connection.stuck = True
            self._scheduler.after(self._patience, partial(self._break, connection, Failure.TIMED_OUT))

    def _break(self, connection: _Connection, failure: Failure) -> None:
        """All that has no answer will have none."""
        if connection.broken:
            return
        flights = connection.flights
        self._forget(connection)
        if connection.client.alive:
            for flight in flights:
                post = flight.post
                connection.client.submit(PostEnded(post.session, post.epoch, post.lookup_id, failure=failure))

    def _forget(self, connection: _Connection) -> None:
        connection.broken = True
        connection.flights = []

    def _ended(self, process: Process) -> None:
        """A process has ended: its connections break, at both ends."""
        for key, connection in list(self._connections.items()):
            if connection.client is process:
                self._forget(connection)
                del self._connections[key]
            elif any(flight.process is process for flight in connection.flights):
                self._scheduler.after(self._delay(), partial(self._break, connection, Failure.LOST))
