"""What every handler of the control plane works with, and how bodies are read and written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.console.errors import Refusal
from reliquary.engine.open import OpenedEngine
from reliquary.queueing.events import Answer

BODY_LIMIT: Final = 1024 * 1024

Body = TypeVar("Body")
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Context:
    """The manager it controls, and what it can count of the data plane."""

    opened: OpenedEngine
    version: str
    connections: Callable[[], int]
    """How many clients the data plane has."""
    long_work: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One verify or backup at a time."""

    async def ask(self, make: Callable[[int], Event]) -> Answer:
        """Submit an event and wait for its answer; a Refusal when it is not OK."""
        answer = await self.opened.engine.ask(make)
        assert isinstance(answer, Answer), f"no answer: {answer!r}"
        if answer.status is not HResult.OK:
            raise Refusal(answer)
        return answer


def context_of(request: Request) -> Context:
    """The context of the app that the request came to."""
    context = request.app.state.context
    assert isinstance(context, Context), "the app was built without a context"
    return context


async def read_body(request: Request, decoder: msgspec.json.Decoder[Body]) -> Body:
    """The JSON of a request; a body over the limit is refused before it is read to its end."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > BODY_LIMIT:
            raise HTTPException(413, f"a body may have {BODY_LIMIT} bytes, this has more")
    return decoder.decode(bytes(body) or b"{}")


def answer(content: object, status: int = 200) -> Response:
    """A JSON response."""
    return Response(_encode(content), status, media_type="application/json")
