"""Shows the manager; creates, changes, purges and deletes queues."""

from __future__ import annotations

from typing import Annotated, Any, Final, get_type_hints
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.client.records import ManagerInfo
from reliquary.client.translate import changes_of, manager_info
from reliquary.console.context import Context, answer, context_of, read_body
from reliquary.console.noting import tell
from reliquary.net.api.limits import Name, limited
from reliquary.net.api.operations import operation
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.events import Answer, ChangeQueue, CreateQueue, DeleteQueue, Purged, PurgeQueue
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.queue import BASE_PRIORITY_LIMIT, QUEUE_LABEL_LIMIT, QueueSettings
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.views.manager import manager_view
from reliquary.views.queues import QueueInfo, Settings, queue


class Counted(msgspec.Struct):
    """The number of messages that were deleted."""

    messages: int


_NUMBER: Final = limited(minimum=0, maximum=FOREVER)
_MULTICAST: Final = (
    r"^((22[4-9]|23[0-9])(\.(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])){3}:[1-9][0-9]{0,3})?$"
)
_KINDS: Final[dict[str, Any]] = get_type_hints(Settings) | {
    "label": Annotated[str, limited(maxLength=QUEUE_LABEL_LIMIT)],
    "quota": Annotated[int, _NUMBER] | None,
    "journal_quota": Annotated[int, _NUMBER] | None,
    "base_priority": Annotated[int, limited(minimum=-BASE_PRIORITY_LIMIT, maximum=BASE_PRIORITY_LIMIT)],
    "multicast_address": Annotated[str, limited(pattern=_MULTICAST)] | None,
    "type": UUID,
    "poison_limit": Annotated[int, _NUMBER],
    "retry_delay": Annotated[int, _NUMBER],
    "longest_retry_delay": Annotated[int, _NUMBER],
}
"""The settings as requests have them, with their limits."""
_FIXED: Final = "transactional"
"""The setting that only a new queue accepts."""
SettingsChange: Final = msgspec.defstruct(
    "SettingsChange",
    [(name, kind | msgspec.UnsetType, msgspec.UNSET) for name, kind in _KINDS.items() if name != _FIXED],
    forbid_unknown_fields=True,
)
NewQueue: Final = msgspec.defstruct(
    "NewQueue",
    [("name", Name), (_FIXED, bool, False)],
    bases=(SettingsChange,),
    forbid_unknown_fields=True,
    kw_only=True,
)
_object = msgspec.json.Decoder(dict[str, Any])


@operation("Show the manager", answer=ManagerInfo)
async def show_manager(request: Request) -> Response:
    """Serve GET /manager: return the manager."""
    context = context_of(request)
    opened = context.opened
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    seen = manager_info(manager_view(opened.state))
    await opened.settled()
    return answer(seen)


@operation("Create a queue", body=NewQueue, body_required=True, answer=QueueInfo, status=201)
async def create_queue(request: Request) -> Response:
    """Serve POST /queues: create a queue."""
    context = context_of(request)
    given = await read_body(request, _object)
    name = given.pop("name", None)
    if not isinstance(name, str):
        raise UsageError(f"name is the new queue's name, not {name!r}")
    tell(request, about=name)
    settings = QueueSettings(**changes_of(given))
    await context.ask(lambda to: CreateQueue(to, name, settings))
    return await _shown(context, name, 201)


@operation("Change settings of a queue", body=SettingsChange, answer=QueueInfo)
async def change_queue(request: Request) -> Response:
    """Serve PATCH /queues/{queue}: change settings of a queue."""
    context = context_of(request)
    name = request.path_params["queue"]
    given = await read_body(request, _object)
    changes = changes_of(given)
    tell(request, detail=", ".join(changes))
    await context.ask(lambda to: ChangeQueue(to, name, msgspec.to_builtins(changes)))
    return await _shown(context, name)


@operation("Delete a queue with its messages", answer=Counted)
async def delete_queue(request: Request) -> Response:
    """Serve DELETE /queues/{queue}: delete a queue."""
    name = request.path_params["queue"]
    return _counted(await context_of(request).ask(lambda to: DeleteQueue(to, name)))


@operation("Delete all messages of a queue", answer=Counted)
async def purge_queue(request: Request) -> Response:
    """Serve POST /queues/{queue}/purge: delete the messages of a queue."""
    name = request.path_params["queue"]
    return _counted(await context_of(request).ask(lambda to: PurgeQueue(to, name)))


async def _shown(context: Context, name: str, status: int = 200) -> Response:
    """Return a queue in its current state, after everything in the answer is on disk."""
    found = queue(context.opened.state, name)
    if found is None:
        raise Refusal(Answer(HResult.QUEUE_NOT_FOUND, f"there is no queue {name}"))
    await context.opened.settled()
    return answer(found, status)


def _counted(answered: Answer) -> Response:
    assert isinstance(answered, Purged), f"no count: {answered!r}"
    return answer(Counted(answered.count))
