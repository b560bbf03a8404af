"""The manager is shown; queues are created, changed, purged and deleted."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.client.translate import changes_of, manager_info
from reliquary.console.context import Context, answer, context_of, read_body
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.events import Answer, ChangeQueue, CreateQueue, DeleteQueue, Purged, PurgeQueue
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.views.manager import manager_view
from reliquary.views.queues import queue

_object = msgspec.json.Decoder(dict[str, Any])


async def show_manager(request: Request) -> Response:
    """GET /manager."""
    context = context_of(request)
    opened = context.opened
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    seen = manager_info(manager_view(opened.state))
    await opened.settled()
    return answer(seen)


async def create_queue(request: Request) -> Response:
    """POST /queues."""
    context = context_of(request)
    given = await read_body(request, _object)
    name = given.pop("name", None)
    if not isinstance(name, str):
        raise UsageError(f"name is the new queue's name, not {name!r}")
    settings = QueueSettings(**changes_of(given))
    await context.ask(lambda to: CreateQueue(to, name, settings))
    return await _shown(context, name, 201)


async def change_queue(request: Request) -> Response:
    """PATCH /queues/{queue}."""
    context = context_of(request)
    name = request.path_params["queue"]
    given = await read_body(request, _object)
    changes = changes_of(given)
    await context.ask(lambda to: ChangeQueue(to, name, msgspec.to_builtins(changes)))
    return await _shown(context, name)


async def delete_queue(request: Request) -> Response:
    """DELETE /queues/{queue}."""
    name = request.path_params["queue"]
    return _counted(await context_of(request).ask(lambda to: DeleteQueue(to, name)))


async def purge_queue(request: Request) -> Response:
    """POST /queues/{queue}/purge."""
    name = request.path_params["queue"]
    return _counted(await context_of(request).ask(lambda to: PurgeQueue(to, name)))


async def _shown(context: Context, name: str, status: int = 200) -> Response:
    """A queue as it is; what is told of it is on disk by then."""
    found = queue(context.opened.state, name)
    if found is None:
        raise Refusal(Answer(HResult.QUEUE_NOT_FOUND))
    await context.opened.settled()
    return answer(found, status)


def _counted(answered: Answer) -> Response:
    assert isinstance(answered, Purged), f"no count: {answered!r}"
    return answer({"messages": answered.count})
