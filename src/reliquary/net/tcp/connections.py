"""What the connections of one acceptor share: who is there, the coarse time, pause and drain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from reliquary.base.time import Duration


class Managed(Protocol):
    """A connection as its acceptor sees it; `AcceptedConnection` has all of it."""

    @property
    def number(self) -> int:
        """The number that no other connection of the acceptor has had."""

    def pause(self) -> None:
        """Read nothing until `resume`."""

    def resume(self) -> None:
        """Read from the client again."""

    def sweep(self, now: int) -> None:
        """Close the connection if it used up a time; called once a second."""

    def finish(self) -> None:
        """Take nothing new, answer what was begun, then close."""

    def abort(self) -> None:
        """Close now; what was not sent is lost."""


AnyConnection = TypeVar("AnyConnection", bound=Managed)


class Connections(Generic[AnyConnection]):
    """The part of an acceptor that its connections see."""

    __slots__ = (
        "connections",
        "draining",
        "idle_time",
        "last_number",
        "most",
        "now",
        "on_empty",
        "paused",
    )

    def __init__(self, most: int, idle_time: Duration, now: int) -> None:
        self.connections: dict[int, AnyConnection] = {}
        """By their numbers."""
        self.most = most
        """Connections at one time; those beyond are refused."""
        self.idle_time = idle_time
        """How long a connection may be idle."""
        self.now = now
        """Monotonic microseconds, as of the last sweep: time-outs need no better clock."""
        self.paused = False
        """The engine asked that nothing be read."""
        self.draining = False
        self.last_number = 0
        self.on_empty: Callable[[], None] | None = None
        """Called when the last connection has gone."""

    def next_number(self) -> int:
        """The number of a new connection."""
        self.last_number += 1
        return self.last_number

    def enter(self, connection: AnyConnection) -> str:
        """Add a connection; return why it must be refused, or an empty text."""
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
