"""Reads and writes `Signature`, [MC-MQSRM] 2.2.7: the XML signatures of SRMP.

    Signature              in se:Header
      SignedInfo           is signed: its bytes as they stand in the envelope, from `<` to `>`
        SignatureMethod    Algorithm
        Reference          URI, cid:body@GUID or cid:extension@GUID; one or two of them
          DigestMethod     Algorithm
          DigestValue      of the MIME part, base64
      SignatureValue       base64
      KeyInfo              X509Data/X509Certificate: the sender's certificate, base64; may be missing

The namespace is that of an early draft and nothing is brought into a canonical form, so libraries for
XML signatures are of no use here.  Reading returns what is there; the code that verifies checks for
missing and repeated parts.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Final
from xml.parsers import expat

import msgspec

from reliquary.base.faults import PeerFault

NAMESPACE: Final = "http://www.w3.org/2000/02/xmldsig#"
SOAP: Final = "http://schemas.xmlsoap.org/soap/envelope/"

_HEADER: Final = [f"{SOAP} Envelope", f"{SOAP} Header"]
"""The parents of a signature; an element elsewhere is no signature."""


class Reference(msgspec.Struct, frozen=True):
    """A part of the message and its digest, 2.2.7.1.2."""

    uri: str
    methods: tuple[str, ...]
    """The algorithms of all DigestMethod elements; a valid signature has exactly one."""
    values: tuple[str, ...]
    """The texts of all DigestValue elements; a valid signature has exactly one."""


class Signature(msgspec.Struct, frozen=True):
    """The content of a `Signature`; parts that must occur once are tuples, so that repeats can be refused."""

    signed_infos: tuple[bytes, ...]
    """The bytes of each element SignedInfo."""
    methods: tuple[str, ...]
    """The algorithm of each element SignatureMethod."""
    references: tuple[Reference, ...]
    values: tuple[str, ...]
    """The text of each element SignatureValue."""
    certificates: tuple[str, ...] = ()
    """The text of each element X509Certificate."""


class _Element:
    """An element of a signature and its offsets."""

    def __init__(self, name: str, attributes: dict[str, str], start: int) -> None:
        self.name = name
        self.attributes = attributes
        self.start = start
        self.end = start
        self.children: list[_Element] = []
        self.text = ""

    def find(self, *names: str) -> Iterator[_Element]:
        """Yield the elements at the end of this path."""
        for child in self.children:
            if child.name == f"{NAMESPACE} {names[0]}":
                if len(names) > 1:
                    yield from child.find(*names[1:])
                else:
                    yield child


class _Reader:
    """Reads an envelope once; collects the signatures with the offsets of their elements."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.path: list[str] = []
        self.open: list[_Element] = []
        self.found: list[_Element] = []
        self.parser = expat.ParserCreate("utf-8", " ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self.open or (self.path == _HEADER and name == f"{NAMESPACE} Signature"):
            element = _Element(name, attributes, self.parser.CurrentByteIndex)
            (self.open[-1].children if self.open else self.found).append(element)
            self.open.append(element)
        self.path.append(name)

    def end(self, _: str) -> None:
        self.path.pop()
        if self.open:
            closing = self.parser.CurrentByteIndex
            self.open.pop().end = self.data.index(b">", closing) + 1

    def characters(self, text: str) -> None:
        if self.open:
            self.open[-1].text += text

    def doctype(self, *_: object) -> None:
        raise _fault("an envelope has no document type")


def read_signatures(envelope: str) -> tuple[Signature, ...]:
    """Return the signatures in the header of an envelope; a valid envelope has one."""
    data = envelope.encode()
    reader = _Reader(data)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as why:
        raise _fault(f"the envelope is no XML: {why}") from why
    return tuple(_signature(element, data) for element in reader.found)


def _signature(element: _Element, data: bytes) -> Signature:
    return Signature(
        tuple(data[each.start : each.end] for each in element.find("SignedInfo")),
        _algorithms(element.find("SignedInfo", "SignatureMethod")),
        tuple(_reference(each) for each in element.find("SignedInfo", "Reference")),
        _texts(element.find("SignatureValue")),
        _texts(element.find("KeyInfo", "X509Data", "X509Certificate")),
    )


def _reference(element: _Element) -> Reference:
    uri = element.attributes.get("URI", "")
    return Reference(uri, _algorithms(element.find("DigestMethod")), _texts(element.find("DigestValue")))


def _algorithms(elements: Iterable[_Element]) -> tuple[str, ...]:
    return tuple(each.attributes.get("Algorithm", "") for each in elements)


def _texts(elements: Iterable[_Element]) -> tuple[str, ...]:
    """Return the texts of elements without white space, which base64 ignores in long values."""
    return tuple("".join(each.text.split()) for each in elements)


def write_signed_info(method: str, references: Iterable[tuple[str, str, bytes]]) -> str:
    """Return SignedInfo; a reference is a URI, the algorithm of its digest, and the digest (SR-110 to
    SR-115)."""
    listed = "".join(
        f'<Reference URI="{uri}"><DigestMethod Algorithm="{algorithm}"></DigestMethod>'
        f"<DigestValue>{b64encode(digest).decode()}</DigestValue></Reference>"
        for uri, algorithm, digest in references
    )
    return f'<SignedInfo><SignatureMethod Algorithm="{method}"></SignatureMethod>{listed}</SignedInfo>'


def write_signature(signed_info: str, value: bytes, certificate: bytes = b"") -> str:
    """Return Signature, with the certificate in DER if there is one (SR-109, SR-116)."""
    key_info = ""
    if certificate:
        encoded = b64encode(certificate).decode()
        key_info = f"<KeyInfo><X509Data><X509Certificate>{encoded}</X509Certificate></X509Data></KeyInfo>"
    signature = f"<SignatureValue>{b64encode(value).decode()}</SignatureValue>"
    return f'<Signature xmlns="{NAMESPACE}">{signed_info}{signature}{key_info}</Signature>'


def _fault(why: str) -> PeerFault:
    return PeerFault(400, why, spec="[MC-MQSRM] 2.2.7")
