"""Converts between the body of a message and the content of a SOAP Body.

    XML                 as it is, without byte order mark and XML declaration
    anything else       <rq:Binary xmlns:rq="urn:reliquary:wsrm" bodyType="8">base64</rq:Binary>

XML with an element of that name at its top is sent as base64 too, so that it arrives unchanged.
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import Error as NotBase64
from binascii import a2b_base64
from typing import Final

from reliquary.protocols.wsrm.codec.lexical import SPACE, number
from reliquary.protocols.wsrm.codec.names import OURS
from reliquary.wire.xml import Element, XmlFault, declared_encoding, root_of

BINARY: Final = f"{{{OURS}}}Binary"
_MARK: Final = b"\xef\xbb\xbf"
_DECLARATION: Final = re.compile(rb"<\?xml\s[^>]*\?>")
_UTF8: Final = ("", "utf-8", "utf8", "us-ascii")
_OURS: Final = OURS.encode()
_AS_WE_WRITE: Final = re.compile(
    rb'<rq:Binary xmlns:rq="' + _OURS + rb'"(?: bodyType="([0-9]{1,9})")?>([A-Za-z0-9+/=]*)</rq:Binary>'
)
"""The usual form of this content, which needs no parser."""
_LARGEST_TYPE: Final = 2**32 - 1


def content_of_body(body: bytes, body_type: int) -> tuple[bytes, bool]:
    """Return the content for a body, and whether it is XML; then it has no type of the body."""
    content = _as_xml(body)
    if content is not None:
        return content, True
    kind = f' bodyType="{body_type}"' if body_type else ""
    head = f'<rq:Binary xmlns:rq="{OURS}"{kind}>'.encode()
    return b"".join((head, b64encode(body), b"</rq:Binary>")), False


def body_of_content(content: bytes) -> tuple[bytes, int | None]:
    """Return the body in a content, and its type if the content has it; ValueError for bad base64."""
    if _OURS not in content:
        return content, None
    if (written := _AS_WE_WRITE.fullmatch(content)) is not None:
        return _decoded(written[2]), int(written[1] or 0)
    elements = _elements(content)
    if elements is None or len(elements) != 1 or elements[0].tag != BINARY:
        return content, None
    binary = elements[0]
    kind = number(binary.get("bodyType", "0"))
    if len(binary) or kind > _LARGEST_TYPE:
        raise ValueError("Binary must contain base64 and have a bodyType of 32 bits")
    return _decoded((binary.text or "").translate(_WITHOUT_SPACE)), kind


def _decoded(text: str | bytes) -> bytes:
    try:
        return a2b_base64(text, strict_mode=True)
    except (NotBase64, ValueError):
        raise ValueError("the content of Binary is not base64") from None


_WITHOUT_SPACE: Final = dict.fromkeys(map(ord, SPACE))


def _as_xml(body: bytes) -> bytes | None:
    """Return a body as content; None for one that is not XML in UTF-8 without a document type."""
    if not body:
        return body
    content = body.removeprefix(_MARK)
    if content.startswith(b"<?xml") and (declared := _DECLARATION.match(content)):
        if declared_encoding(content) not in _UTF8:
            return None
        content = content[declared.end() :]
    shown = content.strip()
    if shown[:1] != b"<" or shown[-1:] != b">":
        return None
    elements = _elements(content)
    if elements is None or not elements or any(each.tag == BINARY for each in elements):
        return None
    return content


def _elements(content: bytes) -> list[Element] | None:
    """Return the top elements of a content; None if it is not well-formed or has text between them."""
    try:
        outer = root_of(b"<e><e>" + content + b"</e></e>")  # as deep as it will be in a Body
    except XmlFault:
        return None
    if len(outer) != 1:  # the content closes what it did not open
        return None
    inner = outer[0]
    texts = [inner.text, *(each.tail for each in inner)]
    return None if any(text and text.strip(SPACE) for text in texts) else [*inner]
