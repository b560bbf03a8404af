"""Envelopes as managers write them, read without an XML parser, which takes several times as long.

    <se:Envelope ...><se:Header><path ...>           these tags to the letter, in this order,
      <action>text</action><to>text</to>...          no white space between them
    </path><properties ...>...</properties>
    [<services ...><durable/></services>] [<stream ...>...</stream>]
    <Msmq ...>...</Msmq></se:Header>...              known elements that hold text only

That is every message that asks for no receipt and no answer.  Whatever is not exactly so, to the last
character, is left to the parser, and so is what is wrong with it: what is read here is what it would
read, or nothing is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from reliquary.protocols.srmp.codec.elements import Fields
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.header import (
    Services,
    envelope_from,
    numbered,
    read_msmq,
    read_path,
    read_properties,
    read_stream,
)
from reliquary.protocols.srmp.codec.lexical import SPACE
from reliquary.protocols.srmp.codec.values import Envelope, Msmq

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

_FORM: Final = re.compile(
    re.escape(f"{BEGIN}<action>") + "([^<]*)</action><to>([^<]*)</to><id>([^<]*)</id>"
    + re.escape(PROPERTIES) + "<expiresAt>([^<]*)</expiresAt>(?:<sentAt>([^<]*)</sentAt>)?</properties>"
    + f"({re.escape(SERVICES)}<durable/></services>)?"
    + f"(?:{re.escape(STREAM)}<streamId>([^<]*)</streamId><current>([^<]*)</current>"
    + "(?:<previous>([^<]*)</previous>)?</stream>)?"
    + re.escape(MSMQ) + f"(.*)</Msmq>{re.escape(END)}"
)  # fmt: skip
_MSMQ_TEXTS: Final = frozenset(
    {
        *("Class", "Priority", "Journal", "DeadLetter", "Correlation", "Trace", "ConnectorType", "App"),
        *("BodyType", "HashAlgorithm", "SourceQmGuid", "DestinationMqf", "AdminMqf", "ResponseMqf", "TTrq"),
    }
)

LONGEST: Final = 4 * 1024
"""Characters of an envelope; hardly one of this form comes near it."""


def canonical_envelope(text: str) -> Envelope | None:
    """What an envelope of this form says; None for any other, and for one that is to be refused."""
    found = _FORM.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        return None
    action, to, identifier, expires_at, sent_at, durable, stream, current, previous, msmq = found.groups()
    try:
        envelope = _repeated(action, to, expires_at, sent_at, durable is not None, msmq)
        if envelope is None:
            return None
        place = None
        if stream is not None:
            numbers: Fields = {"streamId": stream, "current": current}
            if previous is not None:
                numbers["previous"] = previous
            place = read_stream(numbers)
        return numbered(envelope, identifier.strip(SPACE), place)
    except SrmpFault:
        return None  # the parser says what is wrong


@lru_cache(maxsize=1024)
def _repeated(
    action: str, to: str, expires_at: str, sent_at: str | None, durable: bool, msmq: str
) -> Envelope | None:
    """All that senders repeat from message to message; None where it is not of this form."""
    said = _msmq(msmq)
    if said is None or not (_is_plain(action) and _is_plain(to)):
        return None
    times: Fields = {"expiresAt": expires_at}
    if sent_at is not None:
        times["sentAt"] = sent_at
    path = read_path({"action": action, "to": to, "id": ""})
    return envelope_from(path, read_properties(times), Services(durable), said)


@lru_cache(maxsize=1024)
def _msmq(inside: str) -> Msmq | None:
    """What this block says, which stays the same when the label is another."""
    fields = _texts(inside) if _is_plain(inside) else None
    return None if fields is None else read_msmq(fields)


def _is_plain(text: str) -> bool:
    """Whether a text is what it looks like: all that is printable may stand in XML, but for these two.

    Numbers, dates and GUIDs need no such look, for they are nothing else.
    """
    return text.isprintable() and "&" not in text and "]]>" not in text


def _texts(inside: str) -> Fields | None:
    """What a block holds, if that is nothing but known elements with text, each once and closed as opened."""
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
