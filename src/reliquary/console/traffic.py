"""Takes the manager offline and brings it online."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from reliquary.client.records import ManagerInfo
from reliquary.console.context import context_of
from reliquary.console.queues import show_manager
from reliquary.net.api.operations import operation
from reliquary.queueing.model.events import BringOnline, TakeOffline


@operation("Take the manager offline: no messages come from other managers or go to them", answer=ManagerInfo)
async def take_offline(request: Request) -> Response:
    """Serve POST /manager/offline: stop sending to and receiving from other managers."""
    await context_of(request).ask(TakeOffline)
    return await show_manager(request)


@operation("Bring the manager online", answer=ManagerInfo)
async def bring_online(request: Request) -> Response:
    """Serve POST /manager/online: send to and receive from other managers again."""
    await context_of(request).ask(BringOnline)
    return await show_manager(request)
