"""Handles requests that open and close queues and cursors."""

from __future__ import annotations

from enum import Enum
from functools import partial

import msgspec

from reliquary.base.hresult import HResult
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.forms import Bodies, read_body
from reliquary.net.api.limits import Span
from reliquary.net.api.numbers import LONGEST_WAIT, span_of
from reliquary.net.api.operations import MSGPACK, operation
from reliquary.net.http import Request, Responder
from reliquary.queueing.model.events import (
    Access,
    Answer,
    CloseCursor,
    CloseQueue,
    OpenCursor,
    Opened,
    OpenQueue,
    Share,
)


class OpenFor(Enum):
    """The access modes for which a client may open a queue; this plane has no administrative modes."""

    RECEIVE = "receive"
    PEEK = "peek"
    SEND = "send"
    MOVE = "move"


class OpenIn(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request to open a queue."""

    access: OpenFor = OpenFor.RECEIVE
    share: Share = Share.DENY_NONE
    lease: Span = 60


class Handle(msgspec.Struct):
    """The answer to a request that opened a queue."""

    handle: str


class Cursor(msgspec.Struct):
    """The answer to a request that opened a cursor."""

    cursor: str


_encode = msgspec.json.Encoder().encode
_open = Bodies(OpenIn)


@operation("Open a queue", body=OpenIn, bodies=(MSGPACK,), answer=Handle, status=201)
def open_queue(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer POST /queues/{queue}/open: open a queue and return its handle."""
    parameters(request)
    given = read_body(_open, request)
    lease = span_of("lease", given.lease, LONGEST_WAIT)
    caller = context.engine.caller(partial(_opened, context, responder, "handle"))
    context.engine.submit(OpenQueue(caller, queue, Access(given.access.value), given.share, lease))


@operation("Open a cursor", answer=Cursor, status=201)
def open_cursor(context: Context, request: Request, responder: Responder, handle: str) -> None:
    """Answer POST /handles/{handle}/cursors: open a cursor of an open queue."""
    parameters(request)
    number = context.tickets.read("handle", handle)
    caller = context.engine.caller(partial(_opened, context, responder, "cursor"))
    context.engine.submit(OpenCursor(caller, number))


def _opened(context: Context, responder: Responder, what: str, answer: object) -> None:
    assert isinstance(answer, Answer), f"no answer: {answer!r}"
    if isinstance(answer, Opened) and answer.status is HResult.OK:
        responder.respond(201, _encode({what: context.tickets.write(answer.handle)}))
    else:
        context.refuse(responder, answer)


@operation("Close an open queue", status=204)
def close_queue(context: Context, request: Request, responder: Responder, handle: str) -> None:
    """Answer DELETE /handles/{handle}: close an open queue."""
    parameters(request)
    number = context.tickets.read("handle", handle)
    context.submit(responder, lambda to: CloseQueue(to, number))


@operation("Close a cursor", status=204)
def close_cursor(context: Context, request: Request, responder: Responder, cursor: str) -> None:
    """Answer DELETE /cursors/{cursor}: close a cursor."""
    parameters(request)
    number = context.tickets.read("cursor", cursor)
    context.submit(responder, lambda to: CloseCursor(to, number))
