"""Lists all pages of the console, and the files that they load."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reliquary.console.context import context_of
from reliquary.console.noting import tell
from reliquary.console.web import acts, history, messages, overview, queues, records, signing
from reliquary.console.web.assets import PREFIX
from reliquary.console.web.pages import HEADERS
from reliquary.queueing.model.security.principals import ANONYMOUS

FOR_EVER: Final = {
    "cache-control": "public, max-age=31536000, immutable",
    "x-content-type-options": "nosniff",
}
SIGN_IN: Final = "/console/sign-in"


async def lead_to_console(_: Request) -> Response:
    """Serve GET / and GET /console/: redirect to the console."""
    return RedirectResponse("/console", 307)


async def show_asset(request: Request) -> Response:
    """Serve GET /console/static/{digest}/{name}: return a style sheet or a script."""
    asset = context_of(request).console.assets.get(request.path_params["name"])
    if asset is None:
        raise HTTPException(404)
    return Response(asset.content, 200, FOR_EVER, media_type=asset.kind)


Handler = Callable[[Request], Awaitable[Response]]


def _page(path: str, handler: Handler, method: str) -> Route:
    """Return the route of a page that only users see, if the server has users."""

    async def admitted(request: Request) -> Response:
        context = context_of(request)
        if context.by is ANONYMOUS and context.users.any:
            tell(request, why="no user is signed in")
            if "hx-request" in request.headers:  # a script would follow 303 and put the sign-in into the page
                return Response(status_code=204, headers=HEADERS | {"hx-redirect": SIGN_IN})
            return RedirectResponse(SIGN_IN, 303, HEADERS)
        return await handler(request)

    admitted.__name__ = handler.__name__  # the name of the act in the log of acts
    return Route(path, admitted, methods=[method])


ROUTES: Final = (
    Route("/", lead_to_console, methods=["GET"]),
    _page("/console/", lead_to_console, "GET"),
    _page("/console", overview.show_overview, "GET"),
    _page("/console/live", overview.show_live_part, "GET"),
    _page("/console/alarms", overview.show_alarms, "GET"),
    _page("/console/queues", queues.show_queues, "GET"),
    _page("/console/queues", queues.create_queue, "POST"),
    _page("/console/journals", queues.show_journals, "GET"),
    _page("/console/queue", queues.show_queue, "GET"),
    _page("/console/queue/settings", queues.change_queue, "POST"),
    _page("/console/queue/purge", queues.purge_queue, "POST"),
    _page("/console/queue/delete", queues.delete_queue, "POST"),
    _page("/console/queue/send", messages.send_message, "POST"),
    _page("/console/queue/return", messages.return_messages, "POST"),
    _page("/console/message", messages.show_message, "GET"),
    _page("/console/message/body", messages.download_body, "GET"),
    _page("/console/message/move", messages.move_message, "POST"),
    _page("/console/message/delete", messages.delete_message, "POST"),
    _page("/console/records/{plural}", records.show_records, "GET"),
    _page("/console/record/{plural}", records.show_record, "GET"),
    _page("/console/record/{plural}/{verb}", records.act_on_record, "POST"),
    _page("/console/consumers", records.show_consumers, "GET"),
    _page("/console/acts", acts.show_acts, "GET"),
    _page("/console/history", history.show_history, "GET"),
    Route(SIGN_IN, signing.show_sign_in, methods=["GET"]),
    Route(SIGN_IN, signing.sign_in, methods=["POST"]),
    Route("/console/sign-out", signing.sign_out, methods=["POST"]),
    Route(PREFIX + "{digest}/{name}", show_asset, methods=["GET"]),
)
