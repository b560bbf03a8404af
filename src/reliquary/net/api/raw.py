"""Transfers one message whose body is that of a request or an answer; its attributes are header fields.

    POST /api/v1/queues/orders/messages                 POST /api/v1/queues/orders/receive
    content-type: application/octet-stream              accept: application/octet-stream
    x-reliquary-label: an order                     --> x-reliquary-label: an order
    x-reliquary-priority: 5                             x-reliquary-priority: 5, and x-reliquary-id, ...
    (the body)                                          (the body)

A field has the name of the attribute in JSON, with hyphens.  Its value is UTF-8; a character that a
header cannot hold is percent-encoded, and so is each per cent sign.
Lists have commas, objects are JSON, bytes are base64.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

import msgspec
from msgspec.structs import replace

from reliquary.base.faults import UsageError
from reliquary.net.api.messages import MessageIn, UsualOut
from reliquary.net.http.headers import Headers

PREFIX: Final = "x-reliquary-"
NAMES: Final = tuple(name for name in MessageIn.__struct_fields__ if name not in {"body", "text"})
"""The attributes that header fields may set."""
_START: Final = PREFIX.encode()
_BAD_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_PLAIN: Final = "".join(map(chr, range(0x21, 0x7F))).replace("%", "")
"""Characters that stand for themselves in a value; a space does too, but not at its ends."""
_encode = msgspec.json.Encoder().encode


def message_in(fields: Headers, body: bytes) -> MessageIn:
    """Return the message that a request carries as its body; UsageError names an unknown or wrong field."""
    given: dict[str, Any] = {}
    for name, value in fields:
        key = name.lower()
        if key.startswith(_START):
            attribute = key.decode("latin-1")[len(PREFIX) :].replace("-", "_")
            if attribute not in NAMES:
                known = ", ".join(map(field_name, NAMES))
                raise UsageError(f"there is no header {key.decode('latin-1')[:80]}; there is {known}")
            if attribute in given:
                raise UsageError(f"the header {field_name(attribute)} is given twice")
            given[attribute] = _read(attribute, value)
    try:
        message = msgspec.convert(given, MessageIn, strict=False)
    except msgspec.ValidationError as why:
        sentence = str(why).replace("$.", PREFIX).replace("_", "-")
        raise UsageError(f"a header cannot be read: {sentence}") from why
    message.body = body
    return message


def _read(attribute: str, value: bytes) -> object:
    if _BAD_ESCAPE.search(value):
        name = field_name(attribute)
        raise UsageError(f"in the header {name} a per cent sign is written %25, and begins no other escape")
    try:
        text = unquote_to_bytes(value).decode()
    except UnicodeDecodeError as why:
        raise UsageError(f"the header {field_name(attribute)} is not UTF-8") from why
    if attribute == "acknowledgements":
        return [word.strip() for word in text.split(",")]
    if attribute == "httpr":
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as why:
            raise UsageError(f"the header {field_name(attribute)} is an object of JSON: {why}") from why
    return text


def fields_of(message: UsualOut, receipt: str | None) -> Headers:
    """Return the header fields of an answer whose body is the body of this message."""
    shown: dict[str, Any] = msgspec.to_builtins(replace(message, body=b""))
    del shown["body"]
    if receipt is not None:
        shown["receipt"] = receipt
    return [(field_name(name).encode(), _write(value)) for name, value in shown.items()]


def _write(value: object) -> bytes:
    match value:
        case str():
            text = value
        case list() | tuple():
            text = ",".join(value)
        case _:
            text = _encode(value).decode()
    return quote(text, safe=_PLAIN if text != text.strip(" ") else _PLAIN + " ").encode()


def field_name(attribute: str) -> str:
    """Return the name of the header field of an attribute.

    >>> field_name("body_type")
    'x-reliquary-body-type'
    """
    return PREFIX + attribute.replace("_", "-")
