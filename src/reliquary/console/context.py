"""Holds the context of every handler of the control plane, and reads and writes bodies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.client.records import ReloadInfo
from reliquary.console.acts import ActsLog
from reliquary.console.peers import Peers
from reliquary.console.web.state import Console
from reliquary.engine.open import OpenedEngine
from reliquary.net.counters import Family
from reliquary.net.identity.users import Users
from reliquary.queueing.model import events
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal
from reliquary.queueing.model.security.rights import ManagerRight
from reliquary.queueing.rules.permission import Act, lacks, lacks_on_manager

BODY_LIMIT: Final = 1024 * 1024

Body = TypeVar("Body")
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Context:
    """The manager that is controlled, and the counters of the data plane."""

    opened: OpenedEngine
    version: str
    connections: Callable[[], int]
    """The number of clients of the data plane."""
    users: Users
    console: Console
    """The state that the pages of the web console share."""
    acts: ActsLog
    """The log of administrative acts."""
    reload: Callable[[], Awaitable[ReloadInfo]]
    """Reads the settings file again and returns what changed."""
    peers: Peers
    """Other managers, which are asked for the way of a message."""
    counters: Sequence[Callable[[], Iterable[Family]]] = ()
    """The counters of the server's endpoints."""
    by: Principal = ANONYMOUS
    """The user who sent the request."""
    long_work: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Allows one verify or backup at a time."""

    async def ask(self, make: Callable[[int], Event]) -> Answer:
        """Submit an event and return its answer; raise a Refusal if it is not OK."""

        def asked(to: int) -> Event:
            event = make(to)
            return msgspec.structs.replace(event, by=self.by) if isinstance(event, events.Request) else event

        answer = await self.opened.engine.ask(asked)
        assert isinstance(answer, Answer), f"no answer: {answer!r}"
        if answer.status is not HResult.OK:
            raise Refusal(answer)
        return answer

    def need(self, right: ManagerRight) -> None:
        """Refuse a user who lacks this right of the manager."""
        _refuse(lacks_on_manager(self.opened.state, self.by, right))

    def need_on(self, queue: QueueState, act: Act) -> None:
        """Refuse a user who lacks this right on a queue."""
        _refuse(lacks(self.opened.state, self.by, queue, act))


def _refuse(why: str) -> None:
    if why:
        raise Refusal(Answer(HResult.ACCESS_DENIED, why))


def context_of(request: Request) -> Context:
    """Return the context of the app of a request, with the user who sent it."""
    context = request.app.state.context
    assert isinstance(context, Context), "the app was built without a context"
    return replace(context, by=request.scope["by"])


async def read_body(request: Request, decoder: msgspec.json.Decoder[Body]) -> Body:
    """Return the JSON body of a request, decoded."""
    return decoder.decode(await read_bytes(request, BODY_LIMIT) or b"{}")


async def read_bytes(request: Request, limit: int) -> bytes:
    """Return the body of a request; one above the limit is refused before it is read to its end."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > limit:
            raise HTTPException(413, f"a body may have {limit} bytes, this one has more")
    return bytes(body)


def answer(content: object, status: int = 200) -> Response:
    """Return a response with a value as JSON."""
    return Response(_encode(content), status, media_type="application/json")
