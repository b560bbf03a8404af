"""Send, and move: messages into queues."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.net.api.context import Context, parameters
from reliquary.net.api.counts import SMALL_BODY, check_counts
from reliquary.net.api.forms import PACKED, Bodies, Form, form_of_answer, form_of_body, read_body
from reliquary.net.api.messages import MessageIn, PackedMessageIn, guid_text, message_of
from reliquary.net.api.numbers import lookup_id_of
from reliquary.net.api.raw import message_in
from reliquary.net.http import Request, Responder
from reliquary.queueing.model.events import MoveMessage, SendMessages, Sent
from reliquary.queueing.model.message import Message
from reliquary.queueing.rules.checks import COUNT_LIMIT
from reliquary.queueing.rules.transactions import transaction_of


class SentOut(msgspec.Struct, gc=False):
    """Where one message went."""

    id: str
    lookup_id: str


class SendOut(msgspec.Struct, gc=False):
    """Where all went, in the order given."""

    messages: list[SentOut]


class MoveIn(msgspec.Struct, forbid_unknown_fields=True):
    """A message and where to."""

    lookup_id: str
    target: str
    transaction: str | None = None
    handle: str | None = None


_encode_packed = msgspec.msgpack.Encoder().encode
_PACKED_LIST = Annotated[list[PackedMessageIn], msgspec.Meta(max_length=COUNT_LIMIT)]
_messages: Bodies[MessageIn | list[MessageIn]] = Bodies(
    MessageIn | list[MessageIn],  # type: ignore[arg-type]
    PackedMessageIn | _PACKED_LIST,  # type: ignore[arg-type]
)
_move = Bodies(MoveIn)

_PLACE: Final = b'{"id":"%b\\\\%d","lookup_id":"%d"}'
_ANSWER: Final = b'{"messages":[%b]}'
"""The JSON of `SendOut`: an id is a GUID, a backslash and a number."""


def send(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """POST /queues/{queue}/messages."""
    target: int | str = queue
    transaction = None
    if request.query:
        query = parameters(request, "transaction", "handle")
        target = context.handle_of(queue, query.get("handle"))
        if "transaction" in query:
            transaction = transaction_of(query["transaction"])
    body = request.body
    form = form_of_body(request)
    if len(body) > SMALL_BODY:
        context.check_right(lambda to: SendMessages(to, target, (), transaction))
        if form is Form.JSON:
            check_counts(body)
    if form is Form.JSON:
        given = _messages.json.decode(body)
    elif form is Form.PACKED:
        given = _messages.packed.decode(body)
    else:
        given = message_in(request.fields, body)
    messages: tuple[Message, ...]
    messages = (message_of(given),) if isinstance(given, MessageIn) else tuple(map(message_of, given))
    engine = context.engine
    caller = engine.caller(partial(_sent, context, responder, form_of_answer(request)), request.connection)
    engine.submit(SendMessages(caller, target, messages, transaction))


def _sent(context: Context, responder: Responder, wanted: Form, answer: object) -> None:
    if type(answer) is Sent and answer.status is HResult.OK:
        assert answer.lineage is not None, "what was sent has ids"
        lineage = guid_text(answer.lineage.int)
        if wanted is Form.PACKED:
            sent = [SentOut(f"{lineage}\\{place & 0xFFFFFFFF}", str(place)) for place in answer.lookup_ids]
            responder.respond(201, _encode_packed(SendOut(sent)), PACKED)
        else:
            stem = lineage.encode()
            places = [_PLACE % (stem, place & 0xFFFFFFFF, place) for place in answer.lookup_ids]
            responder.respond(201, _ANSWER % b",".join(places))
    else:
        context.refuse(responder, answer)  # type: ignore[arg-type]


def move(context: Context, request: Request, responder: Responder, queue: str) -> None:
    """POST /queues/{queue}/move."""
    parameters(request)
    given = read_body(_move, request)
    source = context.handle_of(queue, given.handle)
    lookup_id = lookup_id_of(given.lookup_id)
    transaction = None if given.transaction is None else transaction_of(given.transaction)
    context.submit(responder, lambda to: MoveMessage(to, source, lookup_id, given.target, transaction))
