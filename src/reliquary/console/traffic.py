"""Traffic to other managers: outgoing queues shown, paused and resumed, the manager off and on line."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.hresult import HResult
from reliquary.client.translate import outgoing_info, stream_info
from reliquary.console.context import Context, answer, context_of
from reliquary.console.errors import Refusal
from reliquary.console.queues import show_manager
from reliquary.engine import views
from reliquary.engine.streams import streams
from reliquary.protocols.srmp.machine import Srmp
from reliquary.queueing.events import Answer, BringOnline, PauseQueue, ResumeQueue, TakeOffline
from reliquary.queueing.security.rights import ManagerRight


async def list_outgoing(request: Request) -> Response:
    """GET /outgoing."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    opened = context.opened
    seen = [outgoing_info(each) for each in views.outgoing_queues(opened.state)]
    await opened.settled()
    return answer({"outgoing": seen})


async def show_outgoing(request: Request) -> Response:
    """GET /outgoing/{destination}."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    return await _shown(context, request.path_params["destination"])


async def pause(request: Request) -> Response:
    """POST /outgoing/{destination}/pause."""
    context, destination = context_of(request), request.path_params["destination"]
    await context.ask(lambda to: PauseQueue(to, destination))
    return await _shown(context, destination)


async def resume(request: Request) -> Response:
    """POST /outgoing/{destination}/resume."""
    context, destination = context_of(request), request.path_params["destination"]
    await context.ask(lambda to: ResumeQueue(to, destination))
    return await _shown(context, destination)


async def list_streams(request: Request) -> Response:
    """GET /streams."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    opened = context.opened
    seen = [stream_info(each) for each in streams(opened.state, opened.machine(Srmp).state)]
    await opened.settled()
    return answer({"streams": seen})


async def take_offline(request: Request) -> Response:
    """POST /manager/offline."""
    await context_of(request).ask(TakeOffline)
    return await show_manager(request)


async def bring_online(request: Request) -> Response:
    """POST /manager/online."""
    await context_of(request).ask(BringOnline)
    return await show_manager(request)


async def _shown(context: Context, destination: str) -> Response:
    """An outgoing queue as it is; what is told of it is on disk by then."""
    view = views.outgoing_queue(context.opened.state, destination)
    if view is None:
        raise Refusal(Answer(HResult.QUEUE_NOT_FOUND, f"nothing was ever sent to {destination}"))
    await context.opened.settled()
    return answer(outgoing_info(view))
