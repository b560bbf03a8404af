"""SOAP 1.1 envelopes, hardened: a document that is no plain envelope is refused before it is used.

    <Envelope>            the root
      <Header>...</Header>    its first child
      <Body>...</Body>        directly behind; the caller reads its content
    </Envelope>

It is a hardened document (`wire.xml`), and sizes are limited.
"""

from __future__ import annotations

from typing import Final
from xml.parsers import expat

from reliquary.base.faults import PeerFault
from reliquary.wire.xml import Element, XmlFault, root_of

NAMESPACE: Final = "http://schemas.xmlsoap.org/soap/envelope/"
SPEC: Final = "SOAP 1.1 section 4"
MUST_UNDERSTAND: Final = f"{{{NAMESPACE}}}mustUnderstand"
ENVELOPE_LIMIT: Final = 1024 * 1024
"""The largest number of bytes of an envelope."""
ATTRIBUTE_LIMIT: Final = 16 * 1024
"""The largest number of characters of an attribute."""

_ENVELOPE: Final = f"{{{NAMESPACE}}}Envelope"
_HEADER: Final = f"{{{NAMESPACE}}}Header"
_BODY: Final = f"{{{NAMESPACE}}}Body"


class SoapFault(PeerFault):
    """Says that a document is no SOAP envelope; `element` names the wrong part."""

    def __init__(self, element: str, why: str) -> None:
        super().__init__(400, why, spec=SPEC)
        self.element = element


def header_of(data: bytes) -> Element:
    """Return the Header of an envelope, with its blocks as children."""
    if len(data) > ENVELOPE_LIMIT:
        raise SoapFault("Envelope", f"an envelope has at most {ENVELOPE_LIMIT} bytes, this one {len(data)}")
    try:
        root = root_of(data)
    except XmlFault as fault:
        raise SoapFault("Envelope", f"the envelope {fault.why}") from None
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


def _check_attributes(root: Element) -> None:
    for element in root.iter():
        for value in element.attrib.values():
            if len(value) > ATTRIBUTE_LIMIT:
                raise SoapFault(
                    "Envelope",
                    f"an attribute has at most {ATTRIBUTE_LIMIT} characters, this one {len(value)}",
                )


def block_text(data: bytes, namespace: str, name: str) -> str:
    """Return the text of the first header block of this name, as it stands in the envelope."""
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
