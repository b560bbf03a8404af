"""Implements the control plane as an ASGI app, with its table of paths and those of the nouns."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from reliquary.client import nouns
from reliquary.console import (
    access,
    directory,
    events,
    history,
    metrics,
    queues,
    store,
    trace,
    traffic,
    upkeep,
)
from reliquary.console.acts import ActsLog
from reliquary.console.administration import rows_of
from reliquary.console.context import Context, answer, context_of
from reliquary.console.description import Row, api, routes_of_rows, with_description
from reliquary.console.errors import HANDLERS
from reliquary.console.noting import CHANGES, Noted
from reliquary.console.request import Asked
from reliquary.console.strangers import Strangers
from reliquary.console.web.refusals import denied, with_pages
from reliquary.console.web.routes import ROUTES as PAGES
from reliquary.net.api.health import HealthOut
from reliquary.net.api.operations import TEXT, operation
from reliquary.net.identity.admission import Admission
from reliquary.net.identity.passwords import Checking
from reliquary.net.identity.rates import Rates
from reliquary.net.identity.shown import Denied
from reliquary.net.identity.users import NotKnown
from reliquary.queueing.model.administration import Plane
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal

API: Final = "/api/v1"
LONGEST_PATH: Final = 200
"""The most characters of the path of a refused request in the log of acts."""


@operation("Say which manager answers, and whether it is ready", answer=HealthOut)
async def show_health(request: Request) -> Response:
    """Serve GET /health: return the state of the manager."""
    context = context_of(request)
    state = context.opened.state
    manager = str(state.identity().identifier)
    return answer(HealthOut(state.manager.state.value, manager, context.version))


@operation("Say that the process answers", answers=(TEXT,))
async def show_alive(_: Request) -> Response:
    """Serve GET /healthz: answer as long as the process runs."""
    return PlainTextResponse("alive\n")


@operation(
    "Say whether the manager accepts messages",
    answers=(TEXT,),
    statuses={503: "It does not; the text says why."},
)
async def show_ready(request: Request) -> Response:
    """Serve GET /readyz: 200 if the manager accepts messages, otherwise 503 with the reason."""
    manager = context_of(request).opened.state.manager
    if manager.state is not ManagerState.READY:
        return PlainTextResponse(f"the manager is {manager.state.value}\n", 503)
    if manager.throttled:
        return PlainTextResponse("the manager accepts no messages now\n", 503)
    return PlainTextResponse("ready\n")


BELOW_A_QUEUE: Final = (
    api(f"{API}/queues/{{queue:path}}/access", access.show_access, "GET"),
    api(f"{API}/queues/{{queue:path}}/access", access.change_access, "POST"),
    api(f"{API}/queues/{{queue:path}}/purge", queues.purge_queue, "POST"),
)
"""The paths that precede the path of a queue itself, whose name may contain slashes."""

ROUTES: Final = (
    api("/healthz", show_alive, "GET"),
    api("/readyz", show_ready, "GET"),
    api("/metrics", metrics.show_metrics, "GET"),
    api(f"{API}/health", show_health, "GET"),
    api(f"{API}/events", events.stream_events, "GET"),
    api(f"{API}/manager", queues.show_manager, "GET"),
    api(f"{API}/manager/offline", traffic.take_offline, "POST"),
    api(f"{API}/manager/online", traffic.bring_online, "POST"),
    api(f"{API}/directory", directory.show_status, "GET"),
    api(f"{API}/directory/attach", directory.attach, "POST"),
    api(f"{API}/directory/detach", directory.detach, "POST"),
    api(f"{API}/directory/export", directory.export, "GET"),
    api(f"{API}/directory/import", directory.take_in, "POST"),
    api(f"{API}/directory/{{kind}}", directory.list_objects, "GET"),
    api(f"{API}/directory/{{kind}}", directory.add_object, "POST"),
    api(f"{API}/directory/{{kind}}/{{which:path}}", directory.show_object, "GET"),
    api(f"{API}/directory/{{kind}}/{{which:path}}", directory.change_object, "PATCH"),
    api(f"{API}/directory/{{kind}}/{{which:path}}", directory.remove_object, "DELETE"),
    api(f"{API}/queues", queues.create_queue, "POST"),
    api(f"{API}/access", access.show_access, "GET"),
    api(f"{API}/access", access.change_access, "POST"),
    api(f"{API}/queues/{{queue:path}}", queues.change_queue, "PATCH"),
    api(f"{API}/queues/{{queue:path}}", queues.delete_queue, "DELETE"),
    api(f"{API}/history", history.show_history, "GET"),
    api(f"{API}/history/trace", trace.show_trace, "GET"),
    api(f"{API}/history/export", history.export_history, "POST"),
    api(f"{API}/store/verify", store.verify_store, "POST"),
    api(f"{API}/store/backup", store.backup_store, "POST"),
    api(f"{API}/acts", upkeep.list_acts, "GET"),
    api(f"{API}/config/reload", upkeep.reload_config, "POST"),
)


class Admitted:
    """Identifies the client.

    Refuses unauthenticated clients, other hosts, foreign pages and unknown credentials.
    """

    def __init__(
        self, app: ASGIApp, admission: Admission, rates: Rates, strangers: Strangers, acts: ActsLog
    ) -> None:
        self._app = app
        self._acts = acts
        self._admission = admission
        self._rates = rates
        self._strangers = strangers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with a refusal."""
        if scope["type"] == "http":
            asked = Asked(scope)
            scope["by"] = ANONYMOUS
            try:
                scope["by"] = by = await self._identify(asked)
                self._rates.count(by, asked.peer)
                self._strangers.check(asked, by)
            except Denied as why:
                self._note(asked, scope["by"], why)
                with suppress(TimeoutError):
                    await asyncio.wait_for(_gone(receive), why.wait)
                await denied(scope["path"], why)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _identify(self, asked: Asked) -> Principal:
        try:
            return self._admission(asked)
        except Checking as why:
            return await asyncio.shield(why.checked)

    def _note(self, asked: Asked, by: Principal, why: Denied) -> None:
        """Count a refused attempt to change something; a wrong proof was counted before."""
        if asked.method in CHANGES and not isinstance(why, NotKnown):
            reason = f"{asked.method} {asked.path[:LONGEST_PATH]}: {why}"
            self._acts.count(asked.peer, "ask-for-change", reason, by.name)


async def _gone(receive: Receive) -> None:
    """Wait until the client closes the connection; discard its body."""
    while (await receive())["type"] != "http.disconnect":
        pass


def table() -> list[Row]:
    """Return all methods of all paths of the API."""
    of_nouns = [row for noun in nouns.NOUNS if noun.plane is Plane.CONTROL for row in rows_of(noun, API)]
    return [*BELOW_A_QUEUE, *of_nouns, *ROUTES]


def build_app(context: Context, admission: Admission, rates: Rates) -> Starlette:
    """Return the app of one server; `admission` decides who is admitted, `rates` how often."""
    rows = with_description(f"{API}/openapi.json", context.version, table())
    strangers = Strangers(context.users, lambda: context.opened.state.access.anonymous_may)
    app = Starlette(
        routes=[*routes_of_rows(rows), *PAGES],
        exception_handlers=with_pages(HANDLERS),
        middleware=[
            Middleware(Admitted, admission, rates, strangers, context.acts),
            Middleware(Noted, context.acts),
        ],
    )
    app.router.redirect_slashes = False
    app.state.context = context
    return app
