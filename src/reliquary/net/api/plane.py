"""Implements the data plane: one handler for its listener, and the refusal of requests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec

from reliquary.base.chance import Chance
from reliquary.base.faults import PeerFault, UsageError
from reliquary.base.hresult import HResult
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.api.context import Context, OnAct
from reliquary.net.api.errors import (
    BUSY,
    METHOD_NOT_ALLOWED,
    PATH_NOT_FOUND,
    Refused,
    error_json,
    refuse,
    refuse_stopping,
)
from reliquary.net.api.routes import PREFIX, ROUTES, ApiHandler, StreamHandler, allowed, shape_of
from reliquary.net.http import BodySink, Mount, Request, Responder
from reliquary.net.http.trace_fields import read_trace_fields
from reliquary.net.identity.admission import Admission
from reliquary.net.identity.late_body import LateBody, when_checked
from reliquary.net.identity.passwords import Checking
from reliquary.net.identity.rates import Rates
from reliquary.net.identity.shown import Denied
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.queueing.model.state import State

REFUSALS: Final = (
    UsageError, msgspec.MsgspecError, UnicodeDecodeError, PeerFault, Denied, Refused, Refusal,
    EngineStopped,
)  # fmt: skip
"""The exceptions for a request that is wrong or that comes at a wrong time."""

ON_DATA_PLANE: Final = (
    "this is the data plane; /api/v1/openapi.json lists its paths, the control plane has more"
)
NO_CONSOLE: Final = (
    "this is the data plane, with its API at /api/v1; the web console and the metrics are on the control port"
)

MatchedPath = tuple[ApiHandler, str, Principal]
"""The handler of a request, the name in its path, and its user; all follow from the head."""


class DataPlane:
    """Turns requests into events and answers into responses."""

    def __init__(
        self,
        engine: Engine,
        state: State,
        chance: Chance,
        version: str,
        admission: Admission | None = None,
        routes: Mapping[str, Mapping[str, ApiHandler]] = ROUTES,
        rates: Rates | None = None,
        on_act: OnAct | None = None,
    ) -> None:
        """Without an `admission`, all clients are anonymous; without `rates`, requests are not counted.

        `on_act` is called for acts of administrators.
        """
        self._rates = rates or Rates(lambda: 0)
        self._routes = routes
        self._context = Context(engine, state, chance, version)
        if on_act is not None:
            self._context.on_act = on_act
        self._admission = admission or Admission()

    def mounts(self) -> tuple[Mount, ...]:
        """Return the mounts for the paths of this API, and for all paths that no other mount has."""
        own = Mount(prefix=PREFIX, handler=self.handle, admit=self._admission)
        return own, Mount(prefix="", handler=nothing)

    def stop(self) -> None:
        """Refuse new requests: the answer says that the server stops."""
        self._context.stopping = True

    def handle(self, request: Request, responder: Responder) -> None:
        """Take a request; it is answered now, or when its event has been answered."""
        context, notes = self._context, request.notes
        try:
            if context.stopping:
                raise EngineStopped
            if notes.route is None:
                notes.route = self._route(request)
            handler, name, context.engine.by = notes.route
            if self._rates.rate:
                self._rates.count(context.engine.by, request.peer)
            handler(context, request, responder, name)
        except Checking as why:
            again, refuse_it = partial(self.handle, request, responder), partial(_refuse, responder)
            when_checked(why, responder, again, refuse_it)
        except REFUSALS as why:
            _refuse(responder, why)

    def _route(self, request: Request) -> MatchedPath:
        """Return the handler and the user for requests with this head; the client is admitted or refused."""
        shape, name = shape_of(request.path)
        methods = self._routes.get(shape)
        if methods is None:
            return _nothing_there, "", ANONYMOUS
        handler = methods.get("GET" if request.method == "HEAD" else request.method)
        if handler is None:
            return _answer_other_method, allowed(methods), ANONYMOUS
        request.notes.trace_context = read_trace_fields(request.fields)
        return handler, name, request.mount.admit(request)

    def streamed(self, prefix: str, methods: Mapping[str, StreamHandler]) -> Mount:
        """Return the mount of a path of this API whose bodies are passed on while they arrive."""

        def begin(request: Request, responder: Responder) -> BodySink:
            handler = methods.get(request.method)
            if handler is None:
                _answer_other_method(self._context, request, responder, ", ".join([*methods, "OPTIONS"]))
                return _Unwanted()
            try:
                if self._context.stopping:
                    raise EngineStopped
                self._context.engine.by = by = request.mount.admit(request)
                if self._rates.rate:
                    self._rates.count(by, request.peer)
                return handler(self._context, request, responder)
            except Checking as why:
                again, refuse_it = partial(begin, request, responder), partial(_unwanted, responder)
                return LateBody(responder, why, again, refuse_it)
            except REFUSALS as why:
                return _unwanted(responder, why)

        return Mount(prefix=prefix, begin=begin, admit=self._admission)


def nothing(request: Request, responder: Responder) -> None:
    """Answer a request for a path that does not exist."""
    here = ON_DATA_PLANE if request.path.startswith("/api") else NO_CONSOLE
    why = f"there is nothing at {request.path[:200]!r}: {here}"
    responder.respond(404, error_json(PATH_NOT_FOUND, why))


class _Unwanted:
    """Drops the body of a request that was refused."""

    def feed(self, data: bytes) -> None:
        """Ignore a part of the body."""

    def end(self) -> None:
        """Do nothing, because the request was answered already."""

    def lost(self) -> None:
        """Do nothing, because the request was answered already."""


def _unwanted(responder: Responder, why: Exception) -> BodySink:
    """Refuse a request, and return the sink of its body."""
    _refuse(responder, why)
    return _Unwanted()


def _refuse(responder: Responder, why: Exception) -> None:
    """Answer a request with the reason why it is refused."""
    match why:
        case PeerFault():
            code = BUSY if why.status == 503 else HResult.INVALID_PARAMETER.name
            responder.respond(why.status, error_json(code, why.why))
        case Denied():
            responder.slow_down(why.wait)
            responder.respond(why.status, error_json(why.code, str(why)), headers=why.headers)
        case Refused() | Refusal():
            refuse(responder, why.status, str(why))
        case EngineStopped():
            refuse_stopping(responder)
        case _:
            refuse(responder, HResult.INVALID_PARAMETER, str(why))


def _nothing_there(_: Context, request: Request, responder: Responder, __: str) -> None:
    nothing(request, responder)


def _answer_other_method(_: Context, request: Request, responder: Responder, allow: str) -> None:
    headers = ((b"allow", allow.encode()),)
    if request.method == "OPTIONS":
        responder.respond(204, b"", headers=headers)
    else:
        why = f"{request.method} is not for this path; allowed: {allow}"
        responder.respond(405, error_json(METHOD_NOT_ALLOWED, why), headers=headers)
