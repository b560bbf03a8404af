"""Finds the form of a request's body and of the wanted answer from its header fields.

    Content-Type                the form of the body of the request
    application/msgpack         MessagePack, with the structure of the JSON and bytes in place of base64
    application/octet-stream    of a send: the body of one message (`raw`)
    any other, or none          JSON

    Accept                      the form of an answer with messages, or with their positions
    application/msgpack         MessagePack
    application/octet-stream    the body of one message (`raw`); positions are JSON
    any other, or none          JSON

Refusals are JSON in every case.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import Final, Generic, TypeVar

import msgspec

from reliquary.net.api.counts import SMALL_BODY, VALUES_LIMIT, check_counts
from reliquary.net.api.unknown_fields import with_likely_field
from reliquary.net.http import Request
from reliquary.net.http.response import JSON

Body = TypeVar("Body")

PACKED: Final = b"application/msgpack"
RAW: Final = b"application/octet-stream"
MOST: Final = msgspec.Meta(max_length=VALUES_LIMIT)
"""The most elements of a list or an object: in MessagePack its length is compared before any item is read."""


class Form(Enum):
    """The encoding of a body; the value is its media type."""

    JSON = JSON
    PACKED = PACKED
    RAW = RAW


IN_JSON: Final = Form.JSON
IN_PACKED: Final = Form.PACKED
IN_RAW: Final = Form.RAW
"""Module names for members that are used for every request: Python 3.11 looks up a member of an enum slowly.
"""


class Bodies(Generic[Body]):
    """The decoders of one kind of body."""

    __slots__ = ("json", "packed")

    def __init__(self, kind: type[Body], packed: type[Body] | None = None) -> None:
        """`packed` is the type for MessagePack if it has other limits."""
        self.json = msgspec.json.Decoder(kind)
        self.packed = msgspec.msgpack.Decoder(packed or kind)

    def explained(self, why: msgspec.ValidationError) -> msgspec.ValidationError:
        """Return a refusal with the field that was probably meant, if there is one."""
        return msgspec.ValidationError(with_likely_field(str(why), self.json.type))


def read_body(bodies: Bodies[Body], request: Request) -> Body:
    """Return the decoded body of a request; the body may be absent if all its fields are optional."""
    body = request.body
    try:
        if not body:
            return bodies.json.decode(b"{}")
        if (request.notes.forms or forms_of(request))[0] is IN_PACKED:
            return bodies.packed.decode(body)
        if len(body) > SMALL_BODY:
            check_counts(body)
        return bodies.json.decode(body)
    except msgspec.ValidationError as why:
        raise bodies.explained(why) from why


def forms_of(request: Request) -> tuple[Form, Form]:
    """Return the form of the body of a request, and the form of its answer; both are determined once for a
    head.
    """
    notes = request.notes
    if notes.forms is None:
        body, answer = request.header(b"content-type"), request.header(b"accept")
        notes.forms = preferred(body or b""), preferred(answer or b"")
    forms: tuple[Form, Form] = notes.forms
    return forms


@lru_cache(maxsize=64)
def preferred(value: bytes) -> Form:
    """Return the form with the highest weight (RFC 9110 12.5.1), the first of equals; JSON if none is known.

    >>> preferred(b"application/json;q=0.5, application/msgpack")
    <Form.PACKED: b'application/msgpack'>
    """
    chosen, best = Form.JSON, 0.0
    for part in value.lower().split(b","):
        kind, *options = (each.strip() for each in part.split(b";"))
        weight = next((_weight(each[2:]) for each in options if each.startswith(b"q=")), 1.0)
        if weight > best and kind in _FORMS:
            chosen, best = _FORMS[kind], weight
    return chosen


_FORMS: Final = {form.value: form for form in Form}


def _weight(given: bytes) -> float:
    """Return the weight of a media type; 0 for one that is not a number, so that it is never chosen."""
    try:
        return float(given)
    except ValueError:
        return 0.0
