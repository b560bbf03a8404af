"""Reads the settings again and lists administrative acts, as requests about the server itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from starlette.requests import Request
from starlette.responses import Response

from reliquary.client.records import ActInfo, ReloadInfo
from reliquary.console.context import Context, answer, context_of
from reliquary.console.noting import tell
from reliquary.net.api.administration import page_type
from reliquary.net.api.limits import limited
from reliquary.net.api.operations import AFTER, LIMIT, Query, operation
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.views.pages import Page, as_json, wanted_page

ACTS_QUERY: Final = (
    replace(AFTER, kind=Annotated[str, limited(pattern="^([0-9]{1,8}-[0-9]{1,12})?$")]),
    LIMIT,
    Query(name="who", help="Only acts of the user with this name."),
    Query(name="act", help="Only acts of this name, such as `purge-queue`."),
)


@operation("Read the settings anew and apply what needs no restart", answer=ReloadInfo)
async def reload_config(request: Request) -> Response:
    """Serve POST /config/reload, which can change access rights and needs the right to change them."""
    context = context_of(request)
    context.need(ManagerRight.CHANGE_MACHINE_PERMISSIONS)
    report = await context.reload()
    tell(request, detail=f"applied: {', '.join(report.applied) or 'nothing'}")
    return answer(report)


@operation("List administrative acts, the newest first", query=ACTS_QUERY, answer=page_type("acts", ActInfo))
async def list_acts(request: Request) -> Response:
    """Serve GET /acts?after=NEXT&limit=NUMBER&who=NAME&act=ACT: return a page of acts."""
    return answer(as_json("acts", await acts_of(request, context_of(request))))


async def acts_of(request: Request, context: Context, limit: str | None = None) -> Page[ActInfo]:
    """Return the page of acts for a query, if the user may change the manager."""
    context.need(ManagerRight.SET_MACHINE_PROPERTIES)
    query = request.query_params
    wanted = wanted_page(query.get("after"), limit or query.get("limit"))
    return await context.acts.read(wanted, query.get("who", ""), query.get("act", ""))
