"""Reads envelopes in the form that managers write, without an XML parser, which takes several times as long.

    <se:Envelope ...><se:Header><path ...>           these tags to the letter, in this order,
      <action>text</action><to>text</to>...          no white space between them
    </path><properties ...>...</properties>
    [<services ...><durable/></services>] [<stream ...>...</stream>]
    <Msmq ...>...</Msmq></se:Header>...              known elements that hold text only

A sender repeats most of it from message to message: all but the number of the message and its place in
a stream is read once, and so are the attributes that it gives the message.  To recognize a text, its
numbers are replaced by the first ones.

Every message without a request for a receipt or an answer has this form.  An envelope that differs from
it in any character is left to the parser, which also reports errors: this module returns the result of
the parser, or None.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from reliquary.protocols.srmp.codec.elements import Fields
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.header import (
    Services,
    StreamName,
    envelope_from,
    numbered,
    place_in,
    read_msmq,
    read_path,
    read_properties,
    stream_name,
)
from reliquary.protocols.srmp.codec.lexical import message_id
from reliquary.protocols.srmp.codec.messages import attributes_of
from reliquary.protocols.srmp.codec.values import Envelope, Msmq
from reliquary.queueing.model.message import FOREVER, Message

BEGIN: Final = (
    '<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"'
    ' xmlns="http://schemas.xmlsoap.org/srmp/"><se:Header>'
    '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1">'
)
PROPERTIES: Final = '</path><properties se:mustUnderstand="1">'
SERVICES: Final = '<services se:mustUnderstand="1">'
STREAM: Final = '<stream se:mustUnderstand="1">'
MSMQ: Final = '<Msmq xmlns="msmq.namespace.xml">'
END: Final = "</se:Header><se:Body></se:Body></se:Envelope>"

_FIRST: Final = f"{BEGIN}<action>"
_LAST: Final = f"</Msmq>{END}"
_UUID: Final = "uuid:"
ID: Final = f"<id>{_UUID}"
"""The text before the number of the message."""
PLACES: Final = "<current>"
_FIRST_PLACE: Final = f"{PLACES}1</current>"
NUMBERS: Final = re.compile("<current>([0-9]{1,10})</current>(?:<previous>([0-9]{1,10})</previous>)?")
MOST_DIGITS: Final = 10
_FORM: Final = re.compile(
    "([^<]*)</action><to>([^<]*)</to><id>uuid:0(@[-0-9A-Fa-f]{36})</id>"
    + re.escape(PROPERTIES) + "<expiresAt>([^<]*)</expiresAt>(?:<sentAt>([^<]*)</sentAt>)?</properties>"
    + f"({re.escape(SERVICES)}<durable/></services>)?"
    + f"(?:{re.escape(STREAM)}<streamId>([^<]*)</streamId>{_FIRST_PLACE}</stream>)?"
    + re.escape(MSMQ) + "(.*)"
)  # fmt: skip
"""The text between `_FIRST` and `_LAST`, with the first number in place of each number."""
_MSMQ_TEXTS: Final = frozenset(
    {
        *("Class", "Priority", "Journal", "DeadLetter", "Correlation", "Trace", "ConnectorType", "App"),
        *("BodyType", "HashAlgorithm", "SourceQmGuid", "DestinationMqf", "AdminMqf", "ResponseMqf", "TTrq"),
    }
)

LONGEST: Final = 4 * 1024
"""The most characters of an envelope; few envelopes of this form come near it."""


class Known(msgspec.Struct):
    """The content of an envelope without its numbers."""

    envelope: Envelope
    repeated: Message | None
    """The attributes of its message, as in `Arrived`."""
    manager: str
    """The text in `id` after the number of the message."""
    stream: StreamName | None
    uses: int = 0
    """The number of envelopes with this content that were read."""

    def numbered(self, number: str, current: int, previous: int | None) -> Envelope | None:
        """Return the envelope with these numbers, `current` is 0 outside a stream; None for numbers that
        must be refused.
        """
        uniquifier = int(number)
        if uniquifier > FOREVER or current > FOREVER:
            return None
        stream, identifier = self.stream, f"{_UUID}{number}{self.manager}"
        try:
            place = None if stream is None else place_in(stream, current, previous)
            return numbered(self.envelope, identifier, uniquifier, place)
        except SrmpFault:
            return None  # the parser reports the error


class Canonical(NamedTuple):
    """The content of an envelope in canonical form."""

    envelope: Envelope
    known: Known
    """The part of it that senders repeat."""


def canonical_envelope(text: str) -> Envelope | None:
    """Return the content of a canonical envelope; None for any other, and for one that must be refused."""
    found = canonical(text)
    return None if found is None else found.envelope


def canonical(text: str) -> Canonical | None:
    """Return the content of a canonical envelope, and the attributes that its sender repeats;
    None as above.
    """
    if len(text) > LONGEST or not (text.startswith(_FIRST) and text.endswith(_LAST)):
        return None
    number_at = text.find(ID) + len(ID)
    number_end = text.find("@", number_at)
    places_at = text.find(PLACES, number_end)
    number = text[number_at:number_end]
    if not (number.isdecimal() and number.isascii() and len(number) <= MOST_DIGITS):
        return None
    current, previous = 0, None
    if places_at < 0:
        known = _read(f"{text[:number_at]}0{text[number_end:]}")
    else:
        found = NUMBERS.match(text, places_at)
        if found is None:
            return None
        known = _read(f"{text[:number_at]}0{text[number_end:places_at]}{_FIRST_PLACE}{text[found.end() :]}")
        current, previous = int(found[1]), None if found[2] is None else int(found[2])
    if known is None or (known.stream is None) is not (places_at < 0):
        return None
    envelope = known.numbered(number, current, previous)
    return None if envelope is None else Canonical(envelope, known)


@lru_cache(maxsize=1024)
def _read(text: str) -> Known | None:
    """Return the content of an envelope whose numbers were replaced by the first ones; None for another form.

    Envelopes that differ only in their numbers are equal texts here, so only one of them is read.
    """
    found = _FORM.fullmatch(text, len(_FIRST), len(text) - len(_LAST))
    if found is None:
        return None
    action, to, manager, expires_at, sent_at, durable, stream, msmq = found.groups()
    try:
        said = _repeated(action, to, manager, expires_at, sent_at, durable is not None, msmq)
        name = None if stream is None else stream_name(stream)
    except SrmpFault:
        return None  # the parser reports the error
    return None if said is None else Known(*said, manager, name)


@lru_cache(maxsize=1024)
def _repeated(
    action: str, to: str, manager: str, expires_at: str, sent_at: str | None, durable: bool, msmq: str
) -> tuple[Envelope, Message | None] | None:
    """Return the content that senders repeat from message to message; None for another form."""
    said = _msmq(msmq)
    if said is None or not (_is_plain(action) and _is_plain(to)):
        return None
    message_id(f"uuid:0{manager}")  # it is a GUID, or the parser reports that it is none
    times: Fields = {"expiresAt": expires_at}
    if sent_at is not None:
        times["sentAt"] = sent_at
    path = read_path({"action": action, "to": to, "id": ""})
    envelope = envelope_from(path, read_properties(times), Services(durable), said)
    return envelope, None if envelope.sent_at is None else attributes_of(envelope, now=0)


@lru_cache(maxsize=1024)
def _msmq(inside: str) -> Msmq | None:
    """Return the content of the block `Msmq`; cached, because it does not depend on the label."""
    fields = _texts(inside) if _is_plain(inside) else None
    return None if fields is None else read_msmq(fields)


def _is_plain(text: str) -> bool:
    """Return whether a text needs no unescaping: it has only printable characters without `&` and `<`.

    Numbers, dates and GUIDs are not checked, because their patterns exclude these characters.
    """
    return text.isprintable() and "&" not in text and "]]>" not in text


def _texts(inside: str) -> Fields | None:
    """Return the elements of a block, if it has only known elements with text, each once and
    properly closed.
    """
    pieces = iter(inside.split("<"))
    if next(pieces):
        return None
    fields: Fields = {}
    for piece in pieces:
        name, found, content = piece.partition(">")
        if name.endswith("/"):
            name = name[:-1]
            if content:
                return None
        elif next(pieces, "") != f"/{name}>":
            return None
        if not found or name not in _MSMQ_TEXTS or name in fields:
            return None
        fields[name] = content
    return fields
