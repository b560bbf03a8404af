"""Sends calls to one interface of one server, over as many connections as they need.

    call --> waits --> the first connection with room --> returned, faulted
               |
               '--> no room: a further connection joins the association group of the first

A server that multiplexes (CONC_MPX, C706 12.6.3.1) answers several calls of a connection in any order;
with another one each call has a connection to itself until it is answered.  The connections of a group
share context handles, and a server runs these down when the group is gone, so the loss of any
connection is the loss of all (F-07): the effect of its calls is unknown, and only a rundown decides it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from reliquary.base.time import SECOND, Duration, seconds
from reliquary.net.rpc.outgoing import CallingConnection, Traffic
from reliquary.net.tcp.dialing import NotConnected, ServerAddress, reach
from reliquary.protocols.rpc.client import ClientConnection
from reliquary.protocols.rpc.events import Faulted, Opened, Returned
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.ndr.encoding import Encoding


@dataclass(frozen=True, slots=True)
class DialLimits:
    """The limits of the calls to one interface."""

    connections: int = 16
    calls: int = 32
    """The most calls without an answer on one connection, if the server multiplexes."""
    connect_time: Duration = field(default=seconds(10))
    bind_time: Duration = field(default=seconds(10))
    """The time in which the server must accept a bind."""


class Call(NamedTuple):
    """A call that is to be made."""

    number: int
    """A number that is unique among the calls without an answer."""
    opnum: int
    encode: Callable[[Encoding], Sequence[bytes]]
    """The function for the stub in the transfer syntax that the server chose."""
    may_wait: bool = False
    """Whether the server may answer it much later; one slot is kept free, for a call that cancels it."""


class Caller(Protocol):
    """Takes the outcomes of calls; after `lost` nothing is reported."""

    def returned(self, call: int, stub: bytes, encoding: Encoding) -> None:
        """Take the answer of a call."""

    def faulted(self, call: int, status: int) -> None:
        """Take the status of a call that was refused, or whose method raised it."""

    def lost(self, failure: Failure, why: str) -> None:
        """Record that a connection failed or was lost, so that no call gets an answer any more."""


class Association:
    """The connections of one association group, and the calls that wait for one of them."""

    def __init__(
        self,
        find: Callable[[], Awaitable[ServerAddress]],
        connect: Callable[[int], ClientConnection],
        caller: Caller,
        limits: DialLimits,
        traffic: Traffic,
    ) -> None:
        """`find` returns the address of the server.

        `connect` makes a connection of a group, 0 for a new one.
        """
        self._find = find
        self._connect = connect
        self._caller = caller
        self._limits = limits
        self._traffic = traffic
        self.address: ServerAddress | None = None
        """The address of the server; None until it was found."""
        self._waiting: list[Call] = []
        self._patient: set[int] = set()
        """The calls in flight that the server may answer much later."""
        self._open: list[CallingConnection] = []
        self._dialed: dict[CallingConnection, asyncio.Task[None]] = {}
        """Connections without an accepted bind, and the tasks that open them."""
        self._ended = False

    @property
    def connections(self) -> int:
        """The number of connections that the server has accepted."""
        return len(self._open)

    @property
    def is_busy(self) -> bool:
        """Whether a call has no answer yet."""
        return bool(self._waiting) or any(each.calls for each in self._open)

    def call(self, call: Call) -> None:
        """Make a call as soon as a connection has room for it."""
        if not self._ended:
            self._waiting.append(call)
            self._serve()

    def close(self) -> None:
        """Close all connections, of which nothing is reported any more."""
        self._ended = True
        self._waiting.clear()
        for connection, task in self._dialed.items():
            connection.close()
            task.cancel()
        for connection in self._open:
            connection.close()
        self._open.clear()

    # -- calls and their connections

    def _serve(self) -> None:
        """Send the calls that can be sent, and open connections for the others."""
        for call in self._waiting[:]:
            connection = self._room_for(call)
            if connection is not None:
                self._waiting.remove(call)
                self._send(connection, call)
        while len(self._dialed) < self._wanted():
            self._dial()

    def _room_for(self, call: Call) -> CallingConnection | None:
        if not self._open or (call.may_wait and not self._may_wait):
            return None
        return next((each for each in self._open if len(each.calls) < self._calls_each), None)

    @property
    def _calls_each(self) -> int:
        """The number of calls without an answer that a connection may have."""
        agreed = self._open[0].opened
        return self._limits.calls if agreed is not None and agreed.multiplexed else 1

    @property
    def _may_wait(self) -> bool:
        """Whether a call that may wait leaves room for one that cancels it."""
        return len(self._patient) + 1 < self._limits.connections * self._calls_each

    def _wanted(self) -> int:
        """Return the number of connections that are needed: one at first, then enough for the calls
        without room.
        """
        if not self._open:
            return min(len(self._waiting), 1)
        without_room = sum(not call.may_wait or self._may_wait for call in self._waiting)
        wanted = -(-without_room // self._calls_each)
        return min(wanted, self._limits.connections - len(self._open))

    def _send(self, connection: CallingConnection, call: Call) -> None:
        assert connection.opened is not None, "only a connection that is open has room"
        if call.may_wait:
            self._patient.add(call.number)
        connection.call(call.number, call.opnum, call.encode(connection.opened.encoding))

    # -- connections

    def _dial(self) -> None:
        agreed = self._open[0].opened if self._open else None
        rpc = self._connect(0 if agreed is None else agreed.association)
        connection = CallingConnection(rpc, self._heard, self._lost, self._traffic)
        self._dialed[connection] = asyncio.ensure_future(self._reach(connection))

    async def _reach(self, connection: CallingConnection) -> None:
        """Open a connection and wait until the server has accepted its bind."""
        try:
            if self.address is None:
                self.address = await self._find()
            await reach(self.address, connection, self._limits.connect_time)
            async with asyncio.timeout(self._limits.bind_time / SECOND):
                await connection.bound.wait()
        except NotConnected as failed:
            self._fail(Failure(failed.reason.value), str(failed))
        except TimeoutError:
            self._fail(Failure.TIMED_OUT, f"{self.address} did not accept the bind in time")

    def _heard(self, connection: CallingConnection, event: Opened | Returned | Faulted) -> None:
        match event:
            case Opened():
                self._opened(connection, event)
            case Returned(call, stub, encoding):
                self._patient.discard(call)
                self._caller.returned(call, stub, encoding)
            case Faulted(call, status):
                self._patient.discard(call)
                self._caller.faulted(call, status)
        self._serve()

    def _opened(self, connection: CallingConnection, agreed: Opened) -> None:
        del self._dialed[connection]
        self._open.append(connection)
        first = self._open[0].opened
        if first is not None and agreed.association != first.association:
            self._fail(Failure.LOST, f"{self.address} let no further connection join the first")

    def _lost(self, connection: CallingConnection, why: str) -> None:
        failure = Failure.NO_CONNECTION if connection.opened is None else Failure.LOST
        self._fail(failure, f"{self.address}: {why}")

    def _fail(self, failure: Failure, why: str) -> None:
        if not self._ended:
            self.close()
            self._caller.lost(failure, why)
