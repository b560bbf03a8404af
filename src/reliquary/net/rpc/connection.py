"""Implements one connection of an RPC listener: bytes to the state machine, calls to the services.

    bytes --> ServerConnection --Bound, Called, Cancelled, Orphaned--> RpcService
                      |        '--mgmt, epm--> answered here
    bytes <-----------'<----------------------respond, fault---------- listener

A client may send calls faster than it takes the answers: then nothing more is read from it.  Answers of
one tick of the loop leave in one write.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from ipaddress import IPv4Address
from typing import Final

from reliquary.net.rpc.service import RpcService
from reliquary.net.rpc.shared import RpcShared
from reliquary.net.tcp.accepted import AcceptedConnection
from reliquary.net.tcp.budget import SMALL
from reliquary.net.tcp.keepalive import keep_alive
from reliquary.protocols.rpc import epm, mgmt
from reliquary.protocols.rpc.events import Bound, Called, Cancelled, Closed, Orphaned, ServerEvent
from reliquary.protocols.rpc.server import ServerConnection
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import EPM, MGMT
from reliquary.wire.rpc.towers import ANY_HOST

SLOWED: Final = 4
"""Reading stops because the client has sent wrong proofs."""


class RpcConnection(AcceptedConnection):
    """The protocol between one socket and the services."""

    __slots__ = (
        "_calls",
        "_charged",
        "_closing",
        "_host",
        "_port",
        "_rpc",
        "_since",
        "_slowed",
        "_working",
        "association",
        "host",
    )

    shared: RpcShared

    def __init__(self, shared: RpcShared) -> None:
        super().__init__(shared)
        self._rpc: ServerConnection | None = None
        self._calls: dict[int, RpcService] = {}
        """The service of each call without an answer."""
        self._charged = 0
        """The bytes of a request in fragments that count in the budget."""
        self._since = shared.now
        self._port = 0
        self._host = ANY_HOST
        self._working = False
        """Whether input is being read.

        Answers of this time are sent at its end, not at the end of the tick.
        """
        self._closing = False
        """Whether the client violated the protocol: the connection is closed after the reason is sent."""
        self._slowed = False
        """Whether a wrong proof of the client delays its answers."""
        self.association = 0
        """The client's association; 0 before its first bind."""
        self.host = ""
        """The client's address, also after it has disconnected."""

    # Called by the transport.

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the bytes that a request in fragments used."""
        self._charge(0)
        super().connection_lost(exc)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register a client that has connected, or refuse it above the limit."""
        here = transport.get_extra_info("sockname") or ("", 0)
        self._port = here[1]
        self._host = ANY_HOST if ":" in here[0] or not here[0] else IPv4Address(here[0])
        keep_alive(transport)
        super().connection_made(transport)
        self.host = self.peer
        self._rpc = ServerConnection(
            self.shared.interfaces_at(self._port),
            self.shared.associations,
            self.shared.limits,
            self.shared.secure(self),
            str(self._port),
            self.host,
        )
        self.opened_objects.keep("association", self._lose_association)

    def refuse(self, why: str) -> None:
        """Close the connection of a client above the limit.

        Before its first PDU there is nothing to answer.
        """
        del why
        self.shared.refused += 1
        self.close()

    # Calls on their way to the services.

    def feed(self, data: bytes | memoryview) -> None:
        """Read received bytes, then send the answers that are ready."""
        assert self._rpc is not None, "a client that is not connected sends nothing"
        self.idle_since = self.shared.now
        self.shared.reads += 1
        self._working = True
        try:
            for event in self._rpc.receive(data):
                self._take(event)
            if self._rpc.assembling > SMALL or self._charged:
                self._charge(self._rpc.assembling)
        finally:
            self._working = False
        self.flush()

    def _charge(self, size: int) -> None:
        """Count a request that comes in fragments; cut the connection if there is no room for it."""
        bodies = self.shared.budget.bodies
        bodies.used -= self._charged
        self._charged = 0
        if size <= SMALL:
            return
        if bodies.fits(size):
            self._charged = size
            bodies.used += size
        else:
            self.shared.refused += 1
            self.abort()

    def _take(self, event: ServerEvent) -> None:
        match event:
            case Called():
                self._called(event)
            case Bound():
                self._bound(event)
            case Cancelled(call=call):
                if call in self._calls:
                    self._calls[call].cancelled(self.number, call, forgotten=False)
            case Orphaned(call=call):
                if call in self._calls:
                    self._calls.pop(call).cancelled(self.number, call, forgotten=True)
            case Closed():
                self.shared.refused += 1
                self.ended = self._closing = True

    def _bound(self, event: Bound) -> None:
        """Notify the service of an interface of its client, now and when the client is lost."""
        self.association = event.association
        service = self.shared.services.get(event.interface)
        if service is None:
            return
        if id(service) not in self.opened_objects:
            self.opened_objects.keep(id(service), partial(service.connection_lost, self.number))
        service.bound(self.number, self.host, event)

    def _called(self, event: Called) -> None:
        """Pass a call to its service, or answer it here."""
        self.shared.calls += 1
        if self.shared.draining:
            self.fault(event.call, FaultStatus.SERVER_TOO_BUSY)
            return
        service = self.shared.services.get(event.interface)
        if service is not None:
            self._calls[event.call] = service
            service.called(self.number, self.host, event)
            return
        answer = self._answer_here(event)
        if isinstance(answer, FaultStatus):
            self.fault(event.call, answer)
        else:
            self.respond(event.call, (answer,))

    def _answer_here(self, called: Called) -> bytes | FaultStatus:
        """Answer a call of one of the two interfaces that every server has."""
        if called.interface == MGMT:
            server = self.shared.server_at(self._port)
            return mgmt.answer(called.opnum, called.stub, called.encoding, server)
        assert called.interface == EPM, "no other interface can be bound"
        endpoints = self.shared.endpoints
        return epm.answer(called.opnum, called.stub, called.encoding, endpoints, self._host)

    # Answers on their way to the client.

    def respond(self, call: int, stub: Sequence[bytes | memoryview]) -> None:
        """Answer a call with a stub; an answered call is ignored."""
        if self._rpc is not None:
            self._calls.pop(call, None)
            self._rpc.respond(call, stub)
            self._wake()

    def fault(self, call: int, status: int) -> None:
        """Answer a call with a status; an answered call is ignored."""
        if self._rpc is not None:
            self._calls.pop(call, None)
            self._rpc.fault(call, status)
            self._wake()

    def _wake(self) -> None:
        if not self._working:
            self.shared.wake(self)

    def slow_down(self, wait: float) -> None:
        """Send the answers after this number of seconds, and read nothing until then."""
        if wait > 0:
            self._slowed = True
            self.stop_reading(SLOWED)
            asyncio.get_running_loop().call_later(wait, self._end_of_wait)

    def _end_of_wait(self) -> None:
        self._slowed = False
        self.release(SLOWED)
        self.flush()

    def flush(self) -> None:
        """Send all ready bytes in one write; then close a connection that is to end."""
        if self._rpc is None or self._transport is None or self._shut or self._slowed:
            return
        ready = self._rpc.output()
        if ready:
            self.shared.writes += 1
            # Not `writelines`: asyncio's own, up to Python 3.13.1, never asks a protocol to pause.
            self._transport.write(ready[0] if len(ready) == 1 else b"".join(ready))
        if self._closing:
            self.hear_out()
        elif self.shared.draining and not self._rpc.outstanding:
            self.close()

    # Closing.

    @property
    def outstanding(self) -> int:
        """The calls without an answer."""
        return 0 if self._rpc is None else self._rpc.outstanding

    def is_idle(self) -> bool:
        """Return whether no call waits for its answer, and the client has nothing open."""
        return not self.outstanding and not self.shared.keeps(self.association)

    def finish(self) -> None:
        """Close the connection, at once or when its calls have their answers."""
        if not self.outstanding:
            self.close()

    def sweep(self, now: int) -> None:
        """Close a connection without a bind in time, or one that is idle for too long."""
        if not self.association and not self._shut and now - self._since > self.shared.bind_time:
            self.close()
        super().sweep(now)

    def _lose_association(self) -> None:
        """Notify all services that a client is lost, if this was its last connection."""
        assert self._rpc is not None, "a connection that was never made has no association"
        ended = self._rpc.lost()
        if ended:
            for service in {id(each): each for each in self.shared.services.values()}.values():
                service.association_lost(ended)
