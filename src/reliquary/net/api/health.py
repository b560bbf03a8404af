"""Answers whether the server is ready, and which queue manager it has."""

from __future__ import annotations

import msgspec

from reliquary.net.api.context import Context, parameters
from reliquary.net.api.operations import operation
from reliquary.net.http import Request, Responder


class HealthOut(msgspec.Struct):
    """The queue manager that answers, and whether it takes requests."""

    status: str
    """The state of the manager: `ready`, or `initializing` while transactions wait for their outcome."""
    manager: str
    version: str


_encode = msgspec.json.Encoder().encode


@operation("Say which manager answers, and whether it is ready", answer=HealthOut)
def health(context: Context, request: Request, responder: Responder, _: str) -> None:
    """Answer GET /health with the state of the queue manager."""
    parameters(request)
    state = context.state
    shown = HealthOut(state.manager.state.value, str(state.identity().identifier), context.version)
    responder.respond(200, _encode(shown))
