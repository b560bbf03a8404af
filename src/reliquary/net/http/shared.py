"""What the connections of one listener share: mounts, limits, which of them are ready to send.

Answers come out of the engine in batches.  Each connection that got one is put on a list, and at
the end of the loop's tick every one of them sends all it has, in one write.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from reliquary.net.http.limits import Limits
from reliquary.net.http.mounts import Mounts
from reliquary.net.http.response import ResponseHeads
from reliquary.net.tcp.connections import Connections

if TYPE_CHECKING:
    from reliquary.net.http.connection import Connection


class Shared(Connections["Connection"]):
    """The part of a listener that its connections see."""

    __slots__ = ("_loop", "_ready", "heads", "limits", "mounts")

    def __init__(self, mounts: Mounts, limits: Limits, heads: ResponseHeads, now: int) -> None:
        super().__init__(limits.connections, limits.idle_time, now)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready: list[Connection] = []
        self.mounts = mounts
        self.limits = limits
        self.heads = heads

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
