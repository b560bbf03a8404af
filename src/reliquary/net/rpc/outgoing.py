"""Implements a client connection of DCE/RPC: bytes between a socket and `ClientConnection`.

    connection_made --> bind --> Opened --> call ... Returned, Faulted
                          |                   |
                          '----- lost <-------'   the server refuses, violates the protocol or closes

A loss is reported once, and nothing is reported after `close`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reliquary.net.tcp.dialing import OutgoingConnection
from reliquary.net.tcp.keepalive import keep_alive
from reliquary.protocols.rpc.client import ClientConnection
from reliquary.protocols.rpc.events import ClientEvent, Closed, Faulted, Opened, Returned
from reliquary.protocols.rpc.security import SecurityRefused


@dataclass(slots=True)
class Traffic:
    """The bytes that all connections sent and received."""

    sent: int = 0
    received: int = 0


class CallingConnection(OutgoingConnection):
    """The protocol between one socket and the calls that go over it."""

    __slots__ = ("_heard", "_last_id", "_lost", "_rpc", "_traffic", "bound", "calls", "opened")

    def __init__(
        self,
        rpc: ClientConnection,
        heard: Callable[[CallingConnection, Opened | Returned | Faulted], None],
        lost: Callable[[CallingConnection, str], None],
        traffic: Traffic,
    ) -> None:
        """`heard` takes the events of the server, and `lost` the reason why the connection can no
        longer be used.
        """
        super().__init__()
        self._rpc = rpc
        self._heard = heard
        self._lost = lost
        self._traffic = traffic
        self.opened: Opened | None = None
        """The result of the bind; None until the server has accepted it."""
        self.bound = asyncio.Event()
        """Set when the server has accepted the bind."""
        self.calls: dict[int, int] = {}
        """The calls without an answer: their numbers, by the call_id of their PDUs."""
        self._last_id = 0

    def call(self, number: int, opnum: int, stub: Sequence[bytes]) -> None:
        """Send a call; its call_id increases on each connection, for any number of the caller."""
        self._last_id += 1
        self.calls[self._last_id] = number
        self._rpc.call(self._last_id, opnum, stub)
        self._flush()

    def close(self) -> None:
        """Send the written bytes and close; nothing is reported any more."""
        self.usable = False
        if self._transport is not None:
            self._transport.close()

    # -- called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the bind; keepalive detects a server that has crashed."""
        super().connection_made(transport)
        keep_alive(transport)
        try:
            self._rpc.begin()
        except SecurityRefused as why:
            self._fail(f"no authentication can be begun: {why}")
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Take bytes that the server sent."""
        self._traffic.received += len(data)
        if not self.usable:
            return
        events = self._rpc.receive(data)
        self._flush()
        for event in events:
            self._take(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """Report a connection that the server, or the network, has closed."""
        self._fail(str(exc or "the server closed the connection"))
        super().connection_lost(exc)

    def _take(self, event: ClientEvent) -> None:
        """Pass on an event of the server, unless the connection was closed in between."""
        if not self.usable:
            return
        match event:
            case Closed(why):
                self._fail(why)
            case Opened():
                self.opened = event
                self.bound.set()
                self._heard(self, event)
            case Returned(call) | Faulted(call):
                self._heard(self, event._replace(call=self.calls.pop(call)))

    def _flush(self) -> None:
        """Hand the bytes of the connection to the transport."""
        parts = self._rpc.output()
        if parts and self._transport is not None:
            self._traffic.sent += sum(map(len, parts))
            self._transport.writelines(parts)

    def _fail(self, why: str) -> None:
        if self.usable:
            self.close()
            self._lost(self, why)
