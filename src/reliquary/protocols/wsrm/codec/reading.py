"""Provides what every reader of an envelope uses: the document, its dialect, endpoint references."""

from __future__ import annotations

from typing import Final

from reliquary.protocols.wsrm.codec import addressing
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.fragments import content_of
from reliquary.protocols.wsrm.codec.lexical import number, trimmed
from reliquary.protocols.wsrm.codec.names import RM_VERSIONS
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Fault, Reference, Soap, Version
from reliquary.wire.xml import Element

ADDRESS_LIMIT: Final = 4096
"""The most characters of an address, an action or a message's identifier."""
PARAMETERS_LIMIT: Final = 16 * 1024
"""The most bytes of the reference parameters of an endpoint reference."""


class Refusal(Exception):
    """The envelope is refused; `decode` makes a `WsrmFault` of this, in the dialect that is known then."""

    def __init__(self, code: FaultCode, reason: str, identifier: str = "") -> None:
        super().__init__(reason)
        self.fault = Fault(code=code, reason=reason, identifier=identifier)


class Document:
    """An envelope that is being read.

    Its bytes, its tree, and the versions that its elements have shown so far.
    """

    __slots__ = ("addressing", "data", "root", "soap", "version")

    def __init__(self, data: bytes, root: Element, soap: Soap) -> None:
        self.data = data
        self.root = root
        self.soap = soap
        self.version: Version | None = None
        self.addressing: Addressing | None = None

    def dialect(self) -> Dialect:
        """Return the dialect; a message without any version has the newest one."""
        return Dialect(
            self.version or Version.RM11,
            self.soap,
            self.addressing or Addressing.WSA10,
        )


def split_tag(tag: str) -> tuple[str, str]:
    """Return namespace and local name of `{namespace}name`."""
    namespace, found, name = tag.rpartition("}")
    return (namespace[1:], name) if found else ("", tag)


def read_number(element: Element) -> int:
    """Return the number that is the text of an element; a Sender fault for other text."""
    try:
        return number(element.text or "")
    except ValueError as why:
        raise Refusal(FaultCode.SENDER, f"{split_tag(element.tag)[1]}: {why}") from None


def read_address(element: Element) -> str:
    """Return the URI that is the text of an element; peers write opaque text too."""
    text = trimmed(element.text)
    if len(text) > ADDRESS_LIMIT:
        name = split_tag(element.tag)[1]
        raise Refusal(FaultCode.INVALID_HEADER, f"{name} has more than {ADDRESS_LIMIT} characters")
    return text


def read_reference(document: Document, element: Element) -> Reference:
    """Return an endpoint reference of either version of WS-Addressing; its address may be empty."""
    address, parameters, properties = "", b"", b""
    for child in element:
        namespace, name = split_tag(child.tag)
        version = addressing.VERSIONS.get(namespace)
        if version is None:
            continue
        if document.addressing is None:
            document.addressing = version
        if name == "Address":
            address = read_address(child)
        elif name == "ReferenceParameters":
            parameters = _read_elements(document, child)
        elif name == "ReferenceProperties":
            properties = _read_elements(document, child)
    return Reference(address, parameters, properties)


def _read_elements(document: Document, element: Element) -> bytes:
    if not len(element):
        return b""
    content = content_of(document.data, document.root, element)
    if len(content) > PARAMETERS_LIMIT:
        raise Refusal(
            FaultCode.INVALID_HEADER,
            f"an endpoint reference has at most {PARAMETERS_LIMIT} bytes, not {len(content)}",
        )
    return content.strip()


def read_identifier(document: Document, element: Element, *, required: bool = True) -> str:
    """Return the Identifier of a sequence that is a child of an element of WS-RM."""
    for child in element:
        namespace, name = split_tag(child.tag)
        if name == "Identifier" and namespace in RM_VERSIONS:
            identifier = trimmed(child.text)
            if identifier:
                return identifier
    if required:
        raise Refusal(FaultCode.SENDER, f"{split_tag(element.tag)[1]} has no Identifier")
    return ""
