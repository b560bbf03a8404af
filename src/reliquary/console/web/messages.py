"""Shows pages of messages: one with its body and its history, and forms to send, move, return and delete."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from reliquary.base.faults import UsageError
from reliquary.client.message import Message, OutgoingMessage
from reliquary.client.translate import message_of, shown
from reliquary.console.context import Context, context_of
from reliquary.console.trace import trace_message
from reliquary.console.web.bodies import MOST, forms_of
from reliquary.console.web.pages import HEADERS, field_of, go_to, number_of, read_form, render
from reliquary.console.web.story import way_of
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.events import (
    BrowseMessages,
    Delivered,
    LookUpMessage,
    MoveMessage,
    Received,
    SendMessages,
    Sent,
)
from reliquary.queueing.model.message import FOREVER

RETURNED_AT_ONCE: Final = 1000
"""The most messages that one form may return."""
_NAMES: Final = {
    "expires": "time to be received",
    "reach": "time to reach the queue",
    "handed_out": "reads",
    "deadletter": "becomes a dead letter",
    "journal": "copied when it leaves",
}
"""Properties whose names need more words on a page."""
RETURNED_FROM: Final = frozenset({"poison", "deadletter", "deadxact"})


async def show_message(request: Request) -> Response:
    """Serve GET /console/message?queue=NAME&lookup_id=NUMBER: show one message."""
    context, query = context_of(request), request.query_params
    queue = query.get("queue", "")
    delivered = await _look_up(context, queue, query.get("lookup_id", ""))
    message = shown(delivered)
    trace = await trace_message(context, message.id, delivered.position.message)
    return render(
        request,
        "message.html",
        queue=queue,
        message=message,
        size=delivered.position.size,
        properties=_properties(message),
        forms=forms_of(message.body, message.body_type),
        is_cut=len(message.body) > MOST,
        trace=trace,
        way=way_of(trace),
        home=_home(queue, delivered),
    )


async def download_body(request: Request) -> Response:
    """Serve GET /console/message/body?queue=NAME&lookup_id=NUMBER: the unchanged bytes."""
    context, query = context_of(request), request.query_params
    delivered = await _look_up(context, query.get("queue", ""), query.get("lookup_id", ""))
    place = {"content-disposition": f'attachment; filename="{delivered.position.lookup_id}.bin"'}
    return Response(delivered.message.body, 200, HEADERS | place, media_type="application/octet-stream")


async def _look_up(context: Context, queue: str, lookup_id: str) -> Delivered:
    number = number_of(lookup_id)
    found = await context.ask(lambda to: LookUpMessage(to, queue, number))
    assert isinstance(found, Received), f"no message: {found!r}"
    return found.messages[0]


def _properties(message: Message) -> dict[str, object]:
    """Return the properties of a message except its body, without empty ones."""
    found = {name: getattr(message, name) for name in message.__struct_fields__ if name != "body"}
    found["lookup_id"] = str(message.lookup_id)
    found |= {name: _duration(found[name]) for name in ("expires", "reach")}
    found["extension"] = message.extension.hex(" ") if message.extension else None
    found["sender_certificate"] = (
        f"{len(message.sender_certificate)} bytes" if message.sender_certificate else None
    )
    return {
        _NAMES.get(name, name): value
        for name, value in found.items()
        if name == "priority" or value not in (None, "", (), 0, False)
    }


def _duration(seconds: object) -> str | None:
    """Return seconds as days, hours, minutes and seconds; None for no limit.

    >>> _duration(345_600.0), _duration(93_784.5), _duration(0.25)
    ('4 days', '1 days 2 h 3 min 4.5 s', '0.25 s')
    """
    if not isinstance(seconds, int | float) or seconds >= FOREVER:
        return None
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "days"), (hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join(f"{number:g} {unit}" for number, unit in parts if number) or "0 s"


async def send_message(request: Request) -> Response:
    """Serve POST /console/queue/send: send the message that was typed into the form."""
    context, fields = context_of(request), await read_form(request)
    queue, priority = field_of(fields, "name"), number_of(fields.get("priority", "3"))
    message = message_of(
        OutgoingMessage(
            body=fields.get("text", "").replace("\r\n", "\n").encode(),
            label=fields.get("label", ""),
            priority=priority,
            durable="durable" in fields,
        )
    )
    sent = await context.ask(lambda to: SendMessages(to, queue, (message,)))
    assert isinstance(sent, Sent), f"nothing was sent: {sent!r}"
    return go_to(request, "/console/queue", f"The message {sent.identifiers()[0]} was sent.", name=queue)


async def move_message(request: Request) -> Response:
    """Serve POST /console/message/move: move a message to another queue."""
    context, fields = context_of(request), await read_form(request)
    queue, target = field_of(fields, "queue"), field_of(fields, "target")
    number = number_of(fields.get("lookup_id", ""))
    await context.ask(lambda to: MoveMessage(to, queue, number, target))
    return go_to(request, "/console/queue", f"The message was moved to {target}.", name=queue)


async def delete_message(request: Request) -> Response:
    """Serve POST /console/message/delete: receive one message and discard it."""
    context, fields = context_of(request), await read_form(request)
    queue, number = field_of(fields, "queue"), number_of(fields.get("lookup_id", ""))
    await context.ask(lambda to: LookUpMessage(to, queue, number, peek=False))
    return go_to(request, "/console/queue", "The message was deleted.", name=queue)


async def return_messages(request: Request) -> Response:
    """Serve POST /console/queue/return.

    Return one or all poisonous messages or dead letters to their queues.
    """
    context, fields = context_of(request), await read_form(request)
    source = field_of(fields, "name")
    if source.partition(";")[2].casefold() not in RETURNED_FROM:
        raise UsageError(f"{source} is neither a poison queue, such as orders;poison, nor for dead letters")
    if "lookup_id" in fields:
        return await _return_one(request, source, fields["lookup_id"])
    after, seen, count = -1, 0, 0
    while seen < RETURNED_AT_ONCE and (some := await browse(context, source, after, RETURNED_AT_ONCE - seen)):
        for delivered in some:
            with suppress(Refusal):  # it was received in between, or its queue was deleted
                await _return(context, source, delivered)
                count += 1
        seen, after = seen + len(some), some[-1].position.lookup_id
    left = seen - count
    rest = f" {left:,} could not be returned: their queue is elsewhere, gone or full." if left else ""
    if seen == RETURNED_AT_ONCE and await browse(context, source, after, 1):
        rest += f" The queue has more: one step returns the first {RETURNED_AT_ONCE:,} messages."
    return go_to(request, "/console/queue", f"Returned to their queues: {count:,}.{rest}", name=source)


async def browse(context: Context, queue: str, after: int, most: int) -> Sequence[Delivered]:
    """Return messages after a place: some of those that follow, or none if nothing follows.

    They may be fewer than `most`, because one answer has some megabytes of bodies at most.
    """
    seen = await context.ask(lambda to: BrowseMessages(to, queue, after, most))
    assert isinstance(seen, Received), f"no messages: {seen!r}"
    return seen.messages


async def _return_one(request: Request, source: str, lookup_id: str) -> Response:
    context = context_of(request)
    delivered = await _look_up(context, source, lookup_id)
    home = _home(source, delivered)
    if not home:
        raise UsageError(f"message {lookup_id} came from no queue of this manager: open it, and move it")
    await _return(context, source, delivered)
    return go_to(request, "/console/queue", f"The message was returned to {home}.", name=source)


async def _return(context: Context, source: str, delivered: Delivered) -> None:
    """Move a message back to its queue, where its counters begin at 0."""
    place, home = delivered.position.lookup_id, _home(source, delivered)
    await context.ask(lambda to: MoveMessage(to, source, place, home))


def _home(source: str, delivered: Delivered) -> str:
    """Return the former queue of a message of `source`; empty if none is known."""
    queue, _, part = source.partition(";")
    return queue if part.casefold() == "poison" else shown(delivered).origin
