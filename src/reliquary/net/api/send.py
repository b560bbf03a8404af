"""Send, and move: messages into queues."""

from __future__ import annotations

from functools import partial

import msgspec

from reliquary.base.hresult import HResult
from reliquary.net.api.context import Context, parameters, read_body
from reliquary.net.api.counts import SMALL_BODY, check_counts
from reliquary.net.api.messages import MessageIn, message_of
from reliquary.net.api.numbers import lookup_id_of
from reliquary.net.http import Request, Responder
from reliquary.queueing.model.events import MoveMessage, SendMessages, Sent
from reliquary.queueing.model.message import Message
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


_encode = msgspec.json.Encoder().encode
_messages = msgspec.json.Decoder(MessageIn | list[MessageIn])
_move = msgspec.json.Decoder(MoveIn)


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
    if len(body) > SMALL_BODY:
        context.check_right(lambda to: SendMessages(to, target, (), transaction))
        check_counts(body)
    given = _messages.decode(body)
    messages: tuple[Message, ...]
    messages = (message_of(given),) if isinstance(given, MessageIn) else tuple(map(message_of, given))
    engine = context.engine
    caller = engine.caller(partial(_sent, context, responder), request.connection)
    engine.submit(SendMessages(caller, target, messages, transaction))


def _sent(context: Context, responder: Responder, answer: object) -> None:
    if type(answer) is Sent and answer.status is HResult.OK:
        stem = f"{answer.lineage}\\"
        places = [SentOut(f"{stem}{place & 0xFFFFFFFF}", str(place)) for place in answer.lookup_ids]
        responder.respond(201, _encode(SendOut(places)))
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
