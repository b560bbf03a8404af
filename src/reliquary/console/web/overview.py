"""Shows the first page: the messages and rates of the manager, and its alarms."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.time import MILLISECOND
from reliquary.console.context import Context, context_of
from reliquary.console.samples import Sample, rates
from reliquary.console.web.alarms import Alarm, alarms
from reliquary.console.web.charts import Series, legend, line_chart
from reliquary.console.web.pages import render, settled
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.views.manager import manager_view

Chart = tuple[str, Markup, list[tuple[int, str, str]]]
"""The title of a chart, the drawing, and the text beside it."""


async def show_overview(request: Request) -> Response:
    """Serve GET /console: show the first page."""
    return await _shown(request, "overview.html")


async def show_live_part(request: Request) -> Response:
    """Serve GET /console/live: the part of the first page that htmx updates with each sample."""
    return await _shown(request, "overview_live.html")


async def show_alarms(request: Request) -> Response:
    """Serve GET /console/alarms: show all alarms."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    return await settled(context, lambda: render(request, "alarms.html", alarms=alarms_of(context)))


async def _shown(request: Request, template: str) -> Response:
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    return await settled(
        context,
        lambda: render(
            request,
            template,
            manager=manager_view(context.opened.state),
            connections=context.connections(),
            charts=charts_of(context.console.sampler.samples),
            alarms=alarms_of(context),
        ),
    )


def alarms_of(context: Context) -> list[Alarm]:
    """Return the current alarms of the server."""
    history = context.opened.history
    status = None if history is None else history.status()
    return alarms(context.opened, status, context.console.sampler, context.acts.trouble)


def charts_of(samples: Sequence[Sample]) -> list[Chart]:
    """Return the charts of the first page: rates, depth, latencies and the work of the store."""
    found = list(rates(list(samples)))
    arrived = Series("arrived", [(each.moment, each.arrived) for each in found])
    left = Series("left", [(each.moment, each.left) for each in found])
    depth = Series("messages", [(each.moment, each.messages) for each in samples])
    confirm = Series("to disk", [(each.moment, each.confirm / MILLISECOND) for each in samples])
    lag = Series("delay of the loop", [(each.moment, each.lag / MILLISECOND) for each in samples])
    syncs = Series("syncs", [(each.moment, each.syncs) for each in found])
    return [
        _chart("Messages a second", "/s", arrived, left),
        _chart("Messages in all queues", "", depth),
        _chart("Milliseconds until an event is on disk", "ms", confirm, lag),
        _chart("Syncs of the store a second", "/s", syncs),
    ]


def _chart(title: str, unit: str, *series: Series) -> Chart:
    return title, line_chart(title, unit, *series), legend(unit, *series)
