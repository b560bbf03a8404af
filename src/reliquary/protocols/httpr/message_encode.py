"""Writes a message as HTTPR header fields, chapter 6.2; `message_decode` reads them again without a loss.

    target-uri        destination_queue       message-id       identifier, as guid.number
    class-of-service  delivery, transaction   correlation-id   correlation
    priority          priority                put-time         sent_time
    user-id           sender, as a SID        expiry           time_to_be_received
    reply-uri         response_queue          content-type     by the body's type
    app-reliquary-... all other attributes, see `attributes`

A message that came by HTTPR keeps its header as it was, and leaves with exactly that header; a field of
Reliquary behind it counts the managers that forwarded it.

Most headers differ from others only in message-id, correlation-id, put-time and label.  All other
fields are written once and cached; these four are added to them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from reliquary.base.faults import PeerFault
from reliquary.protocols.httpr.addresses import target_uri
from reliquary.protocols.httpr.attributes import (
    CORRELATION_ID,
    HOPS,
    LABEL,
    MESSAGE_ID,
    id_value,
    name_for,
    product_fields,
    text_value,
)
from reliquary.protocols.httpr.codec.lexical import CRLF, date_text
from reliquary.protocols.httpr.fields import (
    DEFAULT_PRIORITY,
    LONGEST_REMEMBERED,
    NO_FIELDS,
    OURS,
    REMEMBERED,
    fields_of,
)
from reliquary.queueing.model.message import (
    FOREVER,
    NO_OBJECT,
    USUAL,
    Delivery,
    Message,
    SenderKind,
)
from reliquary.wire.security import decode_sid

TEXT_TYPES: Final = {
    8: "text/plain; charset=utf-16le",
    30: "text/plain",
    31: "text/plain; charset=utf-16le",
}
"""The content-type for Message.BodyType of a BSTR, an LPSTR and an LPWSTR."""
BYTES: Final = "application/octet-stream"


def encode_message(message: Message, home: str = "") -> tuple[str, bytes]:
    """Return the header and the data of a message that leaves; `home` is our agent's URI.

    The data of a large body that is stored in pieces is empty: the sender of the batch reads the pieces.
    """
    more = message.more or USUAL
    header = more.carrier_header
    if header and header[-2:] == CRLF:
        kept = "" if header == NO_FIELDS else header  # the header that it came with
        return _counted(kept, more.hops) if more.hops else kept, message.body
    written = _remembered(message, home)
    identifier, correlation = message.identifier, more.correlation
    header, tail = written.before, written.after
    if identifier is not NO_OBJECT:
        value = f"{_guid_text(identifier.lineage.int)}.{identifier.uniquifier}"
        if written.has_id:
            tail += f"{MESSAGE_ID}:{value}\r\n"
        else:
            header += f"message-id:{value}\r\n"
    if correlation is not NO_OBJECT and correlation != NO_OBJECT:
        if written.has_correlation:
            tail += f"{CORRELATION_ID}:{id_value(correlation)}\r\n"
        else:
            header += f"correlation-id:{id_value(correlation)}\r\n"
    if message.sent_time:
        header += _put_time(message.sent_time)
    if message.label:
        return f"{header}{tail}{LABEL}:{text_value(message.label)}\r\n", message.body
    return header + tail, message.body


def _counted(header: str, hops: int) -> str:
    """Return a header with the number of managers that forwarded its message, in place of an older number."""
    begin = f"{HOPS}:"
    lines = [each for each in header.splitlines(keepends=True) if not each.lower().startswith(begin)]
    return f"{''.join(lines)}{begin}{hops}{CRLF}"


class _Written(NamedTuple):
    """The header of a message without the four fields that differ from one message to the next."""

    before: str
    """The fields before message-id, correlation-id and put-time."""
    after: str
    has_id: bool
    """The application has chosen a message-id."""
    has_correlation: bool
    """The application has chosen a correlation-id."""


_REMEMBERED_HEADERS: Final[dict[tuple[Any, ...], _Written]] = {}


def _remembered(message: Message, home: str) -> _Written:
    """Return the cached fields of an equal message; a message with rare attributes is written each time."""
    more = message.more or USUAL
    if (
        more.extension
        or more.acknowledgements
        or more.delay
        or more.tracing_requested
        or more.administration_queue
        or more.administration_queues
        or more.response_queues
        or more.application_deadletter_queue
        or more.allow_peek_when_locked
        or more.sender
        or more.message_class
        or more.hops
        or more.trace_context
        or more.source_machine is not None
    ):
        return _write(message, home)
    key = (
        more.destination_queue,
        message.priority,
        message.time_to_be_received,
        more.time_to_reach_queue,
        message.delivery is Delivery.EXPRESS,
        more.transaction is None and more.sequence is None,
        more.response_queue,
        more.application_tag,
        message.body_type,
        more.positive_journaling,
        more.negative_journaling,
        more.carrier_header,
        home,
    )
    found = _REMEMBERED_HEADERS.get(key)
    if found is None:
        if len(_REMEMBERED_HEADERS) >= REMEMBERED:
            _REMEMBERED_HEADERS.clear()
        found = _write(message, home)
        if len(found.before) + len(found.after) <= LONGEST_REMEMBERED:
            _REMEMBERED_HEADERS[key] = found
    return found


def _write(message: Message, home: str) -> _Written:
    """Write all fields except the four, in the order of the grammar."""
    chosen = fields_of(message)
    lines: list[tuple[str, str]] = []
    target = target_uri(message.destination_queue)
    if target:
        lines.append(("target-uri", target))
    lines.append(("class-of-service", _service(message)))
    if message.priority != DEFAULT_PRIORITY:
        lines.append(("priority", str(message.priority)))
    user = _user(message) or chosen.get("user-id")
    if user:
        lines.append(("user-id", user))
    if "encoding" in chosen:
        lines.append(("encoding", chosen["encoding"]))
    reply = target_uri(name_for(message.response_queue, home))
    if reply:
        lines.append(("reply-uri", reply))
    lines += [(name, chosen[name]) for name in ("message-id", "correlation-id") if name in chosen]
    after: list[tuple[str, str]] = []
    if message.time_to_be_received != FOREVER:
        after.append(("expiry", str(message.time_to_be_received)))
    after.append(("content-type", chosen.get("content-type") or TEXT_TYPES.get(message.body_type, BYTES)))
    after += [(name, value) for name, value in chosen.items() if name.startswith("app-")]
    after += [(OURS + name, value) for name, value in product_fields(message, home)]
    return _Written(_text(lines), _text(after), "message-id" in chosen, "correlation-id" in chosen)


def _text(lines: list[tuple[str, str]]) -> str:
    return "".join(f"{name}:{value}{CRLF}" for name, value in lines)


def _service(message: Message) -> str:
    """Return the class of service, 6.2.4: once and only once, at least once, at most once."""
    if message.is_transactional:
        return "assured"
    return "datagram" if message.is_express else "reliable"


def _user(message: Message) -> str:
    """Return the sender that the queue manager knows; an application cannot choose another one."""
    if not message.sender or message.sender_kind is not SenderKind.SID:
        return ""
    try:
        return str(decode_sid(message.sender)[0])
    except PeerFault:
        return ""


@lru_cache(maxsize=64)
def _guid_text(number: int) -> str:
    """Return a GUID as text; the cache is by its number, because a UUID hashes slowly."""
    return str(UUID(int=number))


@lru_cache(maxsize=256)
def _put_time(seconds: int) -> str:
    return f"put-time:{date_text(seconds)}{CRLF}"
