"""Traffic to other managers: the manager taken offline and brought online."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.context import context_of
from reliquary.console.queues import show_manager
from reliquary.queueing.model.events import BringOnline, TakeOffline


async def take_offline(request: Request) -> Response:
    """POST /manager/offline."""
    await context_of(request).ask(TakeOffline)
    return await show_manager(request)


async def bring_online(request: Request) -> Response:
    """POST /manager/online."""
    await context_of(request).ask(BringOnline)
    return await show_manager(request)
