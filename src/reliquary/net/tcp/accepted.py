"""One connection that was accepted, whatever protocol it speaks.

    connection_made --> data ... --> idle too long, finish: close --> connection_lost: what it opened ends
          |                '-- held: nothing is read while any reason holds
          '--> refuse: too many connections, or the server stops

A protocol derives from `AcceptedConnection`, reads in `feed` and says how it refuses.  It sets `idle_since`
whenever the client was active, keeps in `belongings` what the client opened, and may hold its reading for
reasons of its own.  What has come already is kept then, for a transport may deliver more after it was
paused.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections import deque
from typing import Any, Final, cast

from reliquary.net.tcp.belongings import Belongings
from reliquary.net.tcp.connections import Connections

ENGINE: Final = 1
"""Why reading is held: the engine has enough to do.  Protocols have other bits for other reasons."""


class AcceptedConnection(asyncio.Protocol):
    """The protocol between one socket and what is above it."""

    __slots__ = (
        "_held",
        "_reading",
        "_transport",
        "_unfed",
        "belongings",
        "ended",
        "idle_since",
        "number",
        "shared",
    )

    def __init__(self, shared: Connections[Any]) -> None:
        self.shared = shared
        self.number = shared.next_number()
        """No other connection of the acceptor ever has this number."""
        self.belongings = Belongings()
        """What the client opened and this connection closes."""
        self.ended = False
        """Nothing more is taken from the client."""
        self.idle_since = shared.now
        self._transport: asyncio.Transport | None = None
        self._unfed: deque[bytes | memoryview] = deque()
        self._held = 0
        self._reading = True

    # What a protocol says.

    @abstractmethod
    def feed(self, data: bytes | memoryview) -> None:
        """Take what the client sent."""

    @abstractmethod
    def refuse(self, why: str) -> None:
        """Send the client away with one sentence."""

    def is_idle(self) -> bool:
        """Whether nothing is under way, so that the connection may be closed."""
        return True

    # The transport's side.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register a client that has connected, or refuse one too many."""
        self._transport = cast("asyncio.Transport", transport)
        why = self.shared.enter(self)
        if why:
            self.refuse(why)

    def data_received(self, data: bytes) -> None:
        """Take bytes that the client sent."""
        if self.ended:
            return
        if self._held:
            self._unfed.append(data)
        else:
            self.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing can be sent any more; what the client opened is closed."""
        self.ended = True
        self._transport = None
        self._unfed.clear()
        self.shared.leave(self)
        self.belongings.close()

    @property
    def connected(self) -> bool:
        """Whether something can be sent."""
        return self._transport is not None

    @property
    def peer(self) -> str:
        """The client's address; empty where it has none, or has gone."""
        name = None if self._transport is None else self._transport.get_extra_info("peername")
        return str(name[0]) if isinstance(name, tuple) else ""

    # Back-pressure.

    def pause(self) -> None:
        """Read nothing: the engine has enough to do."""
        self.hold(ENGINE)

    def resume(self) -> None:
        """Read from the client again."""
        self.release(ENGINE)

    def hold(self, reason: int) -> None:
        """Stop reading for a reason."""
        self._held |= reason
        if self._reading and not self.ended and self._transport is not None:
            self._reading = False
            self._transport.pause_reading()

    def release(self, reason: int) -> None:
        """A reason has gone; when it was the last, go on with what is there, then read."""
        if not self._held & reason:
            return
        self._held &= ~reason
        if self._held:
            return
        self.idle_since = self.shared.now  # our rest is not the client's delay
        self.go_on()
        self._read_on()

    def go_on(self) -> None:
        """Go on with what came while reading was held."""
        while self._unfed and not self._held and not self.ended:
            self.feed(self._unfed.popleft())

    def _read_on(self) -> None:
        if not self._held and not self._reading and not self.ended and self._transport is not None:
            self._reading = True
            self._transport.resume_reading()

    # The end.

    def sweep(self, now: int) -> None:
        """Close a connection that was idle for too long."""
        if self.is_idle() and now - self.idle_since > self.shared.idle_time:
            self.close()

    def finish(self) -> None:
        """Close the connection if it is idle; a protocol closes a busy one when it has answered."""
        if self.is_idle():
            self.close()

    def close(self) -> None:
        """Close the connection once all is sent."""
        self.ended = True
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close the connection now; what was not sent is lost."""
        self.ended = True
        if self._transport is not None:
            self._transport.abort()
