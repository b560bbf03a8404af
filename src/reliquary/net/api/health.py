"""Is the server there, and which one is it?"""

from __future__ import annotations

import msgspec

from reliquary.net.api.context import Context, parameters
from reliquary.net.http import Request, Responder


class HealthOut(msgspec.Struct):
    """Who answers."""

    status: str
    manager: str
    version: str


_encode = msgspec.json.Encoder().encode


def health(context: Context, request: Request, responder: Responder, _: str) -> None:
    """GET /health."""
    parameters(request)
    manager = str(context.state.identity().identifier)
    responder.respond(200, _encode(HealthOut("ready", manager, context.version)))
