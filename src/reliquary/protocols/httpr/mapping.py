"""Message attributes <-> HTTPR message header fields, chapter 6.2; nothing is lost on a round trip.

    target-uri        destination_queue       message-id       identifier, as guid.number
    class-of-service  delivery, transaction   correlation-id   correlation
    priority          priority; 8 and 9 are 7 put-time         sent_time
    user-id           sender, as a SID        expiry           time_to_be_received
    reply-uri         response_queue          content-type     by the body's type
    app-reliquary-... all else, see `attributes`

A message that came by HTTPR keeps its header as it was, and goes on with exactly that.

Most headers differ from others only in message-id, correlation-id, put-time and label.  These four are
taken out of what comes, the rest is read once and remembered; what goes out is put together likewise.
Those of a batch mostly differ in the number of their message-id alone: they are not even taken apart.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from reliquary.base.faults import PeerFault, UsageError
from reliquary.protocols.httpr.addresses import format_name, target_uri
from reliquary.protocols.httpr.attributes import (
    CORRELATION_ID,
    LABEL,
    MESSAGE_ID,
    READ,
    id_value,
    name_for,
    product_fields,
    read_identifier,
    read_text,
    text_value,
)
from reliquary.protocols.httpr.codec.lexical import (
    CRLF,
    LWS,
    date_text,
    malformed,
    read_date,
    read_number,
    shortened,
)
from reliquary.protocols.httpr.codec.values import Carried
from reliquary.protocols.httpr.fields import NO_FIELDS, OURS, fields_of, is_encoding, read_fields
from reliquary.queueing.message import (
    FOREVER,
    LABEL_LIMIT,
    NO_GUID,
    NO_OBJECT,
    PRIORITY_LIMIT,
    Delivery,
    Message,
    ObjectId,
    SenderKind,
    check,
)
from reliquary.wire.security import decode_sid

__all__ = ["carried_of", "fields_of", "message_of"]

DEFAULT_PRIORITY: Final = 4
TEXT_TYPES: Final = {
    8: "text/plain; charset=utf-16le",
    30: "text/plain",
    31: "text/plain; charset=utf-16le",
}
"""Message.BodyType of a BSTR, an LPSTR and an LPWSTR, and how HTTPR calls them."""
_SERVICES: Final = ("assured", "reliable", "datagram")
BYTES: Final = "application/octet-stream"

_REMEMBERED: Final = 1024
_LONGEST_REMEMBERED: Final = 4096
"""Characters of a header that is worth remembering; what peers write is not to fill the memory."""


# -- to the wire


def carried_of(message: Message, home: str = "") -> tuple[str, bytes]:
    """The header and the data of a message that leaves; `home` is the URI of our agent.

    Of a large body that lies in pieces the data is empty: whoever sends it reads the pieces.
    """
    header = message.httpr_header
    if header and header[-2:] == CRLF:
        return "" if header == NO_FIELDS else header, message.body  # it came so, and goes on so
    written = _written(message, home)
    identifier, correlation = message.identifier, message.correlation
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


class _Written(NamedTuple):
    """The header of a message without what differs from one message to the next."""

    before: str
    after: str
    has_id: bool
    """The application has chosen a message-id."""
    has_correlation: bool


_OUT: Final[dict[tuple[Any, ...], _Written]] = {}


def _written(message: Message, home: str) -> _Written:
    if (
        message.extension
        or message.acknowledgements
        or message.delay
        or message.tracing_requested
        or message.administration_queue
        or message.administration_queues
        or message.response_queues
        or message.application_deadletter_queue
        or message.allow_peek_when_locked
        or message.sender
        or message.message_class
        or message.source_machine.int != message.identifier.lineage.int
    ):
        return _write(message, home)
    key = (
        message.destination_queue,
        message.priority,
        message.time_to_be_received,
        message.time_to_reach_queue,
        message.delivery is Delivery.EXPRESS,
        message.transaction is None and message.sequence is None,
        message.response_queue,
        message.application_tag,
        message.body_type,
        message.positive_journaling,
        message.negative_journaling,
        message.httpr_header,
        home,
    )
    found = _OUT.get(key)
    if found is None:
        if len(_OUT) >= _REMEMBERED:
            _OUT.clear()
        found = _write(message, home)
        if len(found.before) + len(found.after) <= _LONGEST_REMEMBERED:
            _OUT[key] = found
    return found


def _write(message: Message, home: str) -> _Written:
    """All fields but the four, in the order of the grammar."""
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
    """6.2.4: once and only once, at least once, at most once."""
    if message.is_transactional:
        return "assured"
    return "datagram" if message.is_express else "reliable"


def _user(message: Message) -> str:
    """Who sent it, where that is known; a word of the manager's, so no application can say another."""
    if not message.sender or message.sender_kind is not SenderKind.SID:
        return ""
    try:
        return str(decode_sid(message.sender)[0])
    except PeerFault:
        return ""


@lru_cache(maxsize=64)
def _guid_text(number: int) -> str:
    """By its number, because a UUID hashes slowly."""
    return str(UUID(int=number))


@lru_cache(maxsize=256)
def _put_time(seconds: int) -> str:
    return f"put-time:{date_text(seconds)}{CRLF}"


# -- from the wire


class _Read(NamedTuple):
    """What a header says, but for the four."""

    target: str
    message: Message
    is_whole: bool
    """None of the four is in it."""


_IN: Final[dict[str, _Read]] = {}
_FOUR: Final = frozenset({"message-id", "correlation-id", "put-time", LABEL, MESSAGE_ID, CORRELATION_ID})
_IDS_AND_TIME: Final = re.compile(
    r"\nmessage-id:([^\r\n]*)\r\n(?:correlation-id:([^\r\n]*)\r\n)?(?:put-time:([^\r\n]*)\r\n)?"
)
_MOST_DIGITS: Final = len(str(FOREVER))
_LABEL_LINE: Final = f"{LABEL}:"


class _Last(NamedTuple):
    """The header that was read last, around the number of its message-id, and what it said."""

    before: str
    after: str
    target: str
    message: Message


_LAST: Final = [_Last("\n", "\n", "", Message())]
"""No header begins so."""


def message_of(carried: Carried) -> tuple[str, Message]:
    """The target-uri, or empty, and the message; HttprFault 520 for what cannot be meant."""
    header = carried.header
    before, after, target, message = _LAST[0]
    if header.startswith(before) and header.endswith(after):
        digits = header[len(before) : -len(after)]
        number = int(digits) if digits.isdecimal() and len(digits) <= _MOST_DIGITS else 0
        if 0 < number <= FOREVER and digits[0] != "0":
            return target, msgspec.structs.replace(
                message,
                identifier=ObjectId(message.identifier.lineage, number),
                body=carried.body,
                httpr_header=header,
                stored_body=carried.stored,
            )
    return _taken_apart(carried)


def _taken_apart(carried: Carried) -> tuple[str, Message]:
    """The same for a header that is not like the last one."""
    header = carried.header
    if header[-2:] != CRLF and header:
        raise malformed("the header of a message ends with a whole line", "6.2")
    identifier, correlation, sent_time, label, rest = NO_OBJECT, NO_OBJECT, 0, "", header
    found = _IDS_AND_TIME.search(header)
    if found is not None:
        message_id, correlation_id, put_time = found.groups()
        identifier = read_identifier(message_id)
        if correlation_id is not None:
            correlation = read_identifier(correlation_id)
        if put_time is not None:
            sent_time = _sent_time(put_time)
        rest = header[: found.start() + 1] + header[found.end() :]
    last = rest.rfind("\n", 0, -1) + 1
    if rest.startswith(_LABEL_LINE, last):
        label = _label(rest[last + len(_LABEL_LINE) : -2])
        rest = rest[:last]
    read = _IN.get(rest) or _read(rest)
    if not read.is_whole:  # it has one of the four in another place, or twice
        return _read_slowly(carried)
    message = read.message
    lineage = identifier.lineage
    message = msgspec.structs.replace(
        message,
        identifier=identifier,
        correlation=correlation,
        sent_time=sent_time,
        label=label,
        source_machine=lineage if message.source_machine is NO_GUID else message.source_machine,
        body=carried.body,
        httpr_header=header or NO_FIELDS,
        stored_body=carried.stored,
    )
    if found is not None and identifier is not NO_OBJECT and len(header) <= _LONGEST_REMEMBERED:
        dot = header.index(".", found.start(1))
        end = dot + 1 + len(str(identifier.uniquifier))
        bare = msgspec.structs.replace(message, body=b"", httpr_header="", stored_body=None)
        _LAST[0] = _Last(header[: dot + 1], header[end:], read.target, bare)
    return read.target, message


def _read(header: str) -> _Read:
    """Read a header without the four; those that peers repeat are remembered."""
    fields = read_fields(header)
    is_whole = _FOUR.isdisjoint(fields)
    read = _Read(fields.get("target-uri", ""), _attributes(fields) if is_whole else Message(), is_whole)
    if len(header) <= _LONGEST_REMEMBERED:
        if len(_IN) >= _REMEMBERED:
            _IN.clear()
        _IN[header] = read
    return read


def _read_slowly(carried: Carried) -> tuple[str, Message]:
    """A header in which anything may stand anywhere."""
    fields = read_fields(carried.header)
    message = _attributes(fields)
    identifier = read_identifier(fields.get(MESSAGE_ID) or fields.get("message-id", ""))
    return fields.get("target-uri", ""), msgspec.structs.replace(
        message,
        identifier=identifier,
        correlation=read_identifier(fields.get(CORRELATION_ID) or fields.get("correlation-id", "")),
        sent_time=_sent_time(fields["put-time"]) if "put-time" in fields else 0,
        label=_label(fields.get(LABEL, "")),
        source_machine=identifier.lineage if message.source_machine is NO_GUID else message.source_machine,
        body=carried.body,
        httpr_header=carried.header or NO_FIELDS,
        stored_body=carried.stored,
    )


def _attributes(fields: dict[str, str]) -> Message:
    """All attributes but those of the four, and the body."""
    chosen: dict[str, Any] = {
        "delivery": _delivery(fields.get("class-of-service", "datagram")),
        "priority": _priority(fields.get("priority", str(DEFAULT_PRIORITY))),
        "time_to_reach_queue": FOREVER,
        "destination_queue": format_name(fields.get("target-uri", "")),
        "response_queue": format_name(fields.get("reply-uri", "")),
    }
    if "expiry" in fields:
        chosen["time_to_be_received"] = min(read_number(fields["expiry"], "expiry", "6.2.12"), FOREVER)
    # DEPARTS from 3.10 (HR-048): data is handed to applications as it came, together with `encoding` and
    # `content-type`, because only they know where in it the numbers are.
    if "encoding" in fields and not is_encoding(fields["encoding"]):
        raise malformed(f"there is no such encoding as {shortened(fields['encoding'])}", "6.2.7")
    for name, value in fields.items():
        if name in READ and name != LABEL:
            attribute, read = READ[name]
            chosen[attribute] = read(value)
    chosen["tracing_requested"] = "tracing_queue" in chosen
    try:
        message = Message(**chosen)
        check(message)
    except UsageError as why:
        raise malformed(str(why), "6.2.14") from why
    return message


def _delivery(value: str) -> Delivery:
    """6.2.4; a datagram may be lost, and is not (H-37), unless its sender wanted it in memory only."""
    if value.lower() not in _SERVICES:
        raise malformed(f"a class of service is {', '.join(_SERVICES)}, not {shortened(value)}", "6.2.4")
    return Delivery.RECOVERABLE


def _priority(value: str) -> int:
    """6.2.5; what is above our highest is our highest, and goes on as it came."""
    if len(value) != 1 or not "0" <= value <= "9":
        raise malformed(f"a priority is one digit, not {shortened(value)}", "6.2.5")
    return min(int(value), PRIORITY_LIMIT)


def _sent_time(value: str) -> int:
    """6.2.11; a moment that no message of ours can have is not known."""
    seconds = _seconds(value.strip(LWS))
    return seconds if 0 <= seconds <= FOREVER else 0


_seconds: Final = lru_cache(maxsize=256)(read_date)


def _label(value: str) -> str:
    label = read_text(value.strip(LWS))
    if len(label) > LABEL_LIMIT:
        raise malformed(f"a label has at most {LABEL_LIMIT} characters, not {len(label)}", "6.2.14")
    return label
