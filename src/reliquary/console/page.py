"""One page for people: the queues, how deep they are, who waits."""

from __future__ import annotations

from html import escape
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from reliquary.console.context import context_of
from reliquary.queueing.model.administration import View
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.views.administration import find_page
from reliquary.views.manager import ManagerView, manager_view
from reliquary.views.pages import Page, wanted_page
from reliquary.views.queues import QUEUE, QueueInfo

REFRESH_SECONDS: Final = 5

HEADERS: Final = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": "no-store",
}

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --quiet: #777; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; }
p { color: var(--quiet); margin-top: .25rem; }
table { border-collapse: collapse; width: 100%; margin-top: 1.5rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .5rem; }
th, td { padding: .4rem .75rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; }
td { font-variant-numeric: tabular-nums; }
tfoot td, tfoot th { border-bottom: none; font-weight: 600; }
"""

_HEAD: Final = "".join(
    f'<th scope="col">{name}</th>' for name in ("Queue", "Messages", "Locked", "Bytes", "Readers waiting")
)


async def show_page(request: Request) -> Response:
    """GET /, GET /?after=NEXT."""
    context = context_of(request)
    context.need(ManagerRight.GET_MACHINE_PROPERTIES)
    state = context.opened.state
    view, wanted = View(context.opened, context.by), wanted_page(request.query_params.get("after"), None)
    html = render(manager_view(state), find_page(view, QUEUE, {}, wanted), context.version)
    await context.opened.settled()
    return Response(html, headers=HEADERS, media_type="text/html")


def render(manager: ManagerView, queues: Page[QueueInfo], version: str) -> str:
    """The page; where not all queues are on it, it leads to the next one."""
    rows = "".join(map(_row, queues.records))
    link = f'<p><a href="/?after={quote(queues.next, safe="")}">More queues</a></p>\n' if queues.next else ""
    total = f"<td>{manager.messages:,}</td><td></td><td>{manager.bytes:,}</td><td></td>"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="{REFRESH_SECONDS}">
<title>Reliquary on {escape(manager.computer_name)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Reliquary on {escape(manager.computer_name)}</h1>
<p>Version {escape(version)}, manager {escape(manager.identifier)}.
This page renews itself every {REFRESH_SECONDS} seconds. <a href="/metrics">Metrics</a></p>
<table>
<caption>Queues</caption>
<thead><tr>{_HEAD}</tr></thead>
<tbody>
{rows}</tbody>
<tfoot><tr><th scope="row">All, with journals</th>{total}</tr></tfoot>
</table>
{link}</main>
</body>
</html>
"""


def _row(queue: QueueInfo) -> str:
    label = f" <small>{escape(queue.settings.label)}</small>" if queue.settings.label else ""
    numbers = (queue.messages, queue.locked, queue.bytes, queue.readers_waiting)
    cells = "".join(f"<td>{number:,}</td>" for number in numbers)
    return f'<tr><th scope="row">{escape(queue.name)}{label}</th>{cells}</tr>\n'
