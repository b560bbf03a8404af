"""SOAP 1.1 envelopes, hardened: what is not a plain envelope is refused before anything is made of it.

    <Envelope>            the root
      <Header>...</Header>    its first child
      <Body>...</Body>        directly behind; what it holds is for somebody else
    </Envelope>

No document type, so no entity of any kind is ever declared, fetched or expanded; nothing is nested
deeper than libxml2 allows without `huge_tree` (256 levels); sizes are limited.
"""

from __future__ import annotations

import re
from typing import Any, Final
from xml.parsers import expat

from lxml import etree

from reliquary.base.faults import PeerFault

NAMESPACE: Final = "http://schemas.xmlsoap.org/soap/envelope/"
SPEC: Final = "SOAP 1.1 section 4"
MUST_UNDERSTAND: Final = f"{{{NAMESPACE}}}mustUnderstand"
ENVELOPE_LIMIT: Final = 1024 * 1024
"""Bytes of an envelope."""
ATTRIBUTE_LIMIT: Final = 16 * 1024
"""Bytes of the value of an attribute."""

_ENVELOPE: Final = f"{{{NAMESPACE}}}Envelope"
_HEADER: Final = f"{{{NAMESPACE}}}Header"
_BODY: Final = f"{{{NAMESPACE}}}Body"

_PROLOG: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\r\n]|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_ENCODING: Final = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"']*)[\"']")
_UTF8: Final = (b"utf-8", b"utf8", b"us-ascii")

Element = Any
"""An element of lxml; its stubs do not know that tags of such a tree are always text."""


class SoapFault(PeerFault):
    """An envelope that is none; `element` is what is wrong."""

    def __init__(self, element: str, why: str) -> None:
        super().__init__(400, why, spec=SPEC)
        self.element = element


_PARSER: Final = etree.XMLParser(
    encoding="utf-8",
    resolve_entities=False,
    load_dtd=False,
    no_network=True,
    huge_tree=False,
    remove_comments=True,
    remove_pis=True,
    collect_ids=False,
)


def header_of(data: bytes) -> Element:
    """The Header of an envelope, with its blocks as children."""
    if len(data) > ENVELOPE_LIMIT:
        raise SoapFault("Envelope", f"an envelope has at most {ENVELOPE_LIMIT} bytes, this one {len(data)}")
    if not data.startswith(b"<") or data.startswith((b"<?", b"<!")):
        _check_prolog(data)
    try:
        root: Element = etree.fromstring(data, _PARSER)
    except (etree.XMLSyntaxError, ValueError) as why:
        raise SoapFault("Envelope", f"the envelope is not well-formed XML: {str(why)[:200]}") from None
    if len(data) > ATTRIBUTE_LIMIT:
        _check_attributes(root)
    if root.tag != _ENVELOPE:
        raise SoapFault("Envelope", f"the root is <{root.tag[:80]}>, not an Envelope of SOAP 1.1")
    children = iter(root)
    header, body = next(children, None), next(children, None)
    if header is None or header.tag != _HEADER:
        raise SoapFault("Header", "the Envelope does not begin with its Header")
    if body is None or body.tag != _BODY:
        raise SoapFault("Body", "the Header is not followed by the Body")
    return header


def _check_prolog(data: bytes) -> None:
    prolog = _PROLOG.match(data)
    assert prolog is not None  # it may be empty
    if data.startswith(b"<!", prolog.end()):
        raise SoapFault("Envelope", "an envelope has no document type definition")
    declared = _ENCODING.match(data)
    if declared is not None and declared[1].lower() not in _UTF8:
        raise SoapFault("Envelope", "an envelope is written in UTF-8")


def _check_attributes(root: Element) -> None:
    for element in root.iter():
        for value in element.attrib.values():
            if len(value) > ATTRIBUTE_LIMIT:
                raise SoapFault("Envelope", f"an attribute has at most {ATTRIBUTE_LIMIT} characters")


def block_text(data: bytes, namespace: str, name: str) -> str:
    """The first element of this name that is a header block, as it stands in a well-formed envelope."""
    wanted, depth, begin, end = f"{namespace} {name}", 0, -1, -1

    def opened(found: str, _: object) -> None:
        nonlocal depth, begin
        depth += 1
        if depth == 3 and found == wanted and begin < 0:
            begin = parser.CurrentByteIndex

    def closed(found: str) -> None:
        nonlocal depth, end
        if depth == 3 and found == wanted and end < 0:
            end = data.index(b">", parser.CurrentByteIndex) + 1
        depth -= 1

    parser = expat.ParserCreate("utf-8", namespace_separator=" ")
    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    try:
        parser.Parse(data, True)
    except expat.ExpatError as why:  # it knows fewer characters for names than libxml2
        raise SoapFault("Envelope", f"the envelope is not well-formed XML: {why}") from None
    return data[begin:end].decode("utf-8")
