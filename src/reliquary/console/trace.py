r"""Finds the way of a message through managers: its local events, and those of the peers.

    GET /history/trace?message=GUID\NUMBER    here, then the peers; `here=true` asks no peer

Each line is for users who may look at messages of its queue.  The peers are asked with the proofs of the
settings, not with that of the user: so they are asked only for a user who may see a line of this message
here, or who may look at dead letters of this manager.
"""

from __future__ import annotations

from typing import Annotated, Final

from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.client.records import Trace, TracedManager, TraceLine
from reliquary.console.context import Context, answer, context_of
from reliquary.console.history import OFF
from reliquary.console.message_lines import Found, find_lines
from reliquary.console.message_order import in_order
from reliquary.net.api.limits import limited
from reliquary.net.api.numbers import flag_of, object_id_of
from reliquary.net.api.operations import Query, operation
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.permission import Act, lacks, lacks_on_manager

QUERY: Final = (
    Query(
        name="message",
        kind=Annotated[
            str, limited(pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\\[0-9]{1,9}$")
        ],
        required=True,
        help="The identifier of the message, GUID\\NUMBER.",
    ),
    Query(name="here", kind=bool, help="Whether only this manager is asked, and none of its peers."),
)


@operation("Show the way of a message through managers", query=QUERY, answer=Trace)
async def show_trace(request: Request) -> Response:
    """Serve GET /history/trace?message=ID: return the events of a message."""
    context, query = context_of(request), request.query_params
    elsewhere = not flag_of("here", query.get("here", "false"))
    return answer(await trace_message(context, query.get("message", ""), elsewhere=elsewhere))


async def trace_message(
    context: Context, identifier: str, number: int = 0, *, elsewhere: bool = True
) -> Trace:
    """Return the events of a message; `number` is its number at this manager, if that is known.

    A user who may see none of its local events gets a Refusal.
    """
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    message = str(object_id_of("message", identifier))
    found = await find_lines(context.opened, message=number, identifier=message)
    own, lines = _here(context, found)
    managers, why_not = [own], lacks_on_manager(context.opened.state, context.by, _LOOK)
    if own.hidden and not lines:
        raise Refusal(Answer(HResult.ACCESS_DENIED, why_not or "no event of this message may be seen"))
    if elsewhere and (lines or not why_not):
        for manager, there in await context.peers.trace(message):
            managers.append(manager)
            lines += there
    return Trace(message=message, lines=in_order(lines), managers=managers)


_LOOK: Final = ManagerRight.PEEK_DEADLETTER_MESSAGE


def _here(context: Context, found: Found | None) -> tuple[TracedManager, list[TraceLine]]:
    name = context.opened.state.identity().computer_name
    if found is None:
        return TracedManager(name=name, why=OFF), []
    lines = [line for line in found.lines if may_see(context, line)]
    hidden = len(found.lines) - len(lines)
    return TracedManager(name=name, lines=len(lines), is_partial=found.is_partial, hidden=hidden), lines


def may_see(context: Context, line: TraceLine) -> bool:
    """Return whether a user may read messages of the line's queue, or of the manager if it was deleted."""
    state = context.opened.state
    try:
        queue = destinations.find(state, line.queue) if line.queue else None
    except UsageError:
        queue = None
    if queue is None:
        return not lacks_on_manager(state, context.by, _LOOK)
    return not lacks(state, context.by, queue, Act.PEEK)
