"""Handles requests that receive, peek, browse, look up and acknowledge messages of queues."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import OK, HResult
from reliquary.base.time import Duration
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.forms import (
    IN_JSON,
    IN_PACKED,
    IN_RAW,
    MOST,
    PACKED,
    RAW,
    Bodies,
    Form,
    forms_of,
    read_body,
)
from reliquary.net.api.limits import Guid, Hold, LookupId, Number32, Wait, either, limited
from reliquary.net.api.messages import Messages, MessagesOut, shown
from reliquary.net.api.numbers import hold_of, lookup_id_of, number_of, wait_of
from reliquary.net.api.operations import (
    AFTER_MESSAGE,
    HANDLE,
    MESSAGES,
    MSGPACK,
    OCTETS,
    names_of,
    operation,
)
from reliquary.net.api.pieces import LARGE, respond_in_pieces
from reliquary.net.api.raw import fields_of
from reliquary.net.http import Request, Responder
from reliquary.net.http.response import JSON
from reliquary.queueing.model.events import (
    BrowseMessages,
    CancelRead,
    EndRead,
    LookUpMessage,
    PeekMessage,
    Received,
    ReceiveMessages,
    Seek,
)
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.rules.checks import COUNT_LIMIT
from reliquary.queueing.rules.transactions import transaction_of


class ReceiveIn(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body of a receive."""

    count: Annotated[int, limited(minimum=1, maximum=COUNT_LIMIT)] = 1
    timeout: Wait | None = 0
    hold: Hold = 0
    acknowledge: str | None = None
    transaction: Guid | None = None
    handle: str | None = None
    cursor: str | None = None
    tag: Number32 = 0


class PeekIn(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body of a peek."""

    timeout: Wait | None = 0
    handle: str | None = None
    cursor: str | None = None
    next: bool = False


class LookUpIn(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body of a lookup."""

    lookup_id: LookupId | None = None
    seek: Seek = Seek.CURRENT
    peek: bool = True
    hold: Hold = 0
    transaction: Guid | None = None
    handle: str | None = None


class EndIn(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The outcome of messages that were locked."""

    delete: bool = True
    reject: bool = False
    lookup_ids: Annotated[list[LookupId], MOST, limited(minItems=1)] | None = None
    unseen: bool = False


class EndNamedIn(EndIn, forbid_unknown_fields=True, kw_only=True, gc=False):
    """The outcome of messages under a receipt that the body names."""

    receipt: str


class CancelIn(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The tag of the waiting receive to be ended."""

    tag: Annotated[int, limited(minimum=1, maximum=FOREVER)]


_encode = msgspec.json.Encoder().encode
_encode_packed = msgspec.msgpack.Encoder().encode
_receive = Bodies(ReceiveIn)
_peek = Bodies(PeekIn)
_look_up = Bodies(LookUpIn)
_end = Bodies(EndIn)
_end_named = Bodies(EndNamedIn)
_GIVEN_BACK: Final = either({"unseen": False}, {"delete": [False]})
_cancel = Bodies(CancelIn)

NO_MESSAGE: Final = {204: "No message came in time, and the answer was to be one message as it is."}
_BROWSE: Final = (AFTER_MESSAGE, MESSAGES, HANDLE)
_BROWSE_NAMES: Final = names_of(_BROWSE)

_NOTHING: Final = {
    Form.JSON: (200, _encode(MessagesOut([])), JSON),
    Form.PACKED: (200, _encode_packed(MessagesOut([])), PACKED),
    Form.RAW: (204, b"", RAW),
}
"""The answers for a read without a message in time, by form."""
_NO_MESSAGE = frozenset({HResult.IO_TIMEOUT, HResult.MESSAGE_NOT_FOUND})


@operation(
    "Receive messages, and wait for the first one",
    body=ReceiveIn,
    bodies=(MSGPACK,),
    answer=Messages,
    answers=(MSGPACK, OCTETS),
    statuses=NO_MESSAGE,
)
def receive(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer POST /queues/{queue}/receive: receive messages, and wait for the first one."""
    if request.query:
        parameters(request)
    given = read_body(_receive, request)
    wanted = _wanted(request, "count", given.count)
    source = queue if given.handle is None else context.handle_of(queue, given.handle)
    timeout = wait_of(given.timeout)
    hold = hold_of(given.hold)
    receipt = 0 if given.acknowledge is None else context.tickets.read("receipt", given.acknowledge)
    transaction = None if given.transaction is None else transaction_of(given.transaction)
    cursor = 0 if given.cursor is None else context.cursor_of(given.cursor)
    tag = number_of("tag", given.tag, 0, FOREVER) if given.tag else 0
    if context.state.totals.bytes > LARGE:
        context.expect_answer(responder, source, given.count)
    caller = _caller(context, responder, wanted, timeout)
    context.engine.submit(
        ReceiveMessages(caller, source, given.count, timeout, transaction, hold, receipt, cursor, tag)
    )


def _wanted(request: Request, name: str, count: int) -> Form:
    """Return the form of the answer; a raw answer has one message, so its request must not ask for more."""
    wanted: Form = (request.notes.forms or forms_of(request))[1]
    if wanted is IN_RAW and count != 1:
        raise UsageError(f"an answer in {RAW.decode()} has one message: {name} is 1, not {count}")
    return wanted


def _caller(context: Context, responder: Responder, wanted: Form, timeout: Duration) -> int:
    """Return the number of the caller of a read; a read that waits ends when the client hangs up."""
    caller = context.engine.caller(partial(_received, context, responder, wanted))
    if timeout:
        responder.on_gone(partial(context.gone, caller))
    return caller


def _received(context: Context, responder: Responder, wanted: Form, answer: object) -> None:
    """Answer with messages, or with an empty list when none came in time."""
    if type(answer) is not Received and answer.status in _NO_MESSAGE:  # type: ignore[attr-defined]
        responder.respond(*_NOTHING[wanted])
    else:
        _show(context, responder, wanted, answer)


def _show(context: Context, responder: Responder, wanted: Form, answer: object) -> None:
    if type(answer) is Received and answer.status is OK:
        receipt = context.tickets.write(answer.receipt) if answer.receipt else None
        if not answer.messages:
            responder.respond(*_NOTHING[wanted])
        elif sum([each.position.size for each in answer.messages]) > LARGE:
            respond_in_pieces(responder, answer.messages, receipt, wanted)
        elif wanted is IN_JSON:
            responder.respond(200, _encode(MessagesOut(list(map(shown, answer.messages)), receipt)))
        elif wanted is IN_PACKED:
            found = MessagesOut(list(map(shown, answer.messages)), receipt)
            responder.respond(200, _encode_packed(found), PACKED)
        else:
            message = shown(answer.messages[0])
            responder.respond(200, message.body, RAW, fields_of(message, receipt))
    else:
        context.refuse(responder, answer)  # type: ignore[arg-type]


@operation(
    "Show the first message, or the one at a cursor, and leave it in the queue",
    body=Annotated[PeekIn, either({"next": False}, {"cursor": ...})],
    bodies=(MSGPACK,),
    answer=Messages,
    answers=(MSGPACK, OCTETS),
    statuses=NO_MESSAGE,
)
def peek(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer POST /queues/{queue}/peek: show a message and leave it in the queue."""
    parameters(request)
    given = read_body(_peek, request)
    wanted = forms_of(request)[1]
    source = context.handle_of(queue, given.handle)
    timeout = wait_of(given.timeout)
    cursor = context.cursor_of(given.cursor)
    if context.state.totals.bytes > LARGE:
        context.expect_answer(responder, source, 1)
    caller = _caller(context, responder, wanted, timeout)
    context.engine.submit(PeekMessage(caller, source, timeout, cursor, given.next))


@operation(
    "Show a page of messages and leave them in the queue",
    query=_BROWSE,
    answer=Messages,
    answers=(MSGPACK, OCTETS),
    statuses=NO_MESSAGE,
)
def browse(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer GET /queues/{queue}/messages?after=LOOKUP_ID&limit=100 with a page of messages."""
    query = parameters(request, *_BROWSE_NAMES)
    source = context.handle_of(queue, query.get("handle"))
    after = lookup_id_of(query["after"]) if "after" in query else -1
    limit = query.get("limit", "100")
    if not (limit.isascii() and limit.isdigit() and len(limit) <= 9):
        raise UsageError(f"limit is a number, not {limit[:40]!r}")
    wanted = _wanted(request, "limit", int(limit))
    if context.state.totals.bytes > LARGE:
        context.expect_answer(responder, source, int(limit))
    caller = context.engine.caller(partial(_show, context, responder, wanted))
    context.engine.submit(BrowseMessages(caller, source, after, int(limit)))


@operation(
    "Show or receive a message by its lookup id",
    body=Annotated[LookUpIn, either({"seek": ["first", "last"]}, {"lookup_id": ...})],
    body_required=True,
    bodies=(MSGPACK,),
    answer=Messages,
    answers=(MSGPACK, OCTETS),
    statuses=NO_MESSAGE,
)
def look_up(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer POST /queues/{queue}/lookup: show or receive a message by its lookup id."""
    parameters(request)
    given = read_body(_look_up, request)
    wanted = forms_of(request)[1]
    if given.lookup_id is None and given.seek not in (Seek.FIRST, Seek.LAST):
        raise UsageError(f"seek {given.seek.value!r} is relative to a lookup_id, and none is given")
    if given.peek and given.hold:
        raise UsageError("a peek locks no message: leave out hold, or set peek to false")
    lookup_id = 0 if given.lookup_id is None else lookup_id_of(given.lookup_id)
    source = context.handle_of(queue, given.handle)
    hold = hold_of(given.hold)
    transaction = None if given.transaction is None else transaction_of(given.transaction)
    if transaction is not None and hold:
        raise UsageError("a receive is held or in a transaction, not both")
    if context.state.totals.bytes > LARGE:
        context.expect_answer(responder, source, 1, lookup_id)
    caller = context.engine.caller(partial(_show, context, responder, wanted))
    context.engine.submit(LookUpMessage(caller, source, lookup_id, given.seek, given.peek, transaction, hold))


@operation(
    "Acknowledge messages that are held under a receipt, or give them back",
    body=Annotated[EndIn, _GIVEN_BACK],
    bodies=(MSGPACK,),
    status=204,
)
def end_read(context: Context, request: Request, responder: Responder, receipt: str) -> None:
    """Answer POST /receipts/{receipt}: acknowledge messages of a receipt, or give them back."""
    parameters(request)
    _end_read(context, responder, receipt, read_body(_end, request))


@operation(
    "Acknowledge messages that are held under a receipt of the body, or give them back",
    body=Annotated[EndNamedIn, _GIVEN_BACK],
    bodies=(MSGPACK,),
    body_required=True,
    status=204,
)
def end_named_read(context: Context, request: Request, responder: Responder, _: str) -> None:
    """Answer POST /receipts; the head of the request never changes, which is cheaper for both sides."""
    parameters(request)
    given = read_body(_end_named, request)
    _end_read(context, responder, given.receipt, given)


def _end_read(context: Context, responder: Responder, receipt: str, given: EndIn) -> None:
    number = context.tickets.read("receipt", receipt)
    if given.lookup_ids == []:
        raise UsageError("lookup_ids is empty; without it, all messages of the receipt are meant")
    if given.unseen and given.delete:
        raise UsageError("unseen is for messages that are given back: with it, delete is false")
    lookup_ids = tuple(dict.fromkeys(map(lookup_id_of, given.lookup_ids or ())))
    delete, reject, unseen = given.delete, given.reject, given.unseen
    context.submit(responder, lambda to: EndRead(to, number, delete, lookup_ids, reject, unseen))


@operation("End a receive that waits", body=CancelIn, bodies=(MSGPACK,), body_required=True, status=204)
def cancel(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer POST /queues/{queue}/cancel: end a waiting receive."""
    parameters(request)
    tag = number_of("tag", read_body(_cancel, request).tag, 1, FOREVER)
    context.submit(responder, lambda to: CancelRead(to, queue, tag))
