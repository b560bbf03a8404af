"""Implements an accepted connection of any protocol.

    connection_made --> data ... --> idle too long, finish: close --> connection_lost: its objects are closed
          |                |                               '-- the rest is not taken: cut by the sweep
          |                '-- stop_reading: nothing is read while there is a reason
          '--> refuse: too many connections, or the server stops

A protocol derives from `AcceptedConnection`, reads in `feed` and says how it refuses.  It sets `idle_since`
whenever the client was active, keeps in `opened_objects` what the client opened, and may stop its reading for
reasons of its own.  Received bytes are kept then, because a transport may deliver more after it was paused.

A client that does not take the bytes sent to it is not read from either, and is cut off when it has
taken no byte for `unread_time`: a connection that was closed would otherwise stay until its last byte
is taken.  If all clients together leave too many bytes untaken, it is cut off after `linger_time`.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections import deque
from typing import Any, Final, cast

from reliquary.net.tcp.connections import Connections
from reliquary.net.tcp.descriptors import is_reserved
from reliquary.net.tcp.opened_objects import OpenedObjects

ENGINE: Final = 1
"""Reading stops because the engine is overloaded. Protocols have other bits, from 4, for other reasons."""
UNREAD: Final = 2
"""Reading stops because the client does not take the bytes that are sent to it."""


class AcceptedConnection(asyncio.Protocol):
    """The protocol between one socket and the code above it."""

    __slots__ = (
        "_reading",
        "_shut",
        "_stalled",
        "_stop_reasons",
        "_transport",
        "_unfed",
        "_unsent",
        "ended",
        "idle_since",
        "is_crowded",
        "number",
        "opened_objects",
        "shared",
    )

    def __init__(self, shared: Connections[Any]) -> None:
        self.shared = shared
        self.number = shared.next_number()
        """The number of the connection, which no other connection of the acceptor ever has."""
        self.opened_objects = OpenedObjects()
        """The objects that the client opened and this connection closes."""
        self.ended = False
        """Whether no more input is accepted from the client."""
        self.idle_since = shared.now
        self.is_crowded = False
        """Whether its descriptor is one of those reserved for files: it is refused, and closed at once."""
        self._transport: asyncio.Transport | None = None
        self._unfed: deque[bytes | memoryview] = deque()
        self._stop_reasons = 0
        self._reading = True
        self._shut = False  # closing: only bytes that were written already leave
        self._stalled = shared.now  # when the client last took something, while it is watched
        self._unsent = 0

    # Implemented by each protocol.

    @abstractmethod
    def feed(self, data: bytes | memoryview) -> None:
        """Take the bytes that the client sent."""

    @abstractmethod
    def refuse(self, why: str) -> None:
        """Refuse the client with one sentence."""

    def flush(self) -> None:
        """Send the bytes that are ready; called at the end of a tick in which the connection was woken."""

    def is_idle(self) -> bool:
        """Return whether no request is running, so that the connection may be closed."""
        return True

    # Called by the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register a client that has connected, or refuse it above the limit."""
        self._transport = cast("asyncio.Transport", transport)
        self.is_crowded = is_reserved(transport, self.shared.spare)
        why = self.shared.enter(self)
        if why:
            self.refuse(why)
        elif self.is_crowded:
            self.refuse("no descriptor is left for this connection")

    def data_received(self, data: bytes) -> None:
        """Take bytes that the client sent."""
        if self.ended:
            return
        if self._stop_reasons:
            self._unfed.append(data)
        else:
            self.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the objects that the client opened, because nothing can be sent any more."""
        self.ended = self._shut = True
        self._transport = None
        self._unfed.clear()
        self.shared.leave(self)
        self.opened_objects.close()

    def pause_writing(self) -> None:
        """Record that the client takes bytes more slowly than they are made."""
        self._watch_unsent()
        self.stop_reading(UNREAD)

    def resume_writing(self) -> None:
        """Record that the client has taken most of the bytes."""
        self.release(UNREAD)

    @property
    def connected(self) -> bool:
        """Whether bytes can be sent."""
        return self._transport is not None

    @property
    def peer(self) -> str:
        """The client's address; empty if it has none, or has disconnected."""
        name = None if self._transport is None else self._transport.get_extra_info("peername")
        return str(name[0]) if isinstance(name, tuple) else ""

    # Back-pressure.

    def pause(self) -> None:
        """Stop reading, because the engine is overloaded."""
        self.stop_reading(ENGINE)

    def resume(self) -> None:
        """Read from the client again."""
        self.release(ENGINE)

    def stop_reading(self, reason: int) -> None:
        """Stop reading for a reason."""
        self._stop_reasons |= reason
        if self._reading and not self.ended and self._transport is not None:
            self._reading = False
            self._transport.pause_reading()

    def release(self, reason: int) -> None:
        """Remove a reason to stop reading; after the last one, process the kept input, then read."""
        if not self._stop_reasons & reason:
            return
        self._stop_reasons &= ~reason
        if self._stop_reasons:
            return
        self.idle_since = self.shared.now  # the own pause does not count as a delay of the client
        self.go_on()
        self._read_on()

    def go_on(self) -> None:
        """Process the input that came while reading was stopped."""
        while self._unfed and not self._stop_reasons and not self.ended:
            self.feed(self._unfed.popleft())

    def _read_on(self) -> None:
        if not self._stop_reasons and not self._reading and not self.ended and self._transport is not None:
            self._reading = True
            self._transport.resume_reading()

    # Closing.

    def sweep(self, now: int) -> None:
        """Close a connection that was idle for too long, and cut one whose client takes nothing."""
        if self._shut or self._stop_reasons & UNREAD:
            self._sweep_unsent(now)
        elif self.is_idle() and now - self.idle_since > self.shared.idle_time:
            self.close()

    def finish(self) -> None:
        """Close the connection if it is idle; a protocol closes a busy one after the last answer."""
        if self.is_idle():
            self.close()

    def close(self) -> None:
        """Close the connection after all bytes were sent."""
        self._begin_to_close()
        if self._transport is not None:
            self._transport.close()

    def hear_out(self) -> None:
        """Close the sending side, and drop input of the client until it closes its side.

        Closing both sides would reset the connection, and the client might never read the last answer.
        """
        self._begin_to_close()
        if self._transport is None:
            return
        if self._transport.can_write_eof():
            self._transport.write_eof()
            self._transport.resume_reading()
        else:
            self._transport.close()

    def _begin_to_close(self) -> None:
        """Read and write nothing more; the client has `unread_time` for each part of the rest."""
        self.ended = self._shut = True
        self._watch_unsent()

    def _watch_unsent(self) -> None:
        """Record the number of bytes that the client has to take from now on."""
        self._stalled = self.shared.now
        self._unsent = 0 if self._transport is None else self._transport.get_write_buffer_size()

    def _sweep_unsent(self, now: int) -> None:
        """Cut off a client that takes none of the unsent bytes, or does not close after the last one."""
        assert self._transport is not None, "a connection without a transport has left the acceptor"
        unsent = self._transport.get_write_buffer_size()
        if unsent < self._unsent:
            self._stalled = now
        self._unsent = unsent
        patient = unsent and not self.shared.budget.answers.is_full
        if now - self._stalled > (self.shared.unread_time if patient else self.shared.linger_time):
            self._transport.abort()

    def abort(self) -> None:
        """Close the connection now; unsent bytes are lost."""
        self.ended = self._shut = True
        if self._transport is not None:
            self._transport.abort()
