"""The page of the history: its state, and the events of a message that may have left long ago."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.context import context_of
from reliquary.console.trace import trace_message
from reliquary.console.web.pages import render
from reliquary.console.web.story import way_of
from reliquary.queueing.model.security.rights import ManagerRight


async def show_history(request: Request) -> Response:
    r"""Serve GET /console/history?message=GUID\NUMBER: show the events of a message."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    wanted = request.query_params.get("message", "").strip()
    exporter = context.opened.history
    trace = await trace_message(context, wanted) if wanted else None
    return render(
        request,
        "history.html",
        status_fields=None if exporter is None else msgspec.structs.asdict(exporter.status()),
        wanted=wanted,
        trace=trace,
        way=[] if trace is None else way_of(trace),
    )
