"""Envelopes as managers write them, taken apart without an XML parser, which takes several times as long.

    <se:Envelope ...><se:Header><path ...>           these tags to the letter, no white space between
      <action>text</action><to>text</to>...          in each block known elements that hold text only
    </path><properties ...>...</properties>
    [<services ...>...</services>] [<stream ...>...</stream>]
    <Msmq ...>...</Msmq></se:Header>...

That is every message that asks for no receipt and no answer.  Whatever is not exactly so, to the last
character, is left to the parser: what is read here is what it would read, or nothing is.
"""

from __future__ import annotations

from typing import Final

from reliquary.protocols.srmp.codec.elements import Fields, Header

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
_MSMQ_END: Final = f"</Msmq>{END}"

_PATH_TEXTS: Final = frozenset({"action", "to", "id"})
_PROPERTIES_TEXTS: Final = frozenset({"expiresAt", "sentAt"})
_SERVICES_TEXTS: Final = frozenset({"durable"})
_STREAM_TEXTS: Final = frozenset({"streamId", "current", "previous"})
_MSMQ_TEXTS: Final = frozenset(
    {
        *("Class", "Priority", "Journal", "DeadLetter", "Correlation", "Trace", "ConnectorType", "App"),
        *("BodyType", "HashAlgorithm", "SourceQmGuid", "DestinationMqf", "AdminMqf", "ResponseMqf", "TTrq"),
    }
)


LONGEST: Final = 64 * 1024
"""Characters of an envelope; none of this form comes near it."""


def canonical_blocks(text: str) -> Header | None:
    """The blocks of an envelope of this form; None for any other."""
    if not (text.startswith(BEGIN) and text.endswith(_MSMQ_END) and len(text) <= LONGEST):
        return None
    rest = text[len(BEGIN) : -len(_MSMQ_END)]
    if not rest.isprintable() or "&" in rest or "]]>" in rest:
        return None  # all that is printable may stand in XML, but for these two
    blocks: dict[str, Fields] = {}
    inside, found, rest = rest.partition(PROPERTIES)
    if not found or not _take(blocks, "path", inside, _PATH_TEXTS):
        return None
    inside, found, rest = rest.partition("</properties>")
    if not found or not _take(blocks, "properties", inside, _PROPERTIES_TEXTS):
        return None
    if rest.startswith(SERVICES):
        inside, _, rest = rest[len(SERVICES) :].partition("</services>")
        if not _take(blocks, "services", inside, _SERVICES_TEXTS):
            return None
    if rest.startswith(STREAM):
        inside, _, rest = rest[len(STREAM) :].partition("</stream>")
        if not _take(blocks, "stream", inside, _STREAM_TEXTS):
            return None
    if not rest.startswith(MSMQ) or not _take(blocks, "Msmq", rest[len(MSMQ) :], _MSMQ_TEXTS):
        return None
    return Header(blocks)


def _take(blocks: dict[str, Fields], block: str, inside: str, known: frozenset[str]) -> bool:
    """Whether a block holds nothing but known elements with text, each once and closed as it is opened."""
    pieces = iter(inside.split("<"))
    if next(pieces):
        return False
    fields: Fields = {}
    for piece in pieces:
        name, found, content = piece.partition(">")
        if name.endswith("/"):
            name = name[:-1]
            if content:
                return False
        elif next(pieces, "") != f"/{name}>":
            return False
        if not found or name not in known or name in fields:
            return False
        fields[name] = content
    blocks[block] = fields
    return True
