"""Carries attributes without a field of HTTPR in product fields, such as `app-reliquary-tag:42` (6.2.14).

An attribute is written if it is not at its default, and read again by the other agent; other products keep
the fields and pass them on.  Text is percent-encoded UTF-8, bytes are base64.

Not every field of a peer is accepted: an administration queue is taken over only as a URL, the
sender's dead-letter queue not at all; see NOT_READ and NOT_CARRIED.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, unquote
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.addresses import format_name, target_uri
from reliquary.protocols.httpr.codec.lexical import LWS, malformed, read_number, shortened
from reliquary.protocols.httpr.fields import OURS
from reliquary.queueing.model.message import (
    FOREVER,
    HOP_LIMIT,
    NO_GUID,
    NO_OBJECT,
    Acknowledgement,
    Delivery,
    Message,
    MessageClass,
    ObjectId,
)
from reliquary.queueing.model.names.formats import DirectName, is_format_name, parse_single
from reliquary.wire import trace_context

LABEL: Final = f"{OURS}label"
HOPS: Final = f"{OURS}hops"
"""The field that counts the managers that forwarded a message: the only one that changes from hop to hop."""
MESSAGE_ID: Final = f"{OURS}message-id"
"""The identifier, if the application has chosen a message-id."""
TRACE: Final = f"{OURS}trace"
"""The trace identifier of the message."""
CORRELATION_ID: Final = f"{OURS}correlation-id"

NOT_READ: Final[Mapping[str, str]] = {
    "sender": "user-id shows it to readers; a name that a peer sends does not authenticate a user",
    "application_deadletter_queue": "a peer could put messages into queues here that it may not send to",
}
"""Attributes that are written, and never taken over from a peer, each with the reason."""

NOT_CARRIED: Final[Mapping[str, str]] = {
    "discard_refused": "a request to its own manager",
    "destination_queues": "where copies for others went",
    "multiple_destination_signature": "HTTPR signs nothing; TLS says who is who",
    "privacy": "HTTPR encrypts nothing; that is the work of TLS",
    "encryption_algorithm": "as privacy",
    "symmetric_key": "as privacy",
    "authentication": "only the receiver that verified a signature knows it",
    "hash_algorithm": "as authentication",
    "signature": "as authentication",
    "sender_certificate": "as authentication",
    "authentication_provider_type": "as authentication",
    "authentication_provider_name": "as authentication",
    "sender_kind": "what the sender's identifier is",
    "destination_manager": "the URI says where",
    "destination_kind": "what the destination's name is",
    "administration_kind": "what the administration queue's name is",
    "response_kind": "what the response queue's name is",
    "connector_type": "a connector belongs to one manager",
    "connector_manager": "as connector_type",
    "transaction_status_queue": "as connector_type",
    "transaction": "each hop has its own: that of the batch",
    "sequence": "a channel keeps order by itself",
    "sequence_number": "as sequence",
    "previous_sequence_number": "as sequence",
    "final_ack_required": "as sequence",
    "first_in_transaction": "as transaction",
    "last_in_transaction": "as transaction",
    "soap_envelope": "it belongs to another protocol",
    "soap_compound_message": "as soap_envelope",
    "soap_header": "as soap_envelope",
    "soap_body": "as soap_envelope",
}
"""Attributes that are not written, each with the reason."""

_YES: Final = "yes"
_BLANK: Final = "%20"
"""A blank at either end of a value; blanks elsewhere are written without an escape."""
_SAFE: Final = " !\"#$&'()*+-./:;<=>?@[\\]^_`{|}~"
_PLAIN: Final = re.compile(
    r"[\x21-\x24\x26-\x2b\x2d-\x7e](?:[\x20-\x24\x26-\x2b\x2d-\x7e]*[\x21-\x24\x26-\x2b\x2d-\x7e])?"
)
"""Printable, without a comma or a percent sign, and without a blank at either end."""
_GUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_CLASS_LIMIT: Final = 0xFFFF

# -- values


def text_value(text: str) -> str:
    """Return a text as the value of a field."""
    if _PLAIN.fullmatch(text):
        return text
    escaped = quote(text, safe=_SAFE, errors="replace")
    inner = escaped.strip(" ")
    start = escaped.find(inner)
    return _BLANK * start + inner + _BLANK * (len(escaped) - len(inner) - start)


def read_text(value: str) -> str:
    """Return the text of a field's value."""
    if "%" not in value:
        return value
    try:
        return unquote(value, errors="strict")
    except UnicodeDecodeError:
        raise malformed(f"{shortened(value)} is not UTF-8 after its escapes are replaced", "6.2.14") from None


def id_value(identifier: ObjectId) -> str:
    """Return an identifier as a token."""
    return f"{identifier.lineage}.{identifier.uniquifier}"


def read_identifier(value: str) -> ObjectId:
    """Return the identifier of a field's value; NO_OBJECT if the value does not have our form (6.2.9)."""
    value = value.strip(LWS)
    lineage, digits = _lineage(value[:36]), value[37:]
    if (
        lineage is None
        or value[36:37] != "."
        or not digits.isdecimal()
        or digits[0] == "0"
        or len(digits) > 10
    ):
        return NO_OBJECT
    number = int(digits)
    return ObjectId(lineage, number) if number <= FOREVER else NO_OBJECT


@lru_cache(maxsize=64)
def _lineage(text: str) -> UUID | None:
    return UUID(text) if _GUID.fullmatch(text) else None


def _number(name: str, most: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        found = read_number(value, OURS + name, "6.2.14")
        if found > most:
            raise malformed(f"{OURS}{name} is at most {most}, not {found}", "6.2.14")
        return found

    return read


def _guid(value: str) -> UUID:
    if not _GUID.fullmatch(value):
        raise malformed(f"a GUID has 8-4-4-4-12 hexadecimal digits, not {shortened(value)}", "6.2.14")
    return UUID(value)


def _flag(value: str) -> bool:
    if value.lower() != _YES:
        raise malformed(f"a flag has the value {_YES!r}, not {shortened(value)}", "6.2.14")
    return True


def _bytes(value: str) -> bytes:
    try:
        return b64decode(value, validate=True)
    except (Error, ValueError):
        raise malformed(f"an extension is base64, not {shortened(value)}", "6.2.14") from None


def _delivery(value: str) -> Delivery:
    if value.lower() != Delivery.EXPRESS.word:
        raise malformed(f"{OURS}delivery is express, not {shortened(value)}", "6.2.14")
    return Delivery.EXPRESS


def _acknowledgements(value: str) -> tuple[Acknowledgement, ...]:
    try:
        return tuple(Acknowledgement(word.strip().lower()) for word in value.split(",") if word.strip())
    except ValueError:
        raise malformed(f"unknown acknowledgements: {shortened(value)}", "6.2.14") from None


# -- names of queues


def name_for(name: str, home: str) -> str:
    """Return the format name of a queue as other managers use it.

    `home` is the URI of the agent of this manager.
    """
    if not name or is_format_name(name):
        return name
    path = quote(name.replace("\\", "/"), safe="/$;.@")
    return format_name(target_uri(name) or (f"{home}#{path}" if home else ""))


def _names_value(names: tuple[str, ...], home: str) -> str:
    return ",".join(text_value(named) for name in names if (named := name_for(name, home)))


def _name(value: str) -> str:
    """Return a format name; empty for a name that only the sender's manager understands."""
    name = read_text(value)
    if not is_format_name(name):
        return ""
    try:
        return str(parse_single(name))
    except UsageError:
        raise malformed(f"{shortened(name)} is not the name of one queue", "6.2.14") from None


def _names(value: str) -> tuple[str, ...]:
    return tuple(filter(None, map(_name, value.split(","))))


def _administration_queue(value: str) -> str:
    """Return the queue for acknowledgements if it is a URL; no other name leads back to the peer."""
    name = _name(value)
    single = parse_single(name) if name else None
    return name if isinstance(single, DirectName) and single.scheme.is_url else ""


def _administration_queues(value: str) -> tuple[str, ...]:
    return tuple(filter(None, map(_administration_queue, value.split(","))))


# -- the table

Read = tuple[str, Callable[[str], Any]]

_READ: Final[dict[str, Read]] = {
    "delivery": ("delivery", _delivery),
    "class": ("message_class", _number("class", _CLASS_LIMIT)),
    "reach": ("time_to_reach_queue", _number("reach", FOREVER)),
    "body-type": ("body_type", _number("body-type", FOREVER)),
    "tag": ("application_tag", _number("tag", FOREVER)),
    "extension": ("extension", _bytes),
    "acknowledgements": ("acknowledgements", _acknowledgements),
    "administration-queue": ("administration_queue", _administration_queue),
    "administration-queues": ("administration_queues", _administration_queues),
    "response-queue": ("response_queue", _name),
    "response-queues": ("response_queues", _names),
    "journal": ("positive_journaling", _flag),
    "deadletter": ("negative_journaling", _flag),
    "peek-when-locked": ("allow_peek_when_locked", _flag),
    "tracing-queue": ("tracing_queue", _guid),
    "delay": ("delay", _number("delay", FOREVER * 1_000_000)),
    "source": ("source_machine", _guid),
    "hops": ("hops", _number("hops", HOP_LIMIT)),
    "trace": ("trace_context", lambda value: trace_context.read(read_text(value))),
    "label": ("label", read_text),
}
"""The attribute of each field, and how its value is read; other fields are kept and not read."""
READ: Final[dict[str, Read]] = {OURS + name: rule for name, rule in _READ.items()}


def product_fields(message: Message, home: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of all attributes that are not at their default, except the label, which is last."""
    if message.is_express:
        yield "delivery", message.delivery.word
    if message.message_class != MessageClass.NORMAL:
        yield "class", str(int(message.message_class))
    if message.time_to_reach_queue != FOREVER:
        yield "reach", str(message.time_to_reach_queue)
    if message.body_type:
        yield "body-type", str(message.body_type)
    if message.application_tag:
        yield "tag", str(message.application_tag)
    if message.extension:
        yield "extension", b64encode(message.extension).decode()
    if message.acknowledgements:
        yield "acknowledgements", ",".join(each.value for each in message.acknowledgements)
    yield from _queues(message, home)
    if message.positive_journaling:
        yield "journal", _YES
    if message.negative_journaling:
        yield "deadletter", _YES
    if message.allow_peek_when_locked:
        yield "peek-when-locked", _YES
    if message.tracing_requested:
        yield "tracing-queue", str(message.tracing_queue)
    if message.delay:
        yield "delay", str(message.delay)
    if message.source_machine not in (NO_GUID, message.identifier.lineage):
        yield "source", str(message.source_machine)
    if message.hops:
        yield "hops", str(message.hops)
    if message.trace_context:
        yield "trace", text_value(message.trace_context)


def _queues(message: Message, home: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of queue names that other managers understand."""
    response = name_for(message.response_queue, home)
    if response and not target_uri(response):  # otherwise reply-uri carries the name
        yield "response-queue", text_value(response)
    administration = name_for(message.administration_queue, home)
    if administration:
        yield "administration-queue", text_value(administration)
    for name, queues in (
        ("response-queues", message.response_queues),
        ("administration-queues", message.administration_queues),
    ):
        value = _names_value(queues, home)
        if value:
            yield name, value
    if message.application_deadletter_queue:
        yield "deadletter-queue", text_value(message.application_deadletter_queue)
