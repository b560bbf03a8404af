"""Simulates HTTP between agents, in bytes: the requests of one epoch use one connection, in their order.

    client --send--> [ flight | flight | flight ] --arrive--> server, under a number of its own
                       ^ answered in this order; when the connection breaks, all that is left has failed

Requests that the client has given up may still arrive: on the connection that the server knows, if it has
not noticed the end of it, or else as a new one, as when a proxy has kept it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from urllib.parse import unquote, urlsplit

from reliquary.base.time import Duration
from reliquary.base.turn import Effect
from reliquary.protocols.httpr.addresses import PREFIX
from reliquary.protocols.httpr.codec.encode import batch_bytes
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.headers import encode_request, encode_response
from reliquary.protocols.httpr.codec.reader import BatchEnded, BodyIncomplete, RequestReader, ResponseReader
from reliquary.protocols.httpr.codec.values import SENDS, BatchLimits, Carried, Command, Disposition
from reliquary.protocols.httpr.effects import CutConnection, HangUp, SendRequest
from reliquary.protocols.httpr.events import (
    Answer,
    ConnectionGone,
    Failure,
    RequestArrived,
    RequestBegun,
    RequestFailed,
    ResponseArrived,
)
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.message_encode import encode_message
from reliquary.protocols.httpr.server.sessions import limits_of
from reliquary.queueing.model.message import Message
from reliquary.sim.chance import SeededChance
from reliquary.sim.httpr.channels import Channels
from reliquary.sim.httpr.faults import HttprFaults
from reliquary.sim.process import Process
from reliquary.sim.scheduler import Scheduler
from reliquary.sim.world.network import SiteNetwork

REJECTIONS: Final = (500, 502, 503, 504)
NO_BATCH: Final = BatchLimits(0, 0)


@dataclass(slots=True, eq=False)
class _Connection:
    client: Process
    origin: str
    """The authority of the client's site."""
    server: str
    """The authority of the server."""
    channel: int
    epoch: int
    process: Process | None = None
    """The process of the server that has accepted the connection."""
    number: int = 0
    """The number of the connection in that process."""
    gone: bool = False
    """Whether the server has noticed the end of the connection, or has ended it."""
    given_up: bool = False
    """Whether the client has ended it."""
    stuck: bool = False
    """Whether no data passes any more, which neither side has noticed."""
    last_arrival: int = 0
    last_answer: int = 0
    arrived: int = 0
    """The number of the last request that a server has seen."""
    flights: list[_Flight] = field(default_factory=list)
    """The requests without a response, in order."""


@dataclass(slots=True, eq=False)
class _Flight:
    request: SendRequest
    body: bytes
    connection: _Connection
    sent: int
    said: bytes | int = 0
    """The response, or the status of a proxy."""
    over: bool = False
    """Whether the client has the response, or the request was never sent."""


class HttprNetwork(SiteNetwork):
    """Carries requests between the hosts that have joined."""

    _faults: HttprFaults

    def __init__(
        self,
        scheduler: Scheduler,
        chance: SeededChance,
        faults: HttprFaults,
        patience: Duration,
        channels: Channels,
        unreachable: Collection[tuple[str, str]] = (),
    ) -> None:
        super().__init__(scheduler, chance, faults)
        self._patience = patience
        """The time that a client waits for a response, beyond the time that the server may wait."""
        self._channels = channels
        self._unreachable = unreachable
        """Pairs of sites of which the first can never open a connection to the second."""
        self._connections: dict[tuple[Process, int], _Connection] = {}
        """The newest connection of each channel, by its client."""
        self._accepted: dict[tuple[Process, int], _Connection] = {}
        self._numbers: Counter[Process] = Counter()

    # -- what a client asks for

    def perform(self, site: str, process: Process, effect: Effect) -> None:
        """Send a request, or end a connection as its client or its server."""
        if isinstance(effect, SendRequest):
            self._send(process, site, effect)
        elif isinstance(effect, HangUp):
            self._hang_up(process, effect)
        else:
            assert isinstance(effect, CutConnection), f"HTTPR has no effect {effect}"
            self._cut(process, effect.connection)

    def _send(self, client: Process, origin: str, request: SendRequest) -> None:
        """Send a request; the client gets the response or the failure as an event, if its process
        still runs."""
        connection = self._connections.get((client, request.channel))
        if connection is None or connection.epoch != request.epoch:
            if connection is not None:
                self._give_up(connection)
            server = urlsplit(request.url).netloc
            connection = _Connection(client, origin, server, request.channel, request.epoch)
            self._connections[client, request.channel] = connection
        flight = _Flight(request, _request_bytes(request, origin), connection, self._scheduler.now)
        connection.flights.append(flight)
        if connection.given_up:  # it broke while no request was on it
            self._after(self._delay(), self._fail, connection, Failure.LOST)
            return
        if (origin, connection.server) in self._unreachable:
            self._after(self._delay(), self._break, connection, Failure.NO_CONNECTION)
            return
        self._after(self._patience + request.wait, self._time_out, flight)
        if self._chance.happens(self._faults.repeated):
            self._after(self._chance.between(1, self._faults.latest_repeat), self._repeat, flight)
        if not connection.stuck:
            self._set_out(flight)

    def _set_out(self, flight: _Flight) -> None:
        connection, faults, now = flight.connection, self._faults, self._scheduler.now
        if self._chance.happens(faults.lost):
            connection.stuck = True
            return
        begin = max(connection.last_arrival + 1, now + self._delay())
        if self._chance.happens(faults.stalled):
            begin += self._chance.between(1, faults.latest_repeat)
        whole = begin
        if flight.request.header.command in SENDS and self._chance.happens(0.5):
            whole += self._delay()
            self._scheduler.at(begin, partial(self._begin, flight))
        connection.last_arrival = whole
        self._scheduler.at(whole, partial(self._arrive, flight))
        if self._chance.happens(faults.cut):
            self._after(self._chance.between(1, 2 * faults.slowest), self._break, connection, Failure.LOST)

    def _hang_up(self, client: Process, hang: HangUp) -> None:
        """Close a connection; its requests may still arrive, and the client gets no further event
        for them."""
        connection = self._connections.get((client, hang.channel))
        if connection is not None and connection.epoch <= hang.epoch:
            self._give_up(connection)

    def _cut(self, server: Process, number: int) -> None:
        """End a connection at the server."""
        connection = self._accepted.get((server, number))
        if connection is not None and connection.number == number and connection.process is server:
            connection.gone = True
            self._after(self._delay(), self._break, connection, Failure.LOST)
        self._tell_gone(server, number)

    # -- on the way there

    def _begin(self, flight: _Flight) -> None:
        """Deliver the header; the batch arrives later."""
        process = self._process_at(flight.connection.server)
        if process is None or not process.accepting or flight.connection.stuck:
            return
        number = self._number(flight, process)
        if number:
            reader = self._reader(process, flight)
            for piece in _odd_pieces(self._chance, _header_bytes(flight)):
                reader.feed(piece)
            assert reader.header is not None, "a request that begins has its header"
            process.submit(RequestBegun(number, _service(flight), reader.header))

    def _arrive(self, flight: _Flight) -> None:
        connection = flight.connection
        if connection.stuck:
            return
        if connection.given_up and self._chance.happens(0.4):
            connection.stuck = True  # a broken connection delivers the first part of its data
            return
        if self._partitions.are_separate(connection.origin, connection.server):
            connection.stuck = True
            return
        process = self._process_at(connection.server)
        if process is None:
            reached = connection.process is not None
            self._break(connection, Failure.LOST if reached else Failure.NO_CONNECTION)
        elif not process.accepting:
            self._reject(flight, 503)
        elif self._chance.happens(self._faults.rejected):
            self._reject(flight, self._chance.pick(REJECTIONS))
        else:
            self._reach(flight, process)

    def _reach(self, flight: _Flight, process: Process) -> None:
        connection = flight.connection
        if connection.process not in (None, process) or (connection.gone and not connection.given_up):
            self._break(connection, Failure.LOST)
        number = self._number(flight, process)
        if not number:
            return
        if self._chance.happens(self._faults.truncated) and not connection.given_up:
            connection.stuck = True
            self._break(connection, Failure.LOST)
            self._tell_gone(process, number)
        else:
            self._submit(process, number, flight)

    def _reject(self, flight: _Flight, status: int) -> None:
        """Simulate a proxy that rejects a request; the requests that are pipelined after it do not arrive
        either."""
        self._say(flight, status)
        flight.connection.stuck = True

    def _repeat(self, flight: _Flight) -> None:
        """Simulate a proxy that sends a request which its client gave up, later and on a connection of its
        own.

        The requests that were pipelined before it have arrived: a proxy keeps the order of requests.
        """
        connection = flight.connection
        process = self._process_at(connection.server)
        wanted = connection.given_up and not flight.over
        in_order = flight.request.number <= connection.arrived + 1
        if wanted and in_order and process is not None and process.accepting:
            number = self._new_number(flight, process)
            if number:
                self._submit(process, number, flight)

    def _number(self, flight: _Flight, process: Process) -> int:
        """Return the number of the connection at the server; 0 if a new connection is not allowed."""
        connection = flight.connection
        if connection.process is process and not connection.gone:
            return connection.number
        return self._new_number(flight, process)

    def _new_number(self, flight: _Flight, process: Process) -> int:
        connection = flight.connection
        if connection.given_up and not self._may_come_late(flight):
            return 0
        self._numbers[process] += 1
        number = self._numbers[process]
        self._accepted[process, number] = connection
        if not connection.given_up:
            connection.process, connection.number = process, number
        return number

    def _may_come_late(self, flight: _Flight) -> bool:
        """Return whether a late arrival is harmless, or the server can detect it by a newer request of the
        channel."""
        header = flight.request.header
        if header.session_id:
            return True  # 528: a client that gave up has begun another session
        if header.command is Command.REPORT:
            return False
        triple = (header.requester, header.channel, header.responder)
        return header.command not in SENDS or self._channels.forgotten.get(triple, -1) < flight.sent

    def _submit(self, process: Process, number: int, flight: _Flight) -> None:
        flight.connection.arrived = max(flight.connection.arrived, flight.request.number)
        reader = self._reader(process, flight)
        fault: HttprFault | None = None
        try:
            batch, ending = self._read_batch(reader, flight.body)
        except HttprFault as wrong:
            batch, ending, fault = (), None, wrong
        process.submit(
            RequestArrived(
                process.caller(partial(self._answered, flight, number)),
                number,
                _service(flight),
                reader.header,
                batch,
                ending,
                fault.number if fault else None,
                fault.why if fault else "",
            )
        )

    def _reader(self, process: Process, flight: _Flight) -> RequestReader:
        return RequestReader(lambda header: limits_of(process.machine(Httpr).state, _service(flight), header))

    # -- on the way back

    def _answered(self, flight: _Flight, number: int, answer: Answer, turn: int) -> None:
        del turn
        connection = flight.connection
        if connection.number != number and not connection.given_up:
            return
        if self._chance.happens(self._faults.answer_lost):
            connection.stuck = True
        else:
            whole = encode_response(answer.header)
            if answer.header.transaction_id is not None:
                whole += _batch_bytes(answer.batch, connection.server)
            self._say(flight, 502 if self._chance.happens(self._faults.answer_replaced) else whole)

    def _say(self, flight: _Flight, said: bytes | int) -> None:
        """Send the response; responses leave in the order of the requests."""
        flight.said = said
        connection = flight.connection
        if connection.given_up and self._chance.happens(self._faults.late_response):
            self._after(self._delay(), self._respond_late, flight)
        if connection.stuck or connection.given_up:
            return
        for each in connection.flights:
            if not each.said:
                break
            if each.said != -1:
                connection.last_answer = max(connection.last_answer + 1, self._scheduler.now + self._delay())
                self._scheduler.at(connection.last_answer, partial(self._deliver, each, each.said))
                each.said = -1

    def _deliver(self, flight: _Flight, said: bytes | int) -> None:
        connection = flight.connection
        if connection.given_up:
            return
        if isinstance(said, int):
            self._break(connection, Failure.NOT_HTTPR)
        elif self._chance.happens(self._faults.truncated) and len(said) > 1:
            cut = self._chance.between(1, len(said) - 1)
            try:
                self._read(flight, said[:cut])
            except BodyIncomplete:
                self._break(connection, Failure.LOST)
            else:
                raise AssertionError("a response that is torn was taken for whole")
        else:
            connection.flights.remove(flight)
            flight.over = True
            connection.client.submit(self._read(flight, said))

    def _respond_late(self, flight: _Flight) -> None:
        if isinstance(flight.said, bytes) and flight.connection.client.alive:
            flight.connection.client.submit(self._read(flight, flight.said))

    def _read(self, flight: _Flight, said: bytes) -> ResponseArrived:
        request = flight.request
        reader = ResponseReader(request.limits or NO_BATCH)
        batch, ending = self._read_batch(reader, said)
        assert reader.header is not None, "a whole response has a header"
        return ResponseArrived(request.channel, request.epoch, request.number, reader.header, batch, ending)

    def _read_batch(
        self, reader: RequestReader | ResponseReader, body: bytes
    ) -> tuple[tuple[Carried, ...], Disposition | None]:
        """Return the messages of a body that arrives in pieces, and the ending of their batch."""
        batch: list[Carried] = []
        ending: Disposition | None = None
        for piece in _odd_pieces(self._chance, body):
            for read in reader.feed(piece):
                if isinstance(read, Carried):
                    batch.append(read)
                elif isinstance(read, BatchEnded):
                    ending = read.disposition
        reader.end()
        return tuple(batch), ending

    # -- trouble

    def _time_out(self, flight: _Flight) -> None:
        if flight in flight.connection.flights:
            self._break(flight.connection, Failure.TIMED_OUT)

    def _break(self, connection: _Connection, failure: Failure) -> None:
        """Fail all requests that have no response."""
        if connection.given_up:
            return
        if failure is Failure.NO_CONNECTION:  # no request was sent
            connection.stuck = True
            for flight in connection.flights:
                flight.over = True
        self._fail(connection, failure)

    def _fail(self, connection: _Connection, failure: Failure) -> None:
        flights = connection.flights
        self._give_up(connection)
        if connection.client.alive and flights:
            first = flights[0].request
            connection.client.submit(RequestFailed(first.channel, first.epoch, first.number, failure))

    def _give_up(self, connection: _Connection) -> None:
        """Send the client no more events of a connection; the server may notice that."""
        connection.flights = []
        if connection.given_up:
            return
        connection.given_up = True
        if connection.process is not None and not self._chance.happens(self._faults.close_unnoticed):
            self._after(self._delay(), self._notice, connection)

    def _notice(self, connection: _Connection) -> None:
        if connection.process is not None and not connection.gone:
            connection.gone = True
            self._tell_gone(connection.process, connection.number)

    def _tell_gone(self, server: Process, number: int) -> None:
        if server.alive:
            server.submit(ConnectionGone(number))

    def _ended(self, process: Process) -> None:
        """Break the connections of a process that has ended, at both ends."""
        for key, connection in list(self._connections.items()):
            if connection.client is process:
                self._give_up(connection)
                del self._connections[key]
            elif connection.process is process:
                connection.gone = True
                self._after(self._delay(), self._break, connection, Failure.LOST)


def _service(flight: _Flight) -> str:
    return unquote(urlsplit(flight.request.url).path.removeprefix(PREFIX))


def _header_bytes(flight: _Flight) -> bytes:
    return encode_request(flight.request.header)


def _request_bytes(request: SendRequest, origin: str) -> bytes:
    header = encode_request(request.header)
    return header + _batch_bytes(request.batch, origin) if request.header.command in SENDS else header


def _batch_bytes(batch: Sequence[Message], authority: str) -> bytes:
    return batch_bytes([encode_message(message, f"httpr://{authority}{PREFIX}mq") for message in batch])


def _odd_pieces(chance: SeededChance, whole: bytes) -> Iterator[bytes]:
    """Yield all bytes, sometimes in three pieces that end anywhere."""
    if chance.happens(0.3):
        one, other = sorted((chance.between(0, len(whole)), chance.between(0, len(whole))))
        yield from (piece for piece in (whole[:one], whole[one:other], whole[other:]) if piece)
    else:
        yield whole
