"""Shows and changes access lists of queues and of the manager."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.hresult import HResult
from reliquary.client.records import AccessInfo
from reliquary.client.translate import access_info, rights_of
from reliquary.console.context import Context, answer, context_of, read_body
from reliquary.console.noting import tell
from reliquary.net.api.operations import operation
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.events import AccessChange, Answer, ChangeAccess
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.permission import Act
from reliquary.queueing.security.permissions import list_named


class ChangeIn(msgspec.Struct, forbid_unknown_fields=True):
    """A change of an access list: the user or group, and the rights by their names."""

    change: AccessChange
    user: str
    rights: list[str] = []


_change = msgspec.json.Decoder(ChangeIn)


@operation("Show an access list", answer=AccessInfo)
async def show_access(request: Request) -> Response:
    """Serve GET /access and GET /queues/{queue}/access: return the access list."""
    context, name = context_of(request), request.path_params.get("queue", "")
    _check_there(context, name)
    if not name:
        context.need(ManagerRight.GET_MACHINE_PERMISSIONS)
    queue = destinations.find(context.opened.state, name) if name else None
    if queue is not None:
        context.need_on(queue, Act.SHOW_ACCESS)
    return await _shown(context, name)


@operation("Change an access list", body=ChangeIn, body_required=True, answer=AccessInfo)
async def change_access(request: Request) -> Response:
    """Serve POST /access and POST /queues/{queue}/access: change the access list and return it."""
    context, name = context_of(request), request.path_params.get("queue", "")
    given = await read_body(request, _change)
    _check_there(context, name)
    sid = context.users.sid_of(given.user)
    mask = rights_of(list_named(context.opened.state, name)[1], given.change.value, given.rights)
    rights = " ".join(given.rights) or "all"
    tell(request, about=name or "manager", detail=f"{given.change.value} {given.user} {rights}")
    await context.ask(lambda to: ChangeAccess(to, name, given.change, sid, mask))
    return await _shown(context, name)


def _check_there(context: Context, name: str) -> None:
    if name and destinations.find(context.opened.state, name) is None:
        raise Refusal(Answer(HResult.QUEUE_NOT_FOUND, f"there is no queue {name}"))


async def _shown(context: Context, name: str) -> Response:
    seen = access_info(*list_named(context.opened.state, name), context.users.name_of)
    await context.opened.settled()
    return answer(seen)
