"""Handles requests about feeds and their consumers.

It shows feeds, and creates, moves and removes consumers.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.forms import Bodies, read_body
from reliquary.net.api.limits import ConsumerName, Digits, FewOrMany, PlainNumber, limited
from reliquary.net.api.operations import AFTER_NUMBER, Query, names_of, operation
from reliquary.net.feed.values import number_of
from reliquary.net.http import Request, Responder
from reliquary.queueing.feed.events import (
    DropConsumer,
    FeedView,
    FeedViews,
    LookAtFeeds,
    MoveConsumer,
    OpenConsumer,
)
from reliquary.queueing.rules import destinations
from reliquary.views.consumers import LossInfo, loss_info
from reliquary.views.pages import Page, PageWanted, cut, wanted_page

EARLIEST: Final = "earliest"
LATEST: Final = "latest"


class FeedOut(msgspec.Struct, omit_defaults=True):
    """The mark of a feed, and the cursor and the backlog of a consumer."""

    queue: str
    incarnation: str
    mark: str
    cursor: str | None
    messages: int
    bytes: int
    paused: bool = False
    loss: LossInfo | None = None


class FeedsOut(msgspec.Struct):
    """A page of the list of feeds."""

    feeds: list[FeedOut]
    next: str | msgspec.UnsetType = msgspec.UNSET
    """The value of `after` for the next page, if the request has a limit and there are more."""


class OpenConsumerIn(msgspec.Struct, forbid_unknown_fields=True):
    """The name of a new consumer, and the position at which it begins."""

    name: ConsumerName
    at: Annotated[str, limited(pattern=f"^({EARLIEST}|{LATEST}|[0-9]{{1,15}})$")] | PlainNumber = EARLIEST


class MoveConsumerIn(msgspec.Struct, forbid_unknown_fields=True):
    """The position up to which a consumer has read."""

    name: str
    cursor: Digits | PlainNumber
    incarnation: str = ""


_MATCH: Final = r"^[^,]*[^,\s][^,]*(,[^,]*[^,\s][^,]*)*$"
_LOOK: Final = (
    Query(
        name="match",
        kind=Annotated[str, limited(pattern=_MATCH)],
        help="Names of queues, or patterns with *, with commas between them.",
    ),
    Query(name="consumer", help="The consumer whose cursors are shown."),
    AFTER_NUMBER,
    Query(name="limit", kind=FewOrMany, help="How many feeds the page has at most; without it, all."),
)
_CONSUMER: Final = Query(name="name", kind=ConsumerName, help="The consumer.", required=True)
_encode = msgspec.json.Encoder().encode
_open = Bodies(OpenConsumerIn)
_move = Bodies(MoveConsumerIn)


@operation("List the feeds of queues", query=_LOOK, answer=FeedsOut)
def look(context: Context, request: Request, responder: Responder, _: str) -> None:
    """Answer GET /feeds?match=orders,inv*&consumer=lake with the feeds of matching queues."""
    query = parameters(request, *names_of(_LOOK))
    names = tuple(name.strip() for name in query.get("match", "*").split(","))
    if not all(names):
        raise UsageError("match has the names of queues, or patterns with *, with commas between them")
    wanted = wanted_page(query.get("after"), query.get("limit"))
    page = wanted if "limit" in query else None
    if page is None and wanted.position:
        raise UsageError("after belongs to pages: give a limit too")
    caller = context.engine.caller(partial(_seen, context, responder, page))
    context.engine.submit(LookAtFeeds(caller, names, query.get("consumer", "")))


def _seen(context: Context, responder: Responder, page: PageWanted | None, answer: object) -> None:
    if isinstance(answer, FeedViews) and answer.status is HResult.OK:
        found = Page(list(answer.feeds)) if page is None else cut(answer.feeds, page)
        shown = FeedsOut([_shown(each) for each in found.records], found.next or msgspec.UNSET)
        responder.respond(200, _encode(shown))
    else:
        context.refuse(responder, answer)  # type: ignore[arg-type]


def _shown(view: FeedView) -> FeedOut:
    cursor = None if view.cursor is None else str(view.cursor)
    return FeedOut(
        view.queue,
        view.incarnation,
        str(view.mark),
        cursor,
        view.messages,
        view.bytes,
        view.paused,
        loss_info(view.loss),
    )


@operation(
    "Make a consumer of a feed",
    body=OpenConsumerIn,
    body_required=True,
    answer=FeedOut,
    status=201,
    statuses={200: "The consumer exists, and was left as it is."},
)
def open_consumer(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer POST /queues/{queue}/consumers: make a consumer."""
    parameters(request)
    given = read_body(_open, request)
    known = destinations.find(context.state, queue)
    status = 200 if known is not None and given.name in known.feed.consumers else 201
    at = {EARLIEST: 0, LATEST: None}.get(str(given.at), -1)
    if at == -1:
        if not str(given.at).isdigit():
            raise UsageError(f"at is {EARLIEST}, {LATEST} or a number, not {str(given.at)[:40]!r}")
        at = number_of("at", given.at)
    caller = context.engine.caller(partial(_opened, context, responder, status))
    context.engine.submit(OpenConsumer(caller, queue, given.name, at))


def _opened(context: Context, responder: Responder, status: int, answer: object) -> None:
    if isinstance(answer, FeedView) and answer.status is HResult.OK:
        responder.respond(status, _encode(_shown(answer)))
    else:
        context.refuse(responder, answer)  # type: ignore[arg-type]


@operation("Move the cursor of a consumer forward", body=MoveConsumerIn, body_required=True, status=204)
def move_consumer(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer PATCH /queues/{queue}/consumers: move the cursor of a consumer forward."""
    parameters(request)
    given = read_body(_move, request)
    cursor = number_of("cursor", given.cursor)
    context.submit(responder, lambda to: MoveConsumer(to, queue, given.name, cursor, given.incarnation))


@operation("Remove a consumer", query=(_CONSUMER,), status=204)
def drop_consumer(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer DELETE /queues/{queue}/consumers?name=lake: remove a consumer."""
    name = parameters(request, _CONSUMER.name).get(_CONSUMER.name)
    if not name:
        raise UsageError("the name of the consumer is missing")
    context.on_act(context.engine.by, request.peer, "remove-consumer", f"{name} of {queue}")
    context.submit(responder, lambda to: DropConsumer(to, queue, name))
