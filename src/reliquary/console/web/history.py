"""Shows the page of the history: its state, its latest events, and the events of one message."""

from __future__ import annotations

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.faults import UsageError
from reliquary.console.context import context_of
from reliquary.console.latest_events import read_latest_events
from reliquary.console.message_lines import find_identifier
from reliquary.console.trace import may_see, trace_message
from reliquary.console.web.pages import number_of, render
from reliquary.console.web.story import way_of
from reliquary.engine.history import HistoryStatus
from reliquary.queueing.model.security.rights import ManagerRight

_NAMES: Final = {
    "folder": "folder",
    "last": "number of the last event",
    "exported": "exported up to event",
    "pending": "events to export",
    "pending_bytes": "bytes to export",
    "files": "files",
    "bytes": "bytes of the files",
    "oldest": "first hour in the files",
    "newest": "last hour in the files",
    "stopped": "stopped for lack of room",
    "missing": "events that were only counted",
    "error": "why the last export failed",
}
"""The names of the fields of `HistoryStatus` on the page."""


async def show_history(request: Request) -> Response:
    r"""Serve GET /console/history?message=GUID\NUMBER, or ?number=NUMBER: show the events of a message.

    Without a message, show the latest events.
    """
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    wanted = request.query_params.get("message", "").strip()
    number = request.query_params.get("number", "")
    exporter = context.opened.history
    trace, why = None, ""
    if number and not wanted:
        wanted = await find_identifier(context.opened, number_of(number))
        if not wanted:
            why = f"The history has no event that names message {number}: its first events were removed."
    latest = [] if wanted or why else await read_latest_events(context.opened)
    shown = [each for each in latest if may_see(context, each.line)]
    try:
        trace = await trace_message(context, wanted) if wanted else None
    except UsageError as fault:
        why = str(fault)
    return render(
        request,
        "history.html",
        400 if why else 200,
        status_fields=None if exporter is None else _fields(exporter.status()),
        latest=shown,
        hidden=len(latest) - len(shown),
        why=why,
        wanted=wanted,
        trace=trace,
        way=[] if trace is None else way_of(trace),
    )


def _fields(status: HistoryStatus) -> dict[str, object]:
    return {_NAMES[name]: value for name, value in msgspec.structs.asdict(status).items()}
