"""Handles requests that publish a batch, drop parts of one, and forget writers."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.forms import MOST, Bodies, read_body
from reliquary.net.api.limits import Digits, Name, PlainNumber, limited
from reliquary.net.api.operations import Query, names_of, operation
from reliquary.net.feed.values import number_of
from reliquary.net.http import Request, Responder
from reliquary.queueing.model.tables import SEQUENCE_MASK
from reliquary.queueing.staging.events import DropStages, ForgetWriter, PublishAnswer, PublishBatch


class PublishIn(msgspec.Struct, forbid_unknown_fields=True):
    """A batch: its parts, in the order of their rows."""

    query: Name
    batch: Annotated[int, limited(minimum=0, maximum=2**63 - 1)]
    stages: Annotated[list[Digits | PlainNumber], MOST]
    writer: str = ""
    take_over: bool = False
    spread: str = ""


class UnstageIn(msgspec.Struct, forbid_unknown_fields=True):
    """Parts that will not be published."""

    stages: Annotated[list[Digits | PlainNumber], MOST]


class PublishedOut(msgspec.Struct):
    """The outcome of a batch."""

    rows: int
    already: bool


_FORGET: Final = (
    Query(name="query", help="The query; or name a writer."),
    Query(name="writer", help="A name under which a query writes."),
)
_encode = msgspec.json.Encoder().encode
_publish = Bodies(PublishIn)
_unstage = Bodies(UnstageIn)


@operation("Publish a batch of rows", body=PublishIn, body_required=True, answer=PublishedOut)
def publish(context: Context, request: Request, responder: Responder, _: str) -> None:
    """Answer POST /publish: make the messages of a batch visible."""
    parameters(request)
    given = read_body(_publish, request)
    numbers = _numbers(given.stages)
    caller = context.engine.caller(partial(_published, context, responder))
    context.engine.submit(
        PublishBatch(caller, given.query, given.batch, numbers, given.writer, given.take_over, given.spread)
    )


def _published(context: Context, responder: Responder, answer: object) -> None:
    if isinstance(answer, PublishAnswer) and answer.status is HResult.OK:
        responder.respond(200, _encode(PublishedOut(answer.messages, answer.already)))
    else:
        context.refuse(responder, answer)  # type: ignore[arg-type]


@operation("Drop parts of a batch", body=UnstageIn, body_required=True, status=204)
def unstage(context: Context, request: Request, responder: Responder, _: str) -> None:
    """Answer POST /unstage: drop parts of a batch that will not be published."""
    parameters(request)
    numbers = _numbers(read_body(_unstage, request).stages)
    context.on_act(context.engine.by, request.peer, "drop-stages", " ".join(map(str, numbers)))
    context.submit(responder, lambda to: DropStages(to, numbers))


@operation("Forget a query that published batches", query=_FORGET, status=204)
def forget(context: Context, request: Request, responder: Responder, _: str) -> None:
    """Answer DELETE /writers?query=Q, or ?writer=W: forget a writer."""
    given = parameters(request, *names_of(_FORGET))
    query, writer = given.get("query", ""), given.get("writer", "")
    context.on_act(context.engine.by, request.peer, "forget-writer", query or writer)
    context.submit(responder, lambda to: ForgetWriter(to, query, writer))


def _numbers(given: list[str | int]) -> tuple[int, ...]:
    return tuple(number_of("a stage", each, SEQUENCE_MASK) for each in given)
