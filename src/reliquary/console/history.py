"""Shows the state of the history, and exports it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.faults import UsageError
from reliquary.client.records import HistoryFileInfo, HistoryInfo
from reliquary.client.translate import history_info
from reliquary.console.context import Context, answer, context_of, read_body
from reliquary.engine.history import Exporter, NotExported
from reliquary.net.api.limits import limited
from reliquary.net.api.operations import operation
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.views.administration import NotDone

OFF: Final = "the history is off; enabled = true in the table [history] of the settings turns it on"


ServerPath = Annotated[str, limited(pattern="^/.+$")]
"""A full path on the machine of the server."""


class ExportIn(msgspec.Struct, forbid_unknown_fields=True):
    """The folder for copies of the files; an empty one makes no copy."""

    to: Annotated[str, limited(pattern="^(/.+)?$")] = ""


class Exported(msgspec.Struct):
    """The files that were written or copied."""

    files: list[HistoryFileInfo]


_export = msgspec.json.Decoder(ExportIn)


@operation("Show the state of the history", answer=HistoryInfo)
async def show_history(request: Request) -> Response:
    """Serve GET /history: return how far the history is exported."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    return answer(history_info(exporter_of(context).status()))


@operation("Export the history to files now", body=ExportIn, answer=Exported)
async def export_history(request: Request) -> Response:
    """Serve POST /history/export: answer after all events so far are in files."""
    context = context_of(request)
    context.need(ManagerRight.SET_MACHINE_PROPERTIES)
    given = await read_body(request, _export)
    if given.to and (not given.to.startswith("/") or "\0" in given.to):
        raise UsageError(f"to is a full path on the server, from / on, not {given.to[:200]!r}")
    try:
        files = await exporter_of(context).export_now(Path(given.to) if given.to else None)
    except NotExported as why:
        raise NotDone(str(why)) from why
    shown = [
        HistoryFileInfo(path=str(each.path), first=each.first, last=each.last, bytes=each.size)
        for each in files
    ]
    return answer(Exported(shown))


def exporter_of(context: Context) -> Exporter:
    """Return the exporter of a server; refuse the request on a server without a history."""
    exporter = context.opened.history
    if exporter is None:
        raise NotDone(OFF)
    return exporter
