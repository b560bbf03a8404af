"""Handles requests that send messages to a queue, or move one to another queue."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import msgspec

from reliquary.base.hresult import OK
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.counts import SMALL_BODY, check_counts
from reliquary.net.api.forms import IN_JSON, IN_PACKED, IN_RAW, PACKED, Bodies, Form, forms_of, read_body
from reliquary.net.api.limits import Guid, LookupId, Name, either, limited
from reliquary.net.api.messages import MessageIn, PackedMessageIn, UsualIn, guid_text, message_of, traced
from reliquary.net.api.numbers import lookup_id_of
from reliquary.net.api.operations import HANDLE, MSGPACK, OCTETS, TRANSACTION, operation
from reliquary.net.api.raw import message_in
from reliquary.net.http import Request, Responder
from reliquary.queueing.model.events import MoveMessage, SendMessages, Sent
from reliquary.queueing.rules.checks import COUNT_LIMIT
from reliquary.queueing.rules.transactions import transaction_of


class SentOut(msgspec.Struct, gc=False):
    """The id of one message that was sent, and its lookup id."""

    id: str
    lookup_id: str


class SendOut(msgspec.Struct, gc=False):
    """The answer to a send: one entry for each message, in the order of the request."""

    messages: list[SentOut]


class MoveIn(msgspec.Struct, forbid_unknown_fields=True):
    """The message to move, and its destination."""

    lookup_id: LookupId
    target: Name
    transaction: Guid | None = None
    handle: str | None = None


_Message = Annotated[MessageIn, either({"body": None}, {"text": None})]
_Messages = _Message | Annotated[list[_Message], limited(minItems=1, maxItems=COUNT_LIMIT)]
_encode_packed = msgspec.msgpack.Encoder().encode
_AT_MOST: Final = msgspec.Meta(max_length=COUNT_LIMIT)
_usual: Bodies[UsualIn | list[UsualIn]] = Bodies(
    UsualIn | list[UsualIn],  # type: ignore[arg-type]
    UsualIn | Annotated[list[UsualIn], _AT_MOST],  # type: ignore[arg-type]
)
_messages: Bodies[UsualIn | list[UsualIn]] = Bodies(
    MessageIn | list[MessageIn],  # type: ignore[arg-type]
    PackedMessageIn | Annotated[list[PackedMessageIn], _AT_MOST],  # type: ignore[arg-type]
)
_move = Bodies(MoveIn)
_NAMES: Final = (TRANSACTION.name, HANDLE.name)

_PLACE: Final = b'{"id":"%b\\\\%d","lookup_id":"%d"}'
_ANSWER: Final = b'{"messages":[%b]}'
"""The JSON of `SendOut`: an id is a GUID, a backslash and a number."""


@operation(
    "Send one message, or a list of messages of which all or none are stored",
    query=(TRANSACTION, HANDLE),
    body=_Messages,
    body_required=True,
    bodies=(MSGPACK, OCTETS),
    answer=SendOut,
    answers=(MSGPACK,),
    status=201,
)
def send(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer POST /queues/{queue}/messages: send one message or a list of messages."""
    target: int | str = queue
    transaction = None
    if request.query:
        query = parameters(request, *_NAMES)
        target = context.handle_of(queue, query.get("handle"))
        if "transaction" in query:
            transaction = transaction_of(query["transaction"])
    form, wanted = request.notes.forms or forms_of(request)
    if len(request.body) > SMALL_BODY:
        context.check_right(lambda to: SendMessages(to, target, (), transaction))
        if form is IN_JSON:
            check_counts(request.body)
    given: UsualIn | list[UsualIn]
    if form is IN_RAW:
        given = message_in(request.fields, request.body)
    else:
        try:
            given = (_usual.json if form is IN_JSON else _usual.packed).decode(request.body)
        except msgspec.ValidationError:  # the message has a rare attribute, or an unknown one
            given = _all_attributes(request.body, form)
    messages = tuple(map(message_of, given)) if isinstance(given, list) else (message_of(given),)
    if trace := request.notes.trace_context:
        messages = tuple([traced(each, trace) for each in messages])
    engine = context.engine
    caller = engine.caller(partial(_sent, context, responder, wanted))
    engine.submit(SendMessages(caller, target, messages, transaction))


def _all_attributes(body: bytes, form: Form) -> UsualIn | list[UsualIn]:
    """Return messages with any attributes; msgspec.ValidationError for an unknown one."""
    try:
        return (_messages.json if form is IN_JSON else _messages.packed).decode(body)
    except msgspec.ValidationError as why:
        raise _messages.explained(why) from why


def _sent(context: Context, responder: Responder, wanted: Form, answer: object) -> None:
    if type(answer) is Sent and answer.status is OK:
        assert answer.lineage is not None, "what was sent has ids"
        lineage = guid_text(answer.lineage.int)
        if wanted is IN_PACKED:
            sent = []
            for place in answer.lookup_ids:  # a loop: most requests send one message
                sent.append(SentOut(f"{lineage}\\{place & 0xFFFFFFFF}", str(place)))  # noqa: PERF401
            responder.respond(201, _encode_packed(SendOut(sent)), PACKED)
        else:
            stem = lineage.encode()
            places = [_PLACE % (stem, place & 0xFFFFFFFF, place) for place in answer.lookup_ids]
            responder.respond(201, _ANSWER % b",".join(places))
    else:
        context.refuse(responder, answer)  # type: ignore[arg-type]


@operation("Move a message to another queue", body=MoveIn, bodies=(MSGPACK,), body_required=True, status=204)
def move(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """Answer POST /queues/{queue}/move: move a message to another queue."""
    parameters(request)
    given = read_body(_move, request)
    source = context.handle_of(queue, given.handle)
    lookup_id = lookup_id_of(given.lookup_id)
    transaction = None if given.transaction is None else transaction_of(given.transaction)
    context.on_act(context.engine.by, request.peer, "move-message", f"{queue} to {given.target}")
    context.submit(responder, lambda to: MoveMessage(to, source, lookup_id, given.target, transaction))
