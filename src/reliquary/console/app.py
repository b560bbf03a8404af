"""The control plane as an ASGI app: its table of paths, to which the nouns of administration add theirs."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from reliquary.client import nouns
from reliquary.console import access, directory, events, history, metrics, queues, store, traffic
from reliquary.console.administration import routes_of
from reliquary.console.context import Context, answer, context_of
from reliquary.console.errors import HANDLERS
from reliquary.console.request import Asked
from reliquary.console.web.refusals import with_pages
from reliquary.console.web.routes import ROUTES as PAGES
from reliquary.net.api.errors import error_json
from reliquary.net.identity.admission import Admission
from reliquary.net.identity.shown import Denied
from reliquary.queueing.model.administration import Plane
from reliquary.queueing.model.queue import ManagerState

API: Final = "/api/v1"
READS: Final = frozenset({"GET", "HEAD"})


async def show_health(request: Request) -> Response:
    """GET /health."""
    context = context_of(request)
    state = context.opened.state
    manager = str(state.identity().identifier)
    return answer({"status": state.manager.state.value, "manager": manager, "version": context.version})


async def show_alive(_: Request) -> Response:
    """GET /healthz: the process answers."""
    return PlainTextResponse("alive\n")


async def show_ready(request: Request) -> Response:
    """GET /readyz: 200 where the manager accepts messages, 503 with the reason where it does not."""
    manager = context_of(request).opened.state.manager
    if manager.state is not ManagerState.READY:
        return PlainTextResponse(f"the manager is {manager.state.value}\n", 503)
    if manager.throttled:
        return PlainTextResponse("the manager accepts no messages now\n", 503)
    return PlainTextResponse("ready\n")


BELOW_A_QUEUE: Final = (
    Route(f"{API}/queues/{{queue:path}}/access", access.show_access, methods=["GET"]),
    Route(f"{API}/queues/{{queue:path}}/access", access.change_access, methods=["POST"]),
    Route(f"{API}/queues/{{queue:path}}/purge", queues.purge_queue, methods=["POST"]),
)
"""They come before the path of a queue itself, whose name may hold slashes."""

ROUTES: Final = (
    Route("/healthz", show_alive, methods=["GET"]),
    Route("/readyz", show_ready, methods=["GET"]),
    Route("/metrics", metrics.show_metrics, methods=["GET"]),
    Route(f"{API}/health", show_health, methods=["GET"]),
    Route(f"{API}/events", events.stream_events, methods=["GET"]),
    Route(f"{API}/manager", queues.show_manager, methods=["GET"]),
    Route(f"{API}/manager/offline", traffic.take_offline, methods=["POST"]),
    Route(f"{API}/manager/online", traffic.bring_online, methods=["POST"]),
    Route(f"{API}/directory", directory.show_status, methods=["GET"]),
    Route(f"{API}/directory/attach", directory.attach, methods=["POST"]),
    Route(f"{API}/directory/detach", directory.detach, methods=["POST"]),
    Route(f"{API}/directory/export", directory.export, methods=["GET"]),
    Route(f"{API}/directory/import", directory.take_in, methods=["POST"]),
    Route(f"{API}/directory/{{kind}}", directory.list_objects, methods=["GET"]),
    Route(f"{API}/directory/{{kind}}", directory.add_object, methods=["POST"]),
    Route(f"{API}/directory/{{kind}}/{{which:path}}", directory.show_object, methods=["GET"]),
    Route(f"{API}/directory/{{kind}}/{{which:path}}", directory.change_object, methods=["PATCH"]),
    Route(f"{API}/directory/{{kind}}/{{which:path}}", directory.remove_object, methods=["DELETE"]),
    Route(f"{API}/queues", queues.create_queue, methods=["POST"]),
    Route(f"{API}/access", access.show_access, methods=["GET"]),
    Route(f"{API}/access", access.change_access, methods=["POST"]),
    Route(f"{API}/queues/{{queue:path}}", queues.change_queue, methods=["PATCH"]),
    Route(f"{API}/queues/{{queue:path}}", queues.delete_queue, methods=["DELETE"]),
    Route(f"{API}/history", history.show_history, methods=["GET"]),
    Route(f"{API}/history/export", history.export_history, methods=["POST"]),
    Route(f"{API}/store/verify", store.verify_store, methods=["POST"]),
    Route(f"{API}/store/backup", store.backup_store, methods=["POST"]),
)


class Admitted:
    """Finds out who asks, and refuses other hosts, pages of other sites and credentials of nobody."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or say why not."""
        if scope["type"] == "http":
            try:
                scope["by"] = self._admission(Asked(scope))
            except Denied as why:
                with suppress(TimeoutError):
                    await asyncio.wait_for(_gone(receive), why.wait)
                await _refusal(why)(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _gone(receive: Receive) -> None:
    """Wait until the client hangs up; its body is thrown away."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _refusal(why: Denied) -> Response:
    headers = {name.decode(): value.decode() for name, value in why.headers}
    return Response(error_json(why.code, str(why)), why.status, headers, media_type="application/json")


def build_app(context: Context, admission: Admission) -> Starlette:
    """The app of one server; `admission` says who may come in."""
    of_nouns = [
        route for noun in nouns.NOUNS if noun.plane is Plane.CONTROL for route in routes_of(noun, API)
    ]
    app = Starlette(
        routes=[*BELOW_A_QUEUE, *of_nouns, *ROUTES, *PAGES],
        exception_handlers=with_pages(HANDLERS),
        middleware=[Middleware(Admitted, admission)],
    )
    app.router.redirect_slashes = False
    app.state.context = context
    return app
