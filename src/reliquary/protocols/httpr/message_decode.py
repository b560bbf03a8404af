"""Makes a message from HTTPR header fields, chapter 6.2; `message_encode` has the table of both.

A message keeps the header that it came with, and leaves with exactly that header.  A priority of 8 or 9 is 7.

Most headers differ from others only in message-id, correlation-id, put-time and label.  These four are taken
out of a header, and the rest is read once and cached.  The headers of a batch mostly differ in the number
of their message-id alone: then only the number is read.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.addresses import format_name
from reliquary.protocols.httpr.attributes import (
    CORRELATION_ID,
    LABEL,
    MESSAGE_ID,
    READ,
    read_identifier,
    read_text,
)
from reliquary.protocols.httpr.codec.lexical import CRLF, LWS, malformed, read_date, read_number, shortened
from reliquary.protocols.httpr.codec.values import Carried
from reliquary.protocols.httpr.fields import (
    DEFAULT_PRIORITY,
    LONGEST_REMEMBERED,
    NO_FIELDS,
    REMEMBERED,
    is_encoding,
    read_fields,
)
from reliquary.queueing.model.message import (
    FOREVER,
    LABEL_LIMIT,
    NO_OBJECT,
    PRIORITY_LIMIT,
    USUAL,
    Delivery,
    Message,
    ObjectId,
    check,
    rare_part,
)

_SERVICES: Final = ("assured", "reliable", "datagram")


class _Read(NamedTuple):
    """The content of a header without the four fields that differ from one message to the next."""

    target: str
    message: Message
    is_whole: bool
    """True if the header has none of the four fields."""


_REMEMBERED_HEADERS: Final[dict[str, _Read]] = {}
_FOUR: Final = frozenset({"message-id", "correlation-id", "put-time", LABEL, MESSAGE_ID, CORRELATION_ID})
_IDS_AND_TIME: Final = re.compile(
    r"\nmessage-id:([^\r\n]*)\r\n(?:correlation-id:([^\r\n]*)\r\n)?(?:put-time:([^\r\n]*)\r\n)?"
)
_MOST_DIGITS: Final = len(str(FOREVER))
_LABEL_LINE: Final = f"{LABEL}:"


class _Last(NamedTuple):
    """The last header that was read, before and after the number of its message-id, and its message."""

    before: str
    after: str
    target: str
    message: Message


_LAST: Final = [_Last("\n", "\n", "", Message())]
"""No header begins with a line end, so the first one does not match."""


def decode_message(carried: Carried) -> tuple[str, Message]:
    """Return the target-uri, or empty, and the message; HttprFault 520 if a field has no valid value."""
    header = carried.header
    before, after, target, message = _LAST[0]
    if header.startswith(before) and header.endswith(after):
        digits = header[len(before) : -len(after)]
        number = int(digits) if digits.isdecimal() and len(digits) <= _MOST_DIGITS else 0
        if 0 < number <= FOREVER and digits[0] != "0":
            return target, replace(
                message,
                identifier=ObjectId(message.identifier.lineage, number),
                body=carried.body,
                more=replace(message.more or USUAL, carrier_header=header, stored_body=carried.stored),
            )
    return _decode_by_parts(carried)


def _decode_by_parts(carried: Carried) -> tuple[str, Message]:
    """Decode a header that differs from the last one in more than a number."""
    header = carried.header
    if header[-2:] != CRLF and header:
        raise malformed("the header of a message must end with a whole line", "6.2")
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
    read = _REMEMBERED_HEADERS.get(rest) or _read(rest)
    if not read.is_whole:  # one of the four fields is in another position, or occurs twice
        return _decode_by_fields(carried)
    rare = replace(
        read.message.more or USUAL,
        correlation=correlation,
        carrier_header=header or NO_FIELDS,
        stored_body=carried.stored,
    )
    message = replace(
        read.message,
        identifier=identifier,
        sent_time=sent_time,
        label=label,
        body=carried.body,
        more=rare_part(rare, identifier),
    )
    if found is not None and identifier is not NO_OBJECT and len(header) <= LONGEST_REMEMBERED:
        dot = header.index(".", found.start(1))
        end = dot + 1 + len(str(identifier.uniquifier))
        bare = replace(message, body=b"", more=replace(rare, carrier_header="", stored_body=None))
        _LAST[0] = _Last(header[: dot + 1], header[end:], read.target, bare)
    return read.target, message


def _read(header: str) -> _Read:
    """Read a header without the four fields, and cache it, because peers repeat most headers."""
    fields = read_fields(header)
    is_whole = _FOUR.isdisjoint(fields)
    read = _Read(fields.get("target-uri", ""), _attributes(fields) if is_whole else Message(), is_whole)
    if len(header) <= LONGEST_REMEMBERED:
        if len(_REMEMBERED_HEADERS) >= REMEMBERED:
            _REMEMBERED_HEADERS.clear()
        _REMEMBERED_HEADERS[header] = read
    return read


def _decode_by_fields(carried: Carried) -> tuple[str, Message]:
    """Decode a header whose fields have any order."""
    fields = read_fields(carried.header)
    message = _attributes(fields)
    identifier = read_identifier(fields.get(MESSAGE_ID) or fields.get("message-id", ""))
    return fields.get("target-uri", ""), message.changed(
        identifier=identifier,
        correlation=read_identifier(fields.get(CORRELATION_ID) or fields.get("correlation-id", "")),
        sent_time=_sent_time(fields["put-time"]) if "put-time" in fields else 0,
        label=_label(fields.get(LABEL, "")),
        body=carried.body,
        carrier_header=carried.header or NO_FIELDS,
        stored_body=carried.stored,
    )


def _attributes(fields: dict[str, str]) -> Message:
    """Return a message with all attributes but the body and those of the four fields."""
    chosen: dict[str, Any] = {
        "delivery": _delivery(fields.get("class-of-service", "datagram")),
        "priority": _priority(fields.get("priority", str(DEFAULT_PRIORITY))),
        "time_to_reach_queue": FOREVER,
        "destination_queue": format_name(fields.get("target-uri", "")),
        "response_queue": format_name(fields.get("reply-uri", "")),
    }
    if "expiry" in fields:
        chosen["time_to_be_received"] = min(read_number(fields["expiry"], "expiry", "6.2.12"), FOREVER)
    # DEPARTS from 3.10 (HR-048): data is passed to applications unchanged, together with `encoding` and
    # `content-type`, because only they know where in it the numbers are.
    if "encoding" in fields and not is_encoding(fields["encoding"]):
        raise malformed(f"unknown encoding {shortened(fields['encoding'])}", "6.2.7")
    for name, value in fields.items():
        if name in READ and name != LABEL:
            attribute, read = READ[name]
            chosen[attribute] = read(value)
    chosen["tracing_requested"] = "tracing_queue" in chosen
    try:
        message = Message.of(**chosen)
        check(message)
    except UsageError as why:
        raise malformed(str(why), "6.2.14") from why
    return message


def _delivery(value: str) -> Delivery:
    """Return the delivery for a class of service, 6.2.4.

    Datagrams are kept too, though they may be lost (H-37).
    """
    if value.lower() not in _SERVICES:
        raise malformed(f"a class of service is {', '.join(_SERVICES)}, not {shortened(value)}", "6.2.4")
    return Delivery.RECOVERABLE


def _priority(value: str) -> int:
    """Return a priority, 6.2.5; values above our highest priority become the highest."""
    if len(value) != 1 or not "0" <= value <= "9":
        raise malformed(f"a priority is one digit, not {shortened(value)}", "6.2.5")
    return min(int(value), PRIORITY_LIMIT)


def _sent_time(value: str) -> int:
    """Return a put-time in seconds, 6.2.11; 0 for a time that no message here can have."""
    seconds = _seconds(value.strip(LWS))
    return seconds if 0 <= seconds <= FOREVER else 0


_seconds: Final = lru_cache(maxsize=256)(read_date)


def _label(value: str) -> str:
    label = read_text(value.strip(LWS))
    if len(label) > LABEL_LIMIT:
        raise malformed(f"a label has at most {LABEL_LIMIT} characters, not {len(label)}", "6.2.14")
    return label
