"""The data plane: one handler for its listener, and how a request is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from reliquary.base.chance import Chance
from reliquary.base.faults import PeerFault, UsageError
from reliquary.base.hresult import HResult
from reliquary.engine.loop import Engine, EngineStopped
from reliquary.net.api.context import Context
from reliquary.net.api.errors import (
    METHOD_NOT_ALLOWED,
    PATH_NOT_FOUND,
    Refused,
    error_json,
    refuse,
    refuse_stopping,
)
from reliquary.net.api.origin import is_foreign
from reliquary.net.api.routes import ROUTES, ApiHandler, StreamHandler, allowed, shape_of
from reliquary.net.api.users import CHALLENGE, UNAUTHENTICATED, NotKnown, Users
from reliquary.net.http import BodySink, Request, Responder, StreamedPath
from reliquary.queueing.message import NO_GUID
from reliquary.queueing.state import State

REFUSALS: Final = (
    UsageError, msgspec.MsgspecError, UnicodeDecodeError, PeerFault, NotKnown, Refused, EngineStopped,
)  # fmt: skip
"""What is wrong with a request, or with the moment of it."""


class DataPlane:
    """Turns requests into events and answers into responses."""

    def __init__(
        self,
        engine: Engine,
        state: State,
        chance: Chance,
        version: str,
        users: Users | None = None,
        beside: Callable[[Request, Responder], bool] | None = None,
        more: Mapping[str, Mapping[str, ApiHandler]] | None = None,
    ) -> None:
        """Without `users`, all who come are anonymous.

        `beside` is asked about paths that are not of this API, and says whether they are its own; `more`
        are paths of this API whose handlers live elsewhere.
        """
        self._routes = {**ROUTES, **(more or {})}
        self._context = Context(engine, state, chance, version, users or Users(NO_GUID))
        self._beside = beside

    def stop(self) -> None:
        """Take nothing new: what comes now is told that the server stops."""
        self._context.stopping = True

    def handle(self, request: Request, responder: Responder) -> None:
        """Take a request; the responder is answered now or when its event has been."""
        context = self._context
        shape, name = shape_of(request.path)
        methods = self._routes.get(shape)
        if methods is None:
            if self._beside is not None and self._beside(request, responder):
                return
            why = f"there is nothing at {request.path[:200]!r}"
            responder.respond(404, error_json(PATH_NOT_FOUND, why))
            return
        method = request.method
        handler = methods.get("GET" if method == "HEAD" else method)
        if handler is None:
            _answer_other_method(request, responder, allowed(methods))
            return
        try:
            self._admit(request)
            handler(context, request, responder, name)
        except REFUSALS as why:
            _refuse(responder, why)

    def streamed(self, prefix: str, methods: Mapping[str, StreamHandler]) -> StreamedPath:
        """A path of this API whose bodies are handed on while they come."""

        def begin(request: Request, responder: Responder) -> BodySink:
            handler = methods.get(request.method)
            if handler is None:
                _answer_other_method(request, responder, ", ".join([*methods, "OPTIONS"]))
                return _Unwanted()
            try:
                self._admit(request)
                return handler(self._context, request, responder)
            except REFUSALS as why:
                _refuse(responder, why)
                return _Unwanted()

        return StreamedPath(prefix, begin, lambda _: None)

    def _admit(self, request: Request) -> None:
        """Who asks, and whether anybody may now."""
        context = self._context
        if context.stopping:
            raise EngineStopped
        if request.method != "GET" and is_foreign(request):
            raise Refused(HResult.ACCESS_DENIED, "a page of another site may not ask for this")
        if context.users.any:
            context.engine.by = context.users.who(request.header(b"authorization"))


class _Unwanted:
    """Takes a body that nobody wants."""

    def feed(self, data: bytes) -> None:
        """A part of it."""

    def end(self) -> None:
        """It is whole."""

    def lost(self) -> None:
        """It will not be."""


def _refuse(responder: Responder, why: Exception) -> None:
    """What is wrong with a request is its answer."""
    match why:
        case PeerFault():
            responder.respond(why.status, error_json(HResult.INVALID_PARAMETER.name, why.why))
        case NotKnown():
            responder.respond(401, error_json(UNAUTHENTICATED, str(why)), headers=CHALLENGE)
        case Refused():
            refuse(responder, why.status, str(why))
        case EngineStopped():
            refuse_stopping(responder)
        case _:
            refuse(responder, HResult.INVALID_PARAMETER, str(why))


def _answer_other_method(request: Request, responder: Responder, allow: str) -> None:
    headers = ((b"allow", allow.encode()),)
    if request.method == "OPTIONS":
        responder.respond(204, b"", headers=headers)
    else:
        why = f"{request.method} is not for this path; allowed: {allow}"
        responder.respond(405, error_json(METHOD_NOT_ALLOWED, why), headers=headers)
