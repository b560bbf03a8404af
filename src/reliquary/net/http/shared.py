"""What the connections of one listener share: handler, limits, the coarse time, who is ready to send.

Answers come out of the engine in batches.  Each connection that got one is put on a list, and at
the end of the loop's tick every one of them sends all it has, in one write.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from reliquary.net.http.limits import Limits
from reliquary.net.http.responder import Handler
from reliquary.net.http.response import ResponseHeads

if TYPE_CHECKING:
    from reliquary.net.http.connection import Connection


class Shared:
    """The part of a listener that its connections see."""

    __slots__ = (
        "_loop",
        "_ready",
        "connections",
        "draining",
        "handler",
        "heads",
        "held",
        "last_number",
        "limits",
        "now",
        "on_empty",
    )

    def __init__(self, handler: Handler, limits: Limits, heads: ResponseHeads, now: int) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready: list[Connection] = []
        self.connections: dict[int, Connection] = {}
        """By their numbers."""
        self.handler = handler
        self.limits = limits
        self.heads = heads
        self.now = now
        """Monotonic microseconds, as of the last sweep: time-outs need no better clock."""
        self.held = False
        """The engine asked that nothing be read."""
        self.draining = False
        self.last_number = 0
        self.on_empty: Callable[[], None] | None = None
        """Called when the last connection has gone."""

    def next_number(self) -> int:
        """The number of a new connection."""
        self.last_number += 1
        return self.last_number

    def enter(self, connection: Connection) -> None:
        """A connection begins."""
        self.connections[connection.number] = connection

    def leave(self, connection: Connection) -> None:
        """A connection has ended."""
        self.connections.pop(connection.number, None)
        if not self.connections and self.on_empty is not None:
            self.on_empty()

    def wake(self, connection: Connection) -> None:
        """Let a connection send at the end of this tick."""
        if not self._ready:
            self._loop = self._loop or asyncio.get_running_loop()
            self._loop.call_soon(self._flush)
        self._ready.append(connection)

    def _flush(self) -> None:
        ready, self._ready = self._ready, []
        for connection in ready:
            connection.flush()
