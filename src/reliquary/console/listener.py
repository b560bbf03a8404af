"""Listens for the control plane: the listener of the data plane with lower limits, and an ASGI app.

Bodies are passed to the app while they arrive, so its handler limits their size.  Heads, times and the
number of connections are limited here.
"""

from __future__ import annotations

import ssl
from typing import Final

from starlette.applications import Starlette

from reliquary.base.time import seconds
from reliquary.console.asgi import AsgiApp
from reliquary.net.clock import RealClock
from reliquary.net.http import Limits, Listener
from reliquary.net.tcp.budget import Budget

GRACE: Final = seconds(5)
"""Seconds that clients have to read their last answers."""
LIMITS: Final = Limits(pipelined=16, connections=1000, spare=0, idle_time=seconds(60))


class ControlListener:
    """Serves the control plane at one address."""

    def __init__(
        self,
        app: Starlette,
        *,
        tls: ssl.SSLContext | None = None,
        clock: RealClock | None = None,
        limits: Limits = LIMITS,
        budget: Budget | None = None,
    ) -> None:
        """Make a listener; `budget` is shared by all listeners of a server."""
        self._app = AsgiApp(app, scheme="http" if tls is None else "https")
        self._listener = Listener([self._app.mount()], limits=limits, tls=tls, clock=clock, budget=budget)
        self.sweep = self._listener.sweep

    async def listen(self, host: str, port: int) -> tuple[str, int]:
        """Accept on a TCP address and return the bound one; raise OSError if it is not available."""
        return await self._listener.listen(host, port)

    async def stop(self) -> None:
        """Answer the requests that have arrived, then stop."""
        await self._listener.drain(GRACE)
        await self._app.stop()
