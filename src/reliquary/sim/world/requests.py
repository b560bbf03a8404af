"""Simulates requests between sites: requests of one connection arrive in order, and several may be
outstanding.

    client --perform--> [ request | request | request ] --arrive--> server
                          ^ answered in this order; all that is left fails when the connection breaks

Requests that reached the server before a connection broke were done there, and the client gets no answer.
Where requests may be overtaken, they arrive in any order; their answers leave in order nevertheless.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, Final

from reliquary.base.time import Duration
from reliquary.base.turn import Effect, Event
from reliquary.sim.chance import SeededChance
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.network import SiteNetwork
from reliquary.sim.world.network_faults import NetworkFaults

REJECTIONS: Final = (500, 502, 503, 504, 404, 429)
BAD_GATEWAY: Final = 502
UNAVAILABLE: Final = 503


class Failure(Enum):
    """The reason why a request has no answer."""

    NO_ADDRESS = "no site has this name"
    NO_CONNECTION = "no process runs there"
    LOST = "the connection broke"
    TIMED_OUT = "no answer came in time"


@dataclass(frozen=True, slots=True)
class Ending:
    """The result of a request for its client: exactly one of these fields is set."""

    answer: Any = None
    """The reply of the machine of the server."""
    status: int = 0
    """The HTTP status of a proxy, or of a server that is about to stop."""
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """The request in an effect for another site, and the events that follow from it."""

    server: str
    """The authority of the other site."""
    arrives: Callable[[int], Event]
    """Makes the event at the server, with the number of the caller that its machine replies to."""
    ended: Callable[[Ending], Event]
    """Makes the event at the client when the request has ended."""
    connection: Hashable = None
    """Requests of a process with an equal value share a connection; None stands for one to each server."""
    left: Callable[[int], Event] | None = None
    """Makes the event at the server when the connection ends before its machine has replied to this
    caller."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close a connection: its requests may still arrive, and the client gets no answers."""

    connection: Hashable


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
    """Requests without an answer, in order."""
    stuck: bool = False
    """Whether no data passes any more, which neither side has noticed."""
    broken: bool = False


@dataclass(slots=True, eq=False)
class _Flight:
    request: Request
    connection: _Connection
    ending: Ending | None = None
    """The answer, on its way back."""
    answer_left: bool = False
    process: Process | None = None
    """The process that has the request."""
    caller: int = 0
    """The number of its caller in that process."""


class RequestNetwork(SiteNetwork):
    """Carries requests between the hosts that have joined."""

    def __init__(
        self,
        scheduler: Scheduler,
        chance: SeededChance,
        faults: NetworkFaults,
        patience: Duration,
        translate: Callable[[Any], Request | Close | None],
    ) -> None:
        super().__init__(scheduler, chance, faults)
        self._patience = patience
        """The time that a client waits for an answer."""
        self._translate = translate
        """Translates an effect into a request; None for an effect that does not use the network."""
        self._connections: dict[tuple[Process, Hashable], _Connection] = {}

    # -- what a client asks for

    def perform(self, site: str, process: Process, effect: Effect) -> None:
        """Send a request or close a connection; the client gets an event when its request has ended."""
        asked = self._translate(effect)
        if isinstance(asked, Request):
            self._send(process, site, asked)
        elif isinstance(asked, Close):
            connection = self._connections.pop((process, asked.connection), None)
            if connection is not None:
                self._forget(connection)

    def _send(self, client: Process, origin: str, request: Request) -> None:
        key = (client, request.server if request.connection is None else request.connection)
        connection = self._connections.get(key)
        if connection is None or connection.broken:
            connection = self._connections[key] = _Connection(client, origin, request.server)
        flight = _Flight(request, connection)
        connection.flights.append(flight)
        if connection.stuck:
            return
        if self._chance.happens(self._faults.lost):
            self._stick(connection)
            return
        if self._faults.overtaken and self._chance.happens(self._faults.overtaken):
            self._after(self._chance.between(1, 4 * self._faults.slowest), self._arrive, flight)
        else:
            connection.last_arrival = max(connection.last_arrival + 1, self._scheduler.now + self._delay())
            self._scheduler.at(connection.last_arrival, partial(self._arrive, flight))
        if self._chance.happens(self._faults.cut):
            span = self._chance.between(1, 2 * self._faults.slowest)
            self._after(span, self._break, connection, Failure.LOST)

    # -- on the way there

    def _arrive(self, flight: _Flight) -> None:
        connection, request = flight.connection, flight.request
        if connection.stuck:
            return
        if connection.broken and self._chance.happens(0.5):
            connection.stuck = True  # a broken connection delivers the first part of its data
            return
        if self._partitions.are_separate(connection.origin, connection.server):
            self._stick(connection)
            return
        if self._chance.happens(self._faults.repeated):
            span = self._chance.between(1, self._faults.latest_repeat)
            self._after(span, self._repeat, request)
        process = self._process_at(connection.server)
        if connection.server not in self._hosts:
            self._break(connection, Failure.NO_ADDRESS)
        elif process is None:
            self._break(connection, Failure.NO_CONNECTION)
        elif not process.accepting:
            self._answer(flight, Ending(status=UNAVAILABLE))
        elif self._chance.happens(self._faults.rejected):
            self._answer(flight, Ending(status=self._chance.pick(REJECTIONS)))
        else:
            flight.process, flight.caller = process, process.caller(partial(self._answered, flight))
            process.submit(request.arrives(flight.caller))

    def _repeat(self, request: Request) -> None:
        process = self._process_at(request.server)
        if process is not None and process.accepting:
            process.submit(request.arrives(process.caller(lambda *_: None)))

    # -- on the way back

    def _answered(self, flight: _Flight, answer: Any, turn: int) -> None:
        del turn
        if self._chance.happens(self._faults.answer_lost):
            self._stick(flight.connection)
            return
        replaced = self._chance.happens(self._faults.answer_replaced)
        self._answer(flight, Ending(status=BAD_GATEWAY) if replaced else Ending(answer))

    def _answer(self, flight: _Flight, ending: Ending) -> None:
        """Send the answers in the order of the requests."""
        flight.ending = ending
        connection = flight.connection
        if connection.stuck or connection.broken:
            return
        for each in connection.flights:
            if each.ending is None:
                break
            if not each.answer_left:
                connection.last_answer = max(connection.last_answer + 1, self._scheduler.now + self._delay())
                self._scheduler.at(connection.last_answer, partial(self._deliver, each, each.ending))
                each.answer_left = True

    def _deliver(self, flight: _Flight, ending: Ending) -> None:
        connection = flight.connection
        if not connection.broken and connection.client.alive:
            connection.flights.remove(flight)
            connection.client.submit(flight.request.ended(ending))

    # -- faults

    def _stick(self, connection: _Connection) -> None:
        """Stop all data on a connection; the client notices it when its waiting time is over."""
        if not connection.stuck:
            connection.stuck = True
            self._after(self._patience, self._break, connection, Failure.TIMED_OUT)

    def _break(self, connection: _Connection, failure: Failure) -> None:
        """Fail all requests that have no answer."""
        if connection.broken:
            return
        flights = connection.flights
        self._forget(connection)
        if connection.client.alive:
            for flight in flights:
                connection.client.submit(flight.request.ended(Ending(failure=failure)))

    def _forget(self, connection: _Connection) -> None:
        connection.broken = True
        for flight in connection.flights:
            if flight.process is not None and flight.ending is None and flight.request.left is not None:
                self._after(self._delay(), self._notice, flight.process, flight.request.left(flight.caller))
        connection.flights = []

    def _notice(self, server: Process, event: Event) -> None:
        """Notify the server that a client is lost which has no answer yet."""
        if server.alive:
            server.submit(event)

    def _ended(self, process: Process) -> None:
        """Break the connections of a process that has ended, at both ends."""
        for key, connection in list(self._connections.items()):
            if connection.client is process:
                self._forget(connection)
                del self._connections[key]
            elif any(flight.process is process for flight in connection.flights):
                self._after(self._delay(), self._break, connection, Failure.LOST)
