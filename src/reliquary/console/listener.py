"""uvicorn inside our loop: it neither takes our signals nor talks, and stops when it is told."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette

GRACE_SECONDS: Final = 5
IDLE_SECONDS: Final = 60


class _Server(uvicorn.Server):
    """Signals are the server's business, not a listener's."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class ControlListener:
    """Serves the control plane at one address."""

    def __init__(self, app: Starlette, *, certificate: Path | None = None, key: Path | None = None) -> None:
        config = uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        self._server = _Server(config)
        self._task: asyncio.Task[None] | None = None

    def listen(self, host: str, port: int) -> tuple[str, int]:
        """Accept on a TCP address; the answer is the bound one.  OSError when it cannot be had."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        bound = socket.create_server((host, port), family=family, backlog=128)
        self._task = asyncio.get_running_loop().create_task(self._server.serve([bound]))
        address = bound.getsockname()
        return address[0], address[1]

    async def stop(self) -> None:
        """Answer what was asked, then stop."""
        self._server.should_exit = True
        if self._task is not None:
            await self._task
