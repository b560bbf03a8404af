"""Shows the page of administrative acts: who changed what, and what was refused."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.context import context_of
from reliquary.console.upkeep import acts_of
from reliquary.console.web.pages import render

PAGE: Final = "100"
"""The number of acts on one page."""
HEADS: Final = ("time", "who", "act", "object", "outcome", "why", "detail", "times", "from")
"""The columns of the page; one in which no act of the page has a value is left out."""


async def show_acts(request: Request) -> Response:
    """Serve GET /console/acts?after=NEXT&who=NAME: show a page of acts."""
    context = context_of(request)
    page = await acts_of(request, context, PAGE)
    rows = [
        (e.time, e.who, e.act, e.object, e.outcome, e.why, e.detail, e.times, e.source) for e in page.records
    ]
    used = [at for at in range(len(HEADS)) if any(row[at] for row in rows)]
    return render(
        request,
        "acts.html",
        heads=[HEADS[at] for at in used],
        rows=[[row[at] for at in used] for row in rows],
        next=page.next,
        who=request.query_params.get("who", ""),
        trouble=context.acts.trouble,
    )
