"""Holds the state that the connections of one acceptor share: their list, a coarse time, pause and drain.

Answers come out of the engine in batches.  Each connection with an answer is put on a list, and at the
end of the loop's tick each of them sends all ready bytes in one write.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeVar

from reliquary.base.time import MINUTE, Duration, seconds
from reliquary.net.tcp.budget import Budget
from reliquary.net.tcp.descriptors import SPARE

UNREAD_TIME: Final = MINUTE
LINGER_TIME: Final = seconds(5)


class Managed(Protocol):
    """The interface of a connection for its acceptor; `AcceptedConnection` implements it."""

    @property
    def number(self) -> int:
        """The number that no other connection of the acceptor has had."""

    def pause(self) -> None:
        """Stop reading until `resume` is called."""

    def resume(self) -> None:
        """Read from the client again."""

    def sweep(self, now: int) -> None:
        """Close the connection if it exceeded a time limit; called once a second."""

    def finish(self) -> None:
        """Take no new requests, answer those that were begun, then close."""

    def flush(self) -> None:
        """Send all bytes that are ready."""

    def abort(self) -> None:
        """Close now; unsent bytes are lost."""


AnyConnection = TypeVar("AnyConnection", bound=Managed)


class Connections(Generic[AnyConnection]):
    """The part of an acceptor that its connections see."""

    __slots__ = (
        "_loop",
        "_ready",
        "budget",
        "connections",
        "draining",
        "idle_time",
        "last_number",
        "linger_time",
        "most",
        "now",
        "on_empty",
        "paused",
        "spare",
        "unread_time",
    )

    def __init__(
        self,
        most: int,
        idle_time: Duration,
        now: int,
        *,
        unread_time: Duration = UNREAD_TIME,
        linger_time: Duration = LINGER_TIME,
        spare: int = SPARE,
        budget: Budget | None = None,
    ) -> None:
        self.connections: dict[int, AnyConnection] = {}
        """The connections, by their numbers."""
        self.budget = budget or Budget()
        """The budget that these connections share with those of other listeners."""
        self.most = most
        """The most connections at one time; further ones are refused."""
        self.spare = spare
        """The number of file descriptors that stay free for other uses, besides those for files."""
        self.idle_time = idle_time
        """The time for which a connection may be idle."""
        self.unread_time = unread_time
        """The time for which a client may take no byte of those that wait for it."""
        self.linger_time = linger_time
        """The time for which a closed connection may stay after the client has taken all bytes."""
        self.now = now
        """Monotonic microseconds of the last sweep; time-outs need no better clock."""
        self.paused = False
        """Whether the engine stopped all reading."""
        self.draining = False
        self.last_number = 0
        self.on_empty: Callable[[], None] | None = None
        """Called when the last connection was lost."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready: list[AnyConnection] = []

    def next_number(self) -> int:
        """Return the number of a new connection."""
        self.last_number += 1
        return self.last_number

    def enter(self, connection: AnyConnection) -> str:
        """Add a connection; return the reason why it must be refused, or an empty text."""
        self.connections[connection.number] = connection
        if self.paused:
            connection.pause()
        if self.draining:
            return "the server is stopping"
        if len(self.connections) > self.most:
            return f"the server takes {self.most} connections, this is one more"
        return ""

    def leave(self, connection: AnyConnection) -> None:
        """Remove a connection that was lost."""
        self.connections.pop(connection.number, None)
        if not self.connections and self.on_empty is not None:
            self.on_empty()

    def wake(self, connection: AnyConnection) -> None:
        """Let a connection send at the end of this tick."""
        if not self._ready:
            self._loop = self._loop or asyncio.get_running_loop()
            self._loop.call_soon(self._flush)
        self._ready.append(connection)

    def _flush(self) -> None:
        ready, self._ready = self._ready, []
        for connection in ready:
            connection.flush()
